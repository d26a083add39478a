import { OK } from './errors.js'
import { isWellFormed } from './engine.js'

// Objects as the bytes of messages, by the fields that the module says they have. From the end to the start: then the length
// of a message is known when it is to be written. Whatever is out of the common, a fault above all, throws and is left to
// the module.

const INT32 = 0
const INT64 = 3
const UINT64 = 8
const FLOAT = 10
const DOUBLE = 11
const ENUM = 13
const TEXT = 14
const BYTES = 15
const MESSAGE = 16
const NAN = 0x7ff8000000000000n
const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n
const MOST_UNSIGNED = 2n ** 64n - 1n
const DEEPEST = 1000 // messages within each other
const SHORT = 24 // UTF-16 units of a text that is put down one by one

const encoder = new TextEncoder()
const single = new Float32Array(1)
const double = new Float64Array(1)
const bits = new Uint8Array(double.buffer)
const singleBits = new Uint8Array(single.buffer)
const singleWord = new Uint32Array(single.buffer)
const words = new Uint32Array(double.buffer)
const integers = new BigInt64Array(double.buffer)

const uncommon = () => { throw new Error('out of the common') }
const camel = name => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())

// From the module's text to a map of fields by name.
function layoutOf(text) {
  const types = new Map()
  let fields
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line[0] !== ' ') {
      fields = new Map()
      types.set(line, fields)
      continue
    }
    const [, number, name, type, flags, of] = line.split(' ')
    const wire = +type === FLOAT ? 5 : +type === DOUBLE ? 1 : +type >= TEXT ? 2 : 0
    const field = { number: +number, type: +type, wire, repeated: (flags & 1) !== 0, packed: (flags & 2) !== 0, oneof: (flags & 4) !== 0, of, child: null, values: null }
    if (field.type === ENUM) {
      const pairs = of.split(',').filter(Boolean).map(pair => pair.split('='))
      field.values = new Map(pairs.flatMap(([name, value]) => [[name, +value], [+value, +value]]))
    }
    fields.set(name, field).set(camel(name), field)
  }
  for (const all of types.values()) for (const field of all.values()) if (field.type === MESSAGE) field.child = types.get(field.of)
  return fields
}

/** The object as bytes of a message `as`; null: something is not as it should be, or as it often is. */
export function encoded(engine, object, as) {
  let layout = engine.layouts.get(as)
  if (layout === undefined) {
    layout = engine.guard(() => engine.exports.opspec_do_layout(engine.port, engine.putText(as)) === OK ? layoutOf(engine.resultText()) : null)
    if (layout === null) return null
    engine.layouts.set(as, layout)
  }
  engine.guard(() => {})
  if (busy || [Object, BigInt, Number, String].some(({ prototype }) => 'toJSON' in prototype)) return null
  busy = true
  try {
    return write(object, layout, engine.limits.depth ?? 256)
  } catch {
    return null // JSON.stringify meets it again
  } finally {
    busy = false
    bytes = nothing
  }
}

// ---- Writing --------------------------------------------------------------------------------------------------------

const nothing = new Uint8Array(0)
let bytes = nothing
let at = 0 // where what has been written begins
let deepest = DEEPEST
let busy = false // an object that asks for another one while it is read gets it from the module

function room(size) {
  if (size <= at) return
  const used = bytes.length - at
  const grown = new Uint8Array(2 * (used + size) + 1024)
  grown.set(bytes.subarray(at), grown.length - used)
  at = grown.length - used
  bytes = grown
}

// Of a number of 64 bits.
function varint(low, high) {
  if (high === 0 && low < 0x80) {
    if (at === 0) room(1)
    bytes[--at] = low
    return
  }
  room(10)
  let size = 1
  for (let l = low, h = high; h > 0 || l > 0x7f; size++) {
    l = (l >>> 7 | h << 25) >>> 0
    h >>>= 7
  }
  for (let to = at -= size; ; to++) {
    if (high === 0 && low < 0x80) {
      bytes[to] = low
      return
    }
    bytes[to] = low & 0x7f | 0x80
    low = (low >>> 7 | high << 25) >>> 0
    high >>>= 7
  }
}

function integer(value) {
  if (Number.isSafeInteger(value)) varint(value >>> 0, Math.floor(value / 0x100000000) >>> 0)
  else uncommon()
}

function text(value) {
  const { length } = value
  if (length <= SHORT) {
    room(length)
    let i = length
    while (i > 0) {
      const unit = value.charCodeAt(i - 1)
      if (unit >= 0x80) break
      bytes[at - length + --i] = unit
    }
    if (i === 0) {
      at -= length
      return
    }
  }
  room(3 * length)
  const start = at - 3 * length
  const { written } = encoder.encodeInto(value, bytes.subarray(start, at))
  if (written !== length && !isWellFormed(value)) uncommon()
  bytes.copyWithin(at - written, start, start + written)
  at -= written
}

function scalar(field, value) {
  switch (field.type) {
    case INT32:
      if (typeof value === 'bigint') value = Number(value)
      if (value !== (value | 0)) uncommon()
      integer(value)
      break
    case ENUM:
      integer(field.values.get(value))
      break
    case INT64:
    case UINT64:
      if (typeof value === 'bigint') {
        if (field.type === INT64 ? value < LEAST || value > MOST : value < 0n || value > MOST_UNSIGNED) uncommon()
        integers[0] = value
        varint(words[0], words[1])
      } else if (value >= 0 || field.type === INT64) {
        integer(value)
      } else {
        uncommon()
      }
      break
    case FLOAT: {
      if (typeof value !== 'number') uncommon()
      single[0] = value
      if (single[0] !== value) rounded(value)
      room(4)
      at -= 4
      for (let i = 0; i < 4; i++) bytes[at + i] = singleBits[i]
      break
    }
    case DOUBLE:
      if (typeof value !== 'number') uncommon()
      double[0] = value
      if (Number.isNaN(value)) integers[0] = NAN
      room(8)
      at -= 8
      for (let i = 0; i < 8; i++) bytes[at + i] = bits[i]
      break
    case TEXT:
      if (typeof value === 'string') text(value)
      else if (!(value instanceof Uint8Array) || value.length > 0) uncommon()
      break
    case BYTES:
      if (value instanceof Uint8Array) {
        room(value.length)
        bytes.set(value, at -= value.length)
      } else if (value !== '') {
        uncommon() // base64
      }
      break
    default: uncommon()
  }
}

// A number that is no float: the module reads it out of decimals, of which those half way between two may go another way.
function rounded(value) {
  double[0] = value
  if (Number.isNaN(value)) singleWord[0] = 0x7fc00000
  else if (!(Math.abs(value) >= 2 ** -126) || !Number.isFinite(single[0]) || (words[0] & 0x1fffffff) === 0x10000000) uncommon()
}

function element(field, value, depth) {
  const end = bytes.length - at
  if (field.type === MESSAGE) message(value, field.child, depth + 1)
  else scalar(field, value)
  if (field.wire === 2) varint(bytes.length - at - end, 0)
  varint(field.number * 8 + field.wire, 0)
}

function list(field, values, depth) {
  const typed = ArrayBuffer.isView(values)
  if (typed ? values instanceof Uint8Array || values instanceof DataView : Object.getPrototypeOf(values) !== Array.prototype || !Array.isArray(values) || 'toJSON' in values) uncommon()
  if (!field.packed) {
    for (let i = values.length; i-- > 0;) element(field, values[i], depth)
    return
  }
  if (values.length === 0) return
  const end = bytes.length - at
  for (let i = values.length; i-- > 0;) scalar(field, values[i])
  varint(bytes.length - at - end, 0)
  varint(field.number * 8 + 2, 0)
}

function message(object, fields, depth) {
  if (object === null || typeof object !== 'object' || depth > deepest) uncommon()
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) uncommon()
  const given = []
  let last = 0
  let sorted = true
  let oneof = false // a member of one was there
  for (const name of Object.keys(object)) {
    const field = fields.get(name)
    const value = object[name]
    if (field === undefined) uncommon()
    if (value === null || value === undefined) continue
    if (field.oneof && oneof) uncommon()
    oneof ||= field.oneof
    sorted &&= field.number > last
    last = field.number
    given.push(field, value)
  }
  if (!sorted) sort(given)
  for (let i = given.length - 2; i >= 0; i -= 2) {
    if (given[i].repeated) list(given[i], given[i + 1], depth)
    else element(given[i], given[i + 1], depth)
  }
}

// Pairs, by the fields' numbers.
function sort(given) {
  const pairs = []
  for (let i = 0; i < given.length; i += 2) pairs.push([given[i], given[i + 1]])
  pairs.sort(([a], [b]) => a.number - b.number || uncommon())
  given.splice(0, given.length, ...pairs.flat())
}

function write(object, layout, depth) {
  bytes = new Uint8Array(1024)
  at = bytes.length
  deepest = Math.min(depth, DEEPEST)
  message(object, layout, 1)
  return bytes.slice(at)
}
