// Writes .zip archives for tests: stored or deflated entries, and damage on request.
import { crc32 as nodeCrc, deflateRawSync } from 'node:zlib'

const table = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1
  return n >>> 0
})
const crc32 = nodeCrc ?? (bytes => ~bytes.reduce((crc, byte) => (crc >>> 8) ^ table[(crc ^ byte) & 255], -1) >>> 0)

// What was packed already: many entries may have one content.
const packed = new WeakMap()

function pack (bytes, deflate) {
  if (!packed.has(bytes)) packed.set(bytes, { sum: crc32(bytes), deflated: deflate ? new Uint8Array(deflateRawSync(bytes)) : null })
  const { sum, deflated } = packed.get(bytes)
  return { sum, data: deflate ? deflated ?? new Uint8Array(deflateRawSync(bytes)) : bytes }
}

function record (size, fields) {
  const out = new DataView(new ArrayBuffer(size))
  for (const [at, width, value] of fields) {
    if (width === 2) out.setUint16(at, value, true)
    else out.setUint32(at, value, true)
  }
  return new Uint8Array(out.buffer)
}

/**
 * files: name -> text or bytes, or a list of such pairs. Options: deflate, flags (of each entry), crc (a wrong one), size
 * (claimed), mode (of each file, as Unix has it).
 */
export function zip (files, { deflate = false, flags = 0x800, crc, size, mode } = {}) {
  const parts = []
  const list = []
  let at = 0
  const put = bytes => {
    parts.push(bytes)
    at += bytes.length
  }
  for (const [name, content] of Array.isArray(files) ? files : Object.entries(files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    const nameBytes = new TextEncoder().encode(name)
    const { sum, data } = pack(bytes, deflate)
    const common = [[0, 2, 20], [2, 2, flags], [4, 2, deflate ? 8 : 0], [10, 4, crc ?? sum], [14, 4, data.length], [18, 4, size ?? bytes.length], [22, 2, nameBytes.length]]
    const start = at
    put(record(30, [[0, 4, 0x04034b50], ...common.map(([offset, width, value]) => [offset + 4, width, value])]))
    put(nameBytes)
    put(data)
    list.push(record(46, [[0, 4, 0x02014b50], [4, 2, mode === undefined ? 20 : 0x314], [38, 4, mode === undefined ? 0 : mode * 65536], ...common.map(([offset, width, value]) => [offset + 6, width, value]), [42, 4, start]]), nameBytes)
  }
  const directory = at
  list.forEach(put)
  put(record(22, [[0, 4, 0x06054b50], [8, 2, list.length / 2], [10, 2, list.length / 2], [12, 4, at - directory], [16, 4, directory]]))
  const out = new Uint8Array(at)
  let to = 0
  for (const part of parts) {
    out.set(part, to)
    to += part.length
  }
  return out
}
