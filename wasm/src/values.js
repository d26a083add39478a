import { checkHeld } from './bytes.js'
import { elementNamed, elementOfOnnx, elements, narrowToNumber, numberToNarrow } from './elements.js'
import { invalid, shown } from './errors.js'

// Says that the caller has already made sure of everything: for the tensors that we make ourselves.
export const TRUSTED = Symbol('trusted')

export function elementFor(type, argument) {
  const element = elementNamed(type)
  if (element !== undefined) return element
  const meant = elementOfOnnx(type)
  const hint = meant === undefined ? `known are ${elements.map(({ name }) => name).join(', ')}` : `did you mean '${meant.name}'?`
  throw invalid(`${argument}: '${shown(type)}' is no element type; ${hint}`)
}

/** Sizes of the caller's as a list of our own; each is read once. */
export function readDims(dims, argument) {
  if (dims === null || typeof dims !== 'object' || typeof dims.length !== 'number') throw invalid(`${argument}: dims must be a list of sizes`)
  const { length } = dims
  if (length > 16) throw invalid(`${argument}: dims has ${length} entries, at most 16 are possible`)
  const own = []
  for (let i = 0; i < length; i++) {
    const dim = dims[i]
    if (!Number.isSafeInteger(dim) || dim < 0) throw invalid(`${argument}: dims[${i}] is ${shown(dim)}, not a size`)
    own.push(dim)
  }
  return own
}

function countOf(dims, argument) {
  let count = 1
  for (let i = 0; i < dims.length; i++) count *= dims[i]
  if (count > Number.MAX_SAFE_INTEGER) throw invalid(`${argument}: dims are too large`)
  return count
}

// ---- Data -----------------------------------------------------------------------------------------------------

// Asked of the engine, as a class of the caller's may say anything of itself, and a typed array may come from another realm (a
// frame, a vm context).
const asked = name => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), name).get
const [tagGetter, lengthGetter, bufferGetter, offsetGetter] = [Symbol.toStringTag, 'length', 'buffer', 'byteOffset'].map(asked)
const tagOf = data => tagGetter.call(data)

/** The bits of a Float16Array. */
export const halfBits = data => new Uint16Array(bufferGetter.call(data), offsetGetter.call(data), lengthGetter.call(data))
export const isHalfArray = data => tagOf(data) === 'Float16Array'
export const isMap = value => value instanceof Map || Object.prototype.toString.call(value) === '[object Map]'

function fitsArray(element, data) {
  const tag = tagOf(data)
  return tag === element.tag || (element.also !== null && tag === element.also)
}

function convertBig(element, value, at) {
  if (typeof value === 'number' && !Number.isInteger(value)) throw invalid(`${at} is ${value}, not an integer`)
  const big = BigInt(value)
  const back = element.name === 'int64' ? BigInt.asIntN(64, big) : BigInt.asUintN(64, big)
  if (back !== big) throw invalid(`${at} is ${big}, which ${element.name} cannot hold`)
  return big
}

function integerRange(element) {
  const signed = element.name.startsWith('int')
  return signed ? [-(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1] : [0, 2 ** element.bits - 1]
}

function convertNumber(element, value, at) {
  if (element.name === 'bool') {
    if (typeof value === 'boolean' || value === 0 || value === 1) return Number(value)
    throw invalid(`${at} is ${shown(value)}, not true or false`)
  }
  if (typeof value === 'bigint') value = Number(value)
  if (typeof value !== 'number') throw invalid(`${at} is ${typeof value === 'string' ? `'${value}'` : shown(value)}, not a number`)
  if (element.layout !== null) return numberToNarrow(element.layout, element.bits, value)
  if (element.name.includes('int')) {
    const [low, high] = integerRange(element)
    if (!Number.isInteger(value) || value < low || value > high) throw invalid(`${at} is ${value}, which ${element.name} cannot hold`)
  }
  return value
}

// A typed array (or list of strings) from a plain list; numbers of narrow floats are values, not bits.
function convertList(element, list, length, argument) {
  if (element.array === null) {
    const out = new Array(length)
    for (let i = 0; i < length; i++) {
      out[i] = list[i]
      if (typeof out[i] !== 'string') throw invalid(`${argument}[${i}] is ${shown(out[i])}, not a string`)
    }
    return out
  }
  const out = new element.array(length)
  for (let i = 0; i < length; i++) {
    out[i] = element.wide ? convertWide(element, list[i], `${argument}[${i}]`) : convertNumber(element, list[i], `${argument}[${i}]`)
  }
  return out
}

function convertWide(element, value, at) {
  if (typeof value !== 'bigint' && typeof value !== 'number') throw invalid(`${at} is ${shown(value)}, not an integer`)
  return convertBig(element, value, at)
}

/** Elements of less than a byte out of packed bytes, the first in the lowest bits. */
export function unpack(element, bytes, count) {
  const out = new element.array(count)
  const per = element.packed
  const mask = 2 ** element.bits - 1
  const signed = element.array === Int8Array
  for (let i = 0; i < count; i++) {
    const value = (bytes[Math.floor(i / per)] & 255) >> (i % per * element.bits) & mask
    out[i] = signed && value > mask >> 1 ? value - mask - 1 : value
  }
  return out
}

/**
 * Data as the module takes it: the element's typed array, Float16Array for float16, or a list of strings.
 * @returns {object} data with exactly count * parts numbers
 */
export function normalData(element, data, count, argument) {
  const typed = tagOf(data) !== undefined
  const given = typed ? lengthGetter.call(data) : data?.length
  if (data === null || typeof data !== 'object' || typeof given !== 'number') throw invalid(`${argument}: data must be a typed array or a list`)
  const plain = Array.isArray(data)
  if (typed) checkHeld(data, `${argument}: data`)
  if (element.packed > 1 && count > 1 && typed && given === Math.ceil(count / element.packed)) {
    if (data.BYTES_PER_ELEMENT !== 1) throw invalid(`${argument}: packed ${element.name} data must be bytes`)
    return unpack(element, data, count)
  }
  const length = count * element.parts
  if (given !== length) {
    throw invalid(`${argument}: dims give ${count} elements${element.parts > 1 ? ` of ${element.parts} numbers` : ''}, data has ${given}`)
  }
  if (plain) return convertList(element, data, length, `${argument}: data`)
  if (element.array === null) throw invalid(`${argument}: data of a string tensor must be a list of strings`)
  if (!fitsArray(element, data)) throw invalid(`${argument}: ${element.name} data must be ${element.tag}, not ${data.constructor?.name ?? 'an object'}`)
  if (element.packed > 1) checkNarrow(element, data, argument)
  return data
}

// One element of less than a byte in each byte.
function checkNarrow(element, data, argument) {
  const [low, high] = integerRange(element)
  for (let i = 0; i < data.length; i++) {
    if (data[i] < low || data[i] > high) throw invalid(`${argument}: data[${i}] is ${data[i]}, which ${element.name} cannot hold`)
  }
}

// ---- Sparse tensors and maps ----------------------------------------------------------------------------------

/**
 * Throws unless a sparse tensor's indices say an ascending place within `whole` for each value (onnx.proto, SparseTensorProto):
 * linear, or a row of coordinates.
 */
export function checkPlaces(dims, { dims: given, data }, whole, argument) {
  if (dims.length !== 1) throw invalid(`${argument}.values: must have one dimension, not ${dims.length}`)
  const rank = given.length === 2 ? given[1] : 1
  const sizes = given.length === 2 ? whole : [whole.reduce((product, dim) => product * dim, 1)]
  if (given.length < 1 || given.length > 2 || given[0] !== dims[0] || rank !== sizes.length) {
    throw invalid(`${argument}.indices: must have the shape [${dims[0]}] or [${dims[0]}, ${whole.length}], not [${given.join(', ')}]`)
  }
  const fail = (i, why) => { throw invalid(`${argument}.indices: place ${i}, [${data.slice(i * rank, (i + 1) * rank).join(', ')}], ${why}`) }
  for (let i = 0; i < given[0]; i++) {
    let ahead = i === 0
    for (let k = 0; k < rank; k++) {
      const index = Number(data[i * rank + k])
      if (index < 0 || index >= sizes[k]) fail(i, `is outside of [${sizes.join(', ')}]`)
      if (ahead) continue
      const before = Number(data[(i - 1) * rank + k])
      if (index < before) break
      ahead = index > before
    }
    if (!ahead) fail(i, 'does not come after the one before')
  }
}

/** Order of texts by their code points, as that of their UTF-8 bytes. */
export function compareText(a, b) {
  const { length } = a
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // Surrogates stand for what comes after all of 16 bits.
    const above = unit => unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
    return Number.isNaN(y) || above(x) > above(y) ? 1 : -1
  }
  return length < b.length ? -1 : 0
}

// ---- Classes --------------------------------------------------------------------------------------------------

/** A number, bigint, boolean or string; of a complex element re and im. */
export function elementToPlain(element, data, index) {
  if (element.parts > 1) return [data[2 * index], data[2 * index + 1]]
  const value = data[index]
  if (element.name === 'bool') return value !== 0
  if (element.layout !== null && !isHalfArray(data)) return narrowToNumber(element.layout, element.bits, value)
  return value
}

/** A dense tensor, row-major. */
export class Tensor {
  constructor(type, data, dims, trusted) {
    if (trusted === TRUSTED) {
      this.type = type
      this.dims = dims
      this.data = data
      return
    }
    const element = elementFor(type, 'type')
    if (data === null || typeof data !== 'object' || typeof data.length !== 'number') throw invalid('data: must be a typed array or a list')
    const own = readDims(dims === undefined ? [data.length / element.parts] : dims, 'dims')
    this.type = type
    this.dims = own
    this.data = normalData(element, data, countOf(own, 'dims'), 'data')
  }

  get size() {
    let count = 1
    for (const dim of this.dims) count *= dim
    return count
  }

  /** Nested lists of plain values; rank 0 gives the value itself. Narrow floats are numbers, complex ones [re, im]. */
  toArray() {
    const element = elementNamed(this.type)
    let index = 0
    const level = depth => {
      if (depth === this.dims.length) return elementToPlain(element, this.data, index++)
      const list = new Array(this.dims[depth])
      for (let i = 0; i < list.length; i++) list[i] = level(depth + 1)
      return list
    }
    return level(0)
  }

  // Tensors are copies out of the module's memory: there is nothing to give back. For `using`.
  dispose() {}
}

/** A sparse tensor in ONNX's coordinate format. */
export class SparseTensor {
  constructor(type, values, indices, dims) {
    elementFor(type, 'type')
    const own = readDims(dims, 'dims')
    countOf(own, 'dims')
    if (!isTensor(values) || values.type !== type) throw invalid(`values: must be a tensor of type ${type}`)
    if (!isTensor(indices) || indices.type !== 'int64') throw invalid('indices: must be a tensor of type int64')
    this.type = type
    this.dims = own
    this.values = values
    this.indices = indices
  }
}

export function withDispose(...classes) {
  if (Symbol.dispose === undefined) return
  for (const { prototype } of classes) {
    Object.defineProperty(prototype, Symbol.dispose, { value: prototype.dispose, writable: true, configurable: true })
  }
}
withDispose(Tensor)

/** Ours, onnxruntime-common's, or any object of that form. */
export function isTensor(value) {
  return value instanceof Tensor ||
    (value !== null && typeof value === 'object' && typeof value.type === 'string' && value.dims != null && 'data' in value)
}

export function isSparse(value) {
  return value instanceof SparseTensor ||
    (value !== null && typeof value === 'object' && typeof value.type === 'string' && isTensor(value.values) && isTensor(value.indices))
}

/** { element, dims, count, data } of a tensor of the caller's, each read once: a getter may answer something else the next time. */
export function normalTensor(value, argument) {
  const element = elementFor(value.type, argument)
  const dims = readDims(value.dims, argument)
  const count = countOf(dims, argument)
  return { element, dims, count, data: normalData(element, value.data, count, argument) }
}

// ---- Types ----------------------------------------------------------------------------------------------------

/** What a type expression says: { kind, element?, of?, text }. Expressions come from the core, so they are well-formed. */
export function parseType(text) {
  const open = text.indexOf('(')
  const word = open < 0 ? text : text.slice(0, open)
  const inner = open < 0 ? '' : text.slice(open + 1, -1)
  switch (word) {
    case 'tensor': return { kind: 'tensor', element: elementOfOnnx(inner), text }
    case 'sparse_tensor': return { kind: 'sparse', element: elementOfOnnx(inner), text }
    case 'seq': return { kind: 'sequence', of: parseType(inner), text }
    case 'optional': return { kind: 'optional', of: parseType(inner), text }
    case 'map': {
      const comma = inner.indexOf(',')
      const value = inner.slice(comma + 1).trim()
      return { kind: 'map', element: elementOfOnnx(inner.slice(0, comma)), of: parseType(value.includes('(') ? value : `tensor(${value})`), text }
    }
    default: return { kind: 'unknown', text }
  }
}

/** The kind of document that holds a value of the type; 'tensor' where the type is not known. */
export function kindOfType(text) {
  const { kind } = parseType(text)
  return { sparse: 'sparse-tensor', unknown: 'tensor' }[kind] ?? kind
}

/** The type expression of a value; '' when an empty list or map does not tell. */
export function typeOfValue(value) {
  if (isTensor(value)) return `tensor(${elementFor(value.type, 'value').onnx})`
  if (isSparse(value)) return `sparse_tensor(${elementFor(value.type, 'value').onnx})`
  if (Array.isArray(value)) {
    const inner = value.length === 0 ? '' : typeOfValue(value[0])
    return inner === '' ? '' : `seq(${inner})`
  }
  if (isMap(value)) {
    for (const [key, item] of value) {
      const keyType = typeof key === 'string' ? 'string' : 'int64'
      const inner = scalarType(item) ?? typeOfValue(item)
      return inner === '' ? '' : `map(${keyType}, ${inner})`
    }
  }
  return ''
}

function scalarType(value) {
  switch (typeof value) {
    case 'string': return 'string'
    case 'bigint': return 'int64'
    case 'boolean': return 'bool'
    case 'number': return 'float'
    default: return null
  }
}
