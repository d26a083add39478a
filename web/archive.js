// Bundles as .zip files.
import { strToU8, unzipSync, zipSync } from 'fflate'
import { contentOf, tidyNames } from './bundle.js'

const limit = 256 << 20

// Map from name to bytes or text -> bytes of a zip, without compression, so that its bytes depend on the content only.
export function writeZip(files) {
  const entries = [...files].map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content])
  return zipSync(Object.fromEntries(entries), { level: 0, mtime: new Date(1980, 0, 1) })
}

// Throws an Error with a message for people when the bytes are no zip, or unpack to more than a page should hold.
export function readZip(bytes) {
  let total = 0
  const filter = ({ originalSize, name }) => {
    total += originalSize
    if (total > limit) throw new Error(`it unpacks to more than ${limit >> 20} MB`)
    return !name.endsWith('/')
  }
  const entries = Object.entries(unzipSync(bytes, { filter }))
  return new Map(tidyNames(entries).map(([name, content]) => [name, contentOf(name, content)]))
}

export const looksLikeZip = bytes => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4
