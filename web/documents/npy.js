// A tensor as NumPy's .npy: version 1.0, or 2.0 where the header is long; little-endian, in C order.

const descriptions = {
  float32: '<f4', float64: '<f8', float16: '<f2', int8: '|i1', int16: '<i2', int32: '<i4', int64: '<i8', uint8: '|u1', uint16: '<u2', uint32: '<u4', uint64: '<u8', bool: '|b1', complex64: '<c8', complex128: '<c16',
  int4: '|i1', int2: '|i1', uint4: '|u1', uint2: '|u1'
}

// Strings are stored as NumPy's fixed-width UTF-32.
function strings(data) {
  const points = data.map(text => Array.from(text, letter => letter.codePointAt(0)))
  const width = Math.max(1, ...points.map(({ length }) => length))
  const out = new Uint32Array(width * data.length)
  points.forEach((list, index) => out.set(list, index * width))
  return { description: `<U${width}`, bytes: new Uint8Array(out.buffer) }
}

/** Throws where NumPy has no such type: what is stored then would not be the tensor. */
export function writeNpy({ type, dims, data }) {
  const { description, bytes } = type === 'string' ? strings([...data]) : { description: descriptions[type], bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) }
  if (description === undefined) throw new Error(`NumPy has no type for elements of type ${type}.`)
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`
  const text = `{'descr': '${description}', 'fortran_order': False, 'shape': ${shape}, }`
  const long = text.length + 11 > 0xffff
  const head = long ? 12 : 10
  const padded = text + ' '.repeat((64 - (head + text.length + 1) % 64) % 64) + '\n'
  const out = new Uint8Array(head + padded.length + bytes.length)
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, long ? 2 : 1, 0])
  const view = new DataView(out.buffer)
  if (long) view.setUint32(8, padded.length, true)
  else view.setUint16(8, padded.length, true)
  out.set(new TextEncoder().encode(padded), head)
  out.set(bytes, head + padded.length)
  return out
}
