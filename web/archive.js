// Bundles as .zip files.
import { inflateSync, strToU8, zipSync } from 'fflate'
import { readArchive } from '../wasm/src/archive.js'
import { contentOf, tidyNames } from './bundle.js'

const limit = 256 << 20

// Map from name to bytes or text -> bytes of a zip, without compression, so that its bytes depend on the content only.
export function writeZip(files) {
  const entries = [...files].map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content])
  return zipSync(Object.fromEntries(entries), { level: 0, mtime: new Date(1980, 0, 1) })
}

// Throws an Error with a message for people when the bytes are no zip, hold what a bundle cannot, or unpack to more than a page
// should hold.
export function readZip(bytes) {
  const files = readArchive(bytes, (data, size) => inflateSync(data, { out: new Uint8Array(size) }), limit)
  return new Map(tidyNames([...files]).map(([name, content]) => [name, contentOf(name, content)]))
}

// Its first file, or its end where there is none.
export const looksLikeZip = bytes => bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 && bytes[3] === 4 || bytes[2] === 5 && bytes[3] === 6)
