// Bundles as .zip files.
import { strToU8, unzipSync, zipSync } from 'fflate'
import { contentOf, tidyNames } from './bundle.js'

const limit = 256 << 20

// Map from name to bytes or text -> bytes of a zip, without compression, so that its bytes depend on the content only.
export function writeZip(files) {
  const entries = [...files].map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content])
  return zipSync(Object.fromEntries(entries), { level: 0, mtime: new Date(1980, 0, 1) })
}

// A path that leads from the archive's top to a file in it, whoever reads it.
const isPlain = name => !/[\\\0]/.test(name) && name.split('/').every(part => part !== '' && part !== '.' && part !== '..')

// Throws an Error with a message for people when the bytes are no zip, hold what a bundle cannot, or unpack to more than a page
// should hold.
export function readZip(bytes) {
  let total = 0
  const names = new Set()
  const filter = ({ originalSize, name }) => {
    if (name.endsWith('/') || name.startsWith('__MACOSX/')) return false
    if (!isPlain(name)) throw new Error(`${JSON.stringify(name)} is no path inside the archive`)
    if (names.has(name)) throw new Error(`“${name}” is in it twice`)
    names.add(name)
    total += originalSize
    if (total > limit) throw new Error(`it unpacks to more than ${limit >> 20} MB`)
    return true
  }
  const contents = unzipSync(bytes, { filter })
  // A file of the name __proto__ is no entry of that object.
  const entries = [...names].filter(name => Object.hasOwn(contents, name)).map(name => [name, contents[name]])
  return new Map(tidyNames(entries).map(([name, content]) => [name, contentOf(name, content)]))
}

export const looksLikeZip = bytes => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4
