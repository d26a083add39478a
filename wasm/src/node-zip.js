import { inflateRawSync } from 'node:zlib'
import { readArchive } from './archive.js'

/** As readArchive, with Node's inflate. */
export const readZip = bytes => readArchive(bytes, (data, size) => {
  const out = inflateRawSync(data, { maxOutputLength: Math.max(1, size) })
  return new Uint8Array(out.buffer, out.byteOffset, out.byteLength)
})
