import { checkHeld } from './bytes.js'
import { invalid } from './errors.js'

function spansOverlap(a, b) {
  if (a.byteStart === a.byteEnd && b.byteStart === b.byteEnd) return a.byteStart === b.byteStart
  return a.byteStart < b.byteEnd && b.byteStart < a.byteEnd
}

function replacement(edit, encoder) {
  return edit.bytes ?? encoder.encode(edit.text ?? '')
}

// A fix whose form is not that of a Fix is the caller's mistake; one that does not fit is not.
function checkEdit(edit, at) {
  if (edit === null || typeof edit !== 'object') throw invalid(`${at}: must be an object`)
  for (const name of ['byteStart', 'byteEnd']) if (!Number.isInteger(edit[name])) throw invalid(`${at}.${name}: must be an integer`)
  const { text, bytes } = edit
  if (text !== undefined && typeof text !== 'string') throw invalid(`${at}.text: must be a string`)
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) throw invalid(`${at}.bytes: must be a Uint8Array`)
  if (bytes !== undefined) checkHeld(bytes, `${at}.bytes`)
}

// The fixes of findings.
function fixesOf(findings) {
  if (!Array.isArray(findings)) throw invalid('findings: must be a list')
  const fixes = []
  for (const [i, finding] of findings.entries()) {
    if (finding === null || typeof finding !== 'object') throw invalid(`findings[${i}]: must be a finding`)
    const { fix } = finding
    if (fix == null) continue
    if (!Array.isArray(fix.edits)) throw invalid(`findings[${i}].fix: must have a list of edits`)
    fix.edits.forEach((edit, k) => checkEdit(edit, `findings[${i}].fix.edits[${k}]`))
    fixes.push(fix)
  }
  return fixes
}

// Edits inside the content, or null when one does not fit into it or is for another file.
function editsOf(fix, size, taken) {
  for (const edit of fix.edits) {
    const inside = edit.byteStart >= 0 && edit.byteStart <= edit.byteEnd && edit.byteEnd <= size
    if ((edit.file ?? '') !== '' || !inside || taken.some(other => spansOverlap(edit, other))) return null
  }
  return fix.edits
}

function splice(bytes, edits, encoder) {
  const parts = []
  let at = 0
  for (const edit of [...edits].sort((a, b) => a.byteStart - b.byteStart || a.byteEnd - b.byteEnd)) {
    parts.push(bytes.subarray(at, edit.byteStart), replacement(edit, encoder))
    at = edit.byteEnd
  }
  parts.push(bytes.subarray(at))
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let to = 0
  for (const part of parts) {
    out.set(part, to)
    to += part.length
  }
  return out
}

/**
 * Applies the fixes of findings to the document that they are about. Of fixes that overlap the first wins.
 * @param {string | Uint8Array} content
 * @returns {{ content: string | Uint8Array, applied: number, left: number }} left: fixes that were not applied
 */
export function applyFixes(content, findings) {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) throw invalid('content: must be a string or a Uint8Array')
  if (typeof content !== 'string') checkHeld(content, 'content')
  const encoder = new TextEncoder()
  const bytes = typeof content === 'string' ? encoder.encode(content) : content
  const taken = []
  let applied = 0
  let left = 0
  for (const fix of fixesOf(findings)) {
    const edits = editsOf(fix, bytes.length, taken)
    if (edits === null) {
      left++
      continue
    }
    taken.push(...edits)
    applied++
  }
  const out = splice(bytes, taken, encoder)
  return { content: typeof content === 'string' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(out) : out, applied, left }
}
