import { elementNamed } from '../elements.js'
import { Tensor } from '../values.js'
import { CommandError } from './options.js'

// numpy's .npy files (format 1 to 3) as tensors, and tensors as such files (format 1).

const names = {
  f2: 'float16', f4: 'float32', f8: 'float64', i1: 'int8', i2: 'int16', i4: 'int32', i8: 'int64', u1: 'uint8', u2: 'uint16', u4: 'uint32', u8: 'uint64', b1: 'bool',
  c8: 'complex64', c16: 'complex128'
}

function header(bytes, path) {
  if (bytes.length < 12 || new TextDecoder('latin1').decode(bytes.subarray(1, 6)) !== 'NUMPY') throw new CommandError(`${path} is no .npy file`)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const long = bytes[6] > 1
  const start = long ? 12 : 10
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true)
  const text = new TextDecoder().decode(bytes.subarray(start, start + length))
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1]
  const shape = /'shape'\s*:\s*\(([^)]*)\)/.exec(text)?.[1]
  if (descr === undefined || shape === undefined) throw new CommandError(`${path}: its head cannot be read`)
  return { descr, fortran: /'fortran_order'\s*:\s*True/.test(text), dims: shape.split(',').map(part => part.trim()).filter(Boolean).map(Number), at: start + length }
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

export function readNpy(bytes, path) {
  const { descr, fortran, dims, at } = header(bytes, path)
  const name = names[descr.slice(1)]
  if (name === undefined) throw new CommandError(`${path}: elements of numpy type ${descr} cannot be read`)
  const element = elementNamed(name)
  const count = dims.reduce((product, dim) => product * dim, 1) * element.parts
  const size = element.array.BYTES_PER_ELEMENT
  const content = bytes.slice(at, at + count * size)
  if (content.length !== count * size) throw new CommandError(`${path}: it is cut: ${count * size} bytes of elements are needed, ${content.length} are there`)
  if (descr[0] === '>') swapBytes(content, size)
  const data = new element.array(content.buffer)
  return new Tensor(name, fortran && dims.length > 1 ? toRowMajor(data, dims, element.parts) : data, dims)
}

/** A tensor as a file; elements lie in row-major order, little-endian. */
export function writeNpy({ type, dims, data }) {
  const code = Object.keys(names).find(key => names[key] === type)
  if (code === undefined) throw new CommandError(`elements of type ${type} have no type in numpy`)
  const order = data.BYTES_PER_ELEMENT === 1 ? '|' : '<'
  const head = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': (${dims.join(', ')}${dims.length === 1 ? ',' : ''}), }`
  const room = Math.ceil((head.length + 11) / 64) * 64 - 10 // the data begin at a multiple of 64
  const content = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  const out = new Uint8Array(10 + room + content.length)
  out.set([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, room & 255, room >> 8])
  out.set(new TextEncoder().encode(`${head.padEnd(room - 1)}\n`), 10)
  out.set(content, 10 + room)
  return out
}
