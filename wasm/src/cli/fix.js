import { join } from 'node:path'
import { applyFixes } from '../fixes.js'
import { writeFile } from './output.js'

// opspec check --fix: the safe fixes of a document or bundle, written back.

// Fixes by the file that they change, '' for the document itself; one that changes several files is not taken.
function byFile(findings) {
  const files = new Map()
  for (const finding of findings) {
    if (!finding.fix?.safe) continue
    const names = new Set(finding.fix.edits.map(edit => edit.file ?? finding.file ?? ''))
    if (names.size !== 1) continue
    const [name] = names
    if (!files.has(name)) files.set(name, [])
    files.get(name).push({ fix: { ...finding.fix, edits: finding.fix.edits.map(edit => ({ ...edit, file: undefined })) } })
  }
  return files
}

/**
 * Applies the fixes of one round. `loaded`: { bytes } of a document or { files } of a folder.
 * @returns how many were applied
 */
export function fixOnce(path, loaded, findings) {
  let count = 0
  for (const [name, fixes] of byFile(findings)) {
    const before = loaded.files !== undefined ? loaded.files.get(name) : name === '' ? loaded.bytes : undefined
    if (before === undefined) continue
    const { content, applied } = applyFixes(before, fixes)
    if (applied > 0) writeFile(name === '' ? path : join(path, name), content)
    count += applied
  }
  return count
}
