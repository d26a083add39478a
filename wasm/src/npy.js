import { elementNamed } from './elements.js'
import { Tensor } from './values.js'

// NumPy's .npy files (format 1 to 3) as tensors, and tensors as such files. What goes wrong is an Error that names no file.

const names = {
  f2: 'float16', f4: 'float32', f8: 'float64', i1: 'int8', i2: 'int16', i4: 'int32', i8: 'int64', u1: 'uint8', u2: 'uint16', u4: 'uint32', u8: 'uint64', b1: 'bool',
  c8: 'complex64', c16: 'complex128'
}
const wider = { int4: 'i1', int2: 'i1', uint4: 'u1', uint2: 'u1' }
const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]

/** Whether the file begins as such files do. */
export const isNpy = bytes => magic.every((byte, i) => bytes[i] === byte)

function header(bytes) {
  if (bytes.length < 12 || !isNpy(bytes)) throw new Error('it is no .npy file')
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const long = bytes[6] > 1
  const start = long ? 12 : 10
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true)
  const text = new TextDecoder().decode(bytes.subarray(start, start + length))
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1]
  const shape = /'shape'\s*:\s*\(([^)]*)\)/.exec(text)?.[1]
  const dims = shape?.split(',').map(part => part.trim()).filter(Boolean).map(Number)
  if (descr === undefined || dims === undefined || dims.some(dim => !Number.isSafeInteger(dim) || dim < 0)) throw new Error('its head cannot be read')
  return { descr, fortran: /'fortran_order'\s*:\s*True/.test(text), dims, at: start + length }
}

function swapBytes(bytes, size) {
  for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse()
}

// Column-major data in row-major order.
function toRowMajor(data, dims, parts) {
  const out = new data.constructor(data.length)
  const steps = []
  dims.reduce((step, dim) => (steps.push(step), step * dim), 1)
  const index = dims.map(() => 0)
  for (let to = 0; to < data.length / parts; to++) {
    const from = index.reduce((sum, i, axis) => sum + i * steps[axis], 0)
    for (let part = 0; part < parts; part++) out[to * parts + part] = data[from * parts + part]
    for (let axis = dims.length - 1; axis >= 0 && ++index[axis] === dims[axis]; axis--) index[axis] = 0
  }
  return out
}

// Texts of a fixed number of code points, filled up with zeros.
function toTexts(points, width, count) {
  return Array.from({ length: count }, (_, i) => {
    const own = points.subarray(i * width, (i + 1) * width)
    let end = width
    while (end > 0 && own[end - 1] === 0) end--
    return Array.from(own.subarray(0, end), point => String.fromCodePoint(point)).join('')
  })
}

function fromTexts(data) {
  const points = data.map(text => Array.from(text, letter => letter.codePointAt(0)))
  if (points.some(list => list.at(-1) === 0)) throw new Error('a string that ends with a zero would lose it')
  const width = points.reduce((most, { length }) => Math.max(most, length), 1)
  const out = new Uint32Array(width * data.length)
  points.forEach((list, i) => out.set(list, i * width))
  return { code: `U${width}`, data: out }
}

/** The tensor that a file holds. */
export function readNpy(bytes) {
  const { descr, fortran, dims, at } = header(bytes)
  const width = Number(/^.U(\d{1,9})$/.exec(descr)?.[1] ?? 0)
  const name = width > 0 ? 'string' : Object.hasOwn(names, descr.slice(1)) ? names[descr.slice(1)] : undefined
  if (name === undefined) throw new Error(`elements of NumPy's type ${descr} cannot be read`)
  const element = elementNamed(name)
  const array = width > 0 ? Uint32Array : element.array
  const parts = width > 0 ? width : element.parts
  const count = dims.reduce((product, dim) => product * dim, 1)
  const size = count * parts * array.BYTES_PER_ELEMENT
  const content = bytes.slice(at, at + size)
  if (content.length !== size) throw new Error(`it is cut: ${size} bytes of elements are needed, ${content.length} are there`)
  if (descr[0] === '>') swapBytes(content, array.BYTES_PER_ELEMENT)
  const stored = new array(content.buffer)
  const data = fortran && dims.length > 1 ? toRowMajor(stored, dims, parts) : stored
  return new Tensor(name, width > 0 ? toTexts(data, width, count) : data, dims)
}

/**
 * A tensor as a file: format 1, or 2 where the head is long; elements in row-major order, little-endian. `widen`: elements of 4 and 2 bits,
 * for which NumPy has no type, become 8-bit integers.
 */
export function writeNpy({ type, dims, data }, { widen = false } = {}) {
  const known = Object.keys(names).find(key => names[key] === type) ?? (widen && Object.hasOwn(wider, type) ? wider[type] : undefined)
  const stored = type === 'string' ? fromTexts([...data]) : { code: known, data }
  if (stored.code === undefined) throw new Error(`elements of type ${type} have no type in NumPy`)
  const order = stored.data.BYTES_PER_ELEMENT === 1 ? '|' : '<'
  const text = `{'descr': '${order}${stored.code}', 'fortran_order': False, 'shape': (${dims.join(', ')}${dims.length === 1 ? ',' : ''}), }`
  const long = text.length > 0xff00
  const start = long ? 12 : 10
  const room = Math.ceil((start + text.length + 1) / 64) * 64 - start // the data begin at a multiple of 64
  const content = new Uint8Array(stored.data.buffer, stored.data.byteOffset, stored.data.byteLength)
  const out = new Uint8Array(start + room + content.length)
  out.set([...magic, long ? 2 : 1, 0, room & 255, room >> 8 & 255, room >> 16])
  out.set(new TextEncoder().encode(`${text.padEnd(room - 1)}\n`), start)
  out.set(content, start + room)
  return out
}
