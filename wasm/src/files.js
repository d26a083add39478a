/* global FileReaderSync */
import { bytesView } from './bytes.js'
import { invalid } from './errors.js'

const isBlob = value => typeof Blob === 'function' && value instanceof Blob

/** Bytes of a Blob at once, which only workers of browsers can have; else null. */
export const blobNow = blob => typeof FileReaderSync === 'function' ? new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob)) : null

// The name without steps that lead nowhere: './w.bin' and 'a/../w.bin' are 'w.bin'.
function plainName(name) {
  const parts = []
  for (const part of name.split('/')) {
    if (part === '..' && parts.length > 0) parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

const among = find => name => find(name) ?? (/(^|\/)\.\.?\//.test(name) ? find(plainName(name)) : undefined)

/**
 * `files` of the caller's in one form: { names, complete, get(name) }.
 * @returns {{ names: string[], complete: boolean, get: (name: string) => unknown } | null} null: none were given
 */
export function normalFiles(files, argument = 'files') {
  if (files === undefined || files === null) return null
  if (typeof files === 'function') return { names: [], complete: false, get: files }
  if (files instanceof Map) return { names: checkNames([...files.keys()], argument), complete: true, get: among(name => files.get(name)) }
  if (typeof files === 'object' && bytesView(files, argument) === null && !Array.isArray(files) && !isBlob(files)) {
    return { names: Object.keys(files), complete: true, get: among(name => Object.hasOwn(files, name) ? files[name] : undefined) }
  }
  throw invalid(`${argument}: must be a Map, an object or a function from names to contents`)
}

function checkNames(names, argument) {
  if (names.some(name => typeof name !== 'string')) throw invalid(`${argument}: names must be strings`)
  return names
}

/** The same with every Blob read. Functions are left alone. */
export async function readBlobs(files, argument = 'files') {
  const normal = normalFiles(files, argument)
  if (normal === null || !normal.complete) return normal
  const contents = new Map()
  for (const name of normal.names) {
    const content = normal.get(name)
    contents.set(name, isBlob(content) ? new Uint8Array(await content.arrayBuffer()) : content)
  }
  return { names: normal.names, complete: true, get: among(name => contents.get(name)) }
}

/** Bytes of a bundle's .zip, or its files, both with Blobs read. */
export async function readBundleArgument(bundle) {
  if (isBlob(bundle)) bundle = new Uint8Array(await bundle.arrayBuffer())
  const zip = bytesView(bundle, 'bundle')
  if (zip !== null) return { zip, files: null }
  if (bundle === null || (typeof bundle !== 'object' && typeof bundle !== 'function')) throw invalid('bundle: must be files or the bytes of a .zip')
  const files = await readBlobs(bundle, 'bundle')
  if (!files.complete) throw invalid('bundle: must be a Map or an object: a function cannot say which files there are')
  return { zip: null, files }
}

export { isBlob }
