import { OpspecError } from './errors.js'

// Reads .zip archives of bundles: stored and deflated entries, no encryption, no zip64. Who calls brings the inflate.

const MOST_FILES = 1000, MOST_BYTES = 2 ** 30
const MOST_GROWTH = 200, GROWS_FREELY = 2 ** 24 // of its own bytes so many times as much; what any may unpack to
const END = 0x06054b50, ENTRY = 0x02014b50, LOCAL = 0x04034b50
const UNIX = 3, LINK = 0o12 // who made the archive, and the kind in its file modes

const malformed = message => new OpspecError('malformed', `the zip archive is damaged: ${message}`)

const limit = message => new OpspecError('limit', `the zip archive ${message}`)
const tooMany = () => limit(`holds too many files: a bundle has at most ${MOST_FILES}`)

function endRecord(view) {
  const first = Math.max(0, view.byteLength - 22 - 65535)
  for (let at = view.byteLength - 22; at >= first; at--) {
    if (view.getUint32(at, true) !== END) continue
    const [count, start] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)]
    if (count > 2 * MOST_FILES || start === 0xffffffff) throw tooMany()
    return { count, start }
  }
  throw malformed('it has no list of files')
}

function contentOf(bytes, view, inflate, { offset, packed, size, method, name, crc }) {
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== LOCAL) throw malformed(`${JSON.stringify(name)} is not where the list says`)
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  const data = bytes.subarray(start, start + packed)
  if (method !== 0 && method !== 8) throw new OpspecError('unsupported', `the zip archive's file ${JSON.stringify(name)} is packed in a way that is not known (${method})`)
  let content
  try {
    content = method === 0 ? data.slice() : inflate(data, size)
  } catch (cause) {
    throw malformed(`${JSON.stringify(name)}: ${cause.message}`)
  }
  if (content.length !== size || checksum(content) !== crc) throw malformed(`${JSON.stringify(name)} is not what was packed`)
  return content
}

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1
  return byte
})

function checksum(bytes) {
  let crc = -1
  for (let i = 0; i < bytes.length; i++) crc = remainders[(crc ^ bytes[i]) & 255] ^ (crc >>> 8)
  return ~crc >>> 0
}

function entriesOf(bytes, view) {
  const { count, start } = endRecord(view)
  const entries = []
  let at = start
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== ENTRY) throw malformed('its list of files is cut')
    const nameLength = view.getUint16(at + 28, true)
    entries.push({
      link: view.getUint8(at + 5) === UNIX && (view.getUint32(at + 38, true) >>> 28) === LINK, flags: view.getUint16(at + 8, true), method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true), packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true), offset: view.getUint32(at + 42, true),
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

const wanted = name => name !== '' && !name.endsWith('/') && !name.startsWith('__MACOSX/')

// A path that leads from the archive's top to a file in it, whoever reads it.
const isPlain = name => !/[\\\0]/.test(name) && name.split('/').every(part => part !== '' && part !== '.' && part !== '..')

function checkName({ name, link }) {
  if (link) throw malformed(`${JSON.stringify(name)} is a link`)
  if (!isPlain(name)) throw malformed(`${JSON.stringify(name)} is no path inside the archive`)
}

// One folder around everything is taken off, unless it is a data set.
function topFolder(names) {
  const top = /^[^/]+\//.exec(names[0] ?? '')?.[0]
  return top === undefined || /^test_data_set_\d+\/$/.test(top) || names.some(name => !name.startsWith(top)) ? '' : top
}

/**
 * The files of an archive by their names, the one folder around all of them taken off.
 * @param {Uint8Array} bytes
 * @param {(deflated: Uint8Array, size: number) => Uint8Array} inflate throws when more than `size` bytes come out
 * @returns {Map<string, Uint8Array>}
 * @throws {OpspecError} malformed, unsupported, limit
 */
export function readArchive(bytes, inflate, mostBytes = MOST_BYTES) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = entriesOf(bytes, view).filter(({ name }) => wanted(name))
  if (entries.length > MOST_FILES) throw tooMany()
  entries.forEach(checkName)
  const top = topFolder(entries.map(({ name }) => name))
  // Before anything is unpacked: what it claims is all that it gets.
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  const most = Math.min(mostBytes, Math.max(GROWS_FREELY, MOST_GROWTH * bytes.length))
  if (total > most) throw limit(`unpacks to more than ${most} bytes`)
  const files = new Map()
  for (const entry of entries) {
    if (entry.flags & 1) throw new OpspecError('unsupported', `the zip archive's file ${JSON.stringify(entry.name)} is encrypted`)
    if (files.has(entry.name.slice(top.length))) throw malformed(`${JSON.stringify(entry.name)} is in it twice`)
    files.set(entry.name.slice(top.length), contentOf(bytes, view, inflate, entry))
  }
  return files
}
