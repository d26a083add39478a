// Public test corpora: ../shared/corpora beside the checkout, or the cache folder that OPSPEC_CORPORA names (default
// ~/.cache/opspec/corpora), each as a folder NAME or an archive NAME.tar.xz. Archives are unpacked into the cache once.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = process.env.OPSPEC_CORPORA ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'opspec', 'corpora')
const shared = fileURLToPath(new URL('../../../shared/corpora', import.meta.url))

function unpack (archive, name) {
  const { size, mtimeMs } = statSync(archive)
  const folder = join(cache, `${name}-${size}-${Math.floor(mtimeMs)}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, 'new-'))
  execFileSync('tar', ['-xJf', archive, '-C', fresh], { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (!existsSync(folder)) throw error // else another process was faster
  }
  return folder
}

/** The folder of a corpus, or null with the reason to skip: `const { folder, skip } = corpus('spec-documents')`. */
export function corpus (name) {
  for (const place of [shared, cache]) {
    if (existsSync(join(place, name))) return { folder: join(place, name), skip: false }
    const archive = join(place, `${name}.tar.xz`)
    if (existsSync(archive)) return { folder: unpack(archive, name), skip: false }
  }
  return { folder: null, skip: `the corpus ${name} is neither in ../shared/corpora nor in ${cache}` }
}

/** All files below a folder, as paths relative to it with '/'. */
export function filesBelow (folder, inner = '') {
  return readdirSync(join(folder, inner), { withFileTypes: true }).flatMap(entry => {
    const path = inner === '' ? entry.name : `${inner}/${entry.name}`
    return entry.isDirectory() ? filesBelow(folder, path) : [path]
  }).sort()
}
