// pack-data.js MODULE: deflates the constant data of the linked module in place; wasm/unpack.c brings them back. The result
// is checked: started, it has the very memory that the module came with.
import { readFileSync, writeFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'

const section = { global: 6, exports: 7, start: 8, data: 11, count: 12 }
const unpack = 'opspec_unpack', low = '__stack_low'

const u32 = value => {
  const bytes = []
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128)
  return [...bytes, value]
}

const s32 = value => {
  const bytes = []
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 127) | 128)
  return [...bytes, value & 127]
}

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get more() {
    return this.at < this.bytes.length
  }

  leb() {
    let value = 0, shift = 0, byte
    do {
      byte = this.bytes[this.at++]
      value |= (byte & 127) << shift
      shift += 7
    } while (byte > 127)
    return { value, shift, byte }
  }

  u32() {
    return this.leb().value >>> 0
  }

  // i32.const N end
  address() {
    if (this.bytes[this.at++] !== 0x41) throw new Error('an address that is no constant')
    const { value, shift, byte } = this.leb()
    this.at++
    return shift < 32 && byte & 64 ? value | (-1 << shift) : value
  }

  take(length) {
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }
}

function sectionsOf(bytes) {
  const sections = [], reader = new Reader(bytes, 8)
  while (reader.more) {
    const id = reader.take(1)[0]
    sections.push({ id, body: reader.take(reader.u32()) })
  }
  return sections
}

function segmentsOf(body) {
  const reader = new Reader(body), segments = []
  for (let left = reader.u32(); left > 0; left--) {
    if (reader.u32() !== 0) throw new Error('a segment that is not placed by the engine')
    const at = reader.address()
    segments.push({ at, bytes: reader.take(reader.u32()) })
  }
  return segments
}

// Exports as { name, kind, index, raw }.
function exportsOf(body) {
  const reader = new Reader(body), found = []
  for (let left = reader.u32(); left > 0; left--) {
    const from = reader.at
    const name = Buffer.from(reader.take(reader.u32())).toString()
    const kind = reader.take(1)[0]
    found.push({ name, kind, index: reader.u32(), raw: body.subarray(from, reader.at) })
  }
  return found
}

const word = value => [value & 255, value >>> 8 & 255, value >>> 16 & 255, value >>> 24]

// One segment, at a constant address.
const dataBody = (at, bytes) => Buffer.concat([Buffer.from([1, 0, 0x41, ...s32(at), 0x0b, ...u32(bytes.length)]), bytes])

function write(head, sections) {
  return Buffer.concat([head, ...sections.flatMap(({ id, body }) => [Buffer.from([id, ...u32(body.length)]), body])])
}

function memoryOf(bytes, from, to) {
  const module = new WebAssembly.Module(bytes), imports = {}
  for (const { module: space, name } of WebAssembly.Module.imports(module)) (imports[space] ??= {})[name] = () => 0
  return Buffer.from(new WebAssembly.Instance(module, imports).exports.memory.buffer, from, to - from)
}

function pack(bytes) {
  const sections = sectionsOf(bytes)
  const bodyOf = id => sections.find(one => one.id === id)?.body
  if (bodyOf(section.start)) throw new Error('the module has a start function already')
  const segments = segmentsOf(bodyOf(section.data))
  const base = Math.min(...segments.map(({ at }) => at)), end = Math.max(...segments.map(({ at, bytes }) => at + bytes.length))
  const image = Buffer.alloc(end - base)
  for (const { at, bytes } of segments) image.set(bytes, at - base)
  const exported = exportsOf(bodyOf(section.exports))
  const named = name => exported.find(one => one.name === name).index
  const place = globalOf(bodyOf(section.global), named(low))
  const packed = Buffer.concat([Buffer.from([base, image.length].flatMap(word)), deflateRawSync(image, { level: 9, memLevel: 9 })])
  const rest = exported.filter(({ name }) => name !== unpack && name !== low)
  const bodies = {
    [section.exports]: Buffer.concat([Buffer.from(u32(rest.length)), ...rest.map(({ raw }) => raw)]),
    [section.count]: Buffer.from([1]),
    [section.data]: dataBody(place, packed)
  }
  const out = sections.flatMap(one => {
    const body = { id: one.id, body: bodies[one.id] ?? one.body }
    return one.id === section.exports ? [body, { id: section.start, body: Buffer.from(u32(named(unpack))) }] : [body]
  })
  const result = write(bytes.subarray(0, 8), out)
  if (!memoryOf(result, base, end).equals(image)) throw new Error('the data do not come out as they went in')
  return result
}

// Value of a global that is a constant address.
function globalOf(body, index) {
  const reader = new Reader(body)
  for (let left = reader.u32(), at = 0; at < left; at++) {
    reader.take(2)
    const value = reader.address()
    if (at === index) return value
  }
  throw new Error(`no global ${index}`)
}

const [, , module] = process.argv
writeFileSync(module, pack(readFileSync(module)))
