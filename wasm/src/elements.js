// The 26 element types (core/include/opspec/element_types.def) as JavaScript holds them.
// name: of the JavaScript interface. heap: view of the module's memory that its elements are read through.
// bits: width on the wire. parts: numbers an element (complex: re and im).

const rows = [
  ['float32', 1, 'float', Float32Array, 32],
  ['uint8', 2, 'uint8', Uint8Array, 8],
  ['int8', 3, 'int8', Int8Array, 8],
  ['uint16', 4, 'uint16', Uint16Array, 16],
  ['int16', 5, 'int16', Int16Array, 16],
  ['int32', 6, 'int32', Int32Array, 32],
  ['int64', 7, 'int64', BigInt64Array, 64],
  ['string', 8, 'string', null, 0],
  ['bool', 9, 'bool', Uint8Array, 8],
  ['float16', 10, 'float16', Uint16Array, 16],
  ['float64', 11, 'double', Float64Array, 64],
  ['uint32', 12, 'uint32', Uint32Array, 32],
  ['uint64', 13, 'uint64', BigUint64Array, 64],
  ['complex64', 14, 'complex64', Float32Array, 64],
  ['complex128', 15, 'complex128', Float64Array, 128],
  ['bfloat16', 16, 'bfloat16', Uint16Array, 16],
  ['float8e4m3fn', 17, 'float8e4m3fn', Uint8Array, 8],
  ['float8e4m3fnuz', 18, 'float8e4m3fnuz', Uint8Array, 8],
  ['float8e5m2', 19, 'float8e5m2', Uint8Array, 8],
  ['float8e5m2fnuz', 20, 'float8e5m2fnuz', Uint8Array, 8],
  ['uint4', 21, 'uint4', Uint8Array, 4],
  ['int4', 22, 'int4', Int8Array, 4],
  ['float4e2m1', 23, 'float4e2m1', Uint8Array, 4],
  ['float8e8m0', 24, 'float8e8m0', Uint8Array, 8],
  ['uint2', 25, 'uint2', Uint8Array, 2],
  ['int2', 26, 'int2', Int8Array, 2]
]

// Layouts of narrow floats: exponent bits, fraction bits, bias, and what the top codes mean.
const layouts = {
  float16: [5, 10, 15, 'ieee'],
  bfloat16: [8, 7, 127, 'ieee'],
  float8e4m3fn: [4, 3, 7, 'fn'],
  float8e4m3fnuz: [4, 3, 8, 'fnuz'],
  float8e5m2: [5, 2, 15, 'ieee'],
  float8e5m2fnuz: [5, 2, 16, 'fnuz'],
  float4e2m1: [2, 1, 1, 'finite'],
  float8e8m0: [8, 0, 127, 'scale']
}

const Half = globalThis.Float16Array

export const elements = rows.map(([name, number, onnx, array, bits]) => {
  const parts = name.startsWith('complex') ? 2 : 1
  return {
    name, number, onnx, array, bits, parts,
    shift: array === null ? 0 : Math.log2(array.BYTES_PER_ELEMENT),
    tag: array === null ? null : array.name,
    wide: array === BigInt64Array || array === BigUint64Array,
    packed: bits < 8 && bits > 0 ? 8 / bits : 1,
    layout: layouts[name] ?? null,
    also: name === 'float16' ? 'Float16Array' : name === 'uint8' ? 'Uint8ClampedArray' : null
  }
})

export const elementByNumber = []
for (const element of elements) elementByNumber[element.number] = element
const byName = new Map(elements.map(element => [element.name, element]))
const byOnnx = new Map(elements.map(element => [element.onnx, element]))

/** The element type of that JavaScript name, or undefined. */
export function elementNamed(name) {
  return byName.get(name)
}

/** The element type of that name in type expressions, or undefined. */
export function elementOfOnnx(name) {
  return byOnnx.get(name)
}

export const Float16 = Half ?? null

// ---- Narrow floats ------------------------------------------------------------------------------------------

export function narrowToNumber(layout, width, bits) {
  const [exponentBits, fractionBits, bias, kind] = layout
  if (kind === 'scale') return bits === 255 ? NaN : 2 ** (bits - bias)
  const all = 2 ** (width - 1) - 1
  const magnitude = bits & all
  const sign = bits > all ? -1 : 1
  const fraction = magnitude & (2 ** fractionBits - 1)
  const exponent = magnitude >> fractionBits
  if (kind === 'ieee' && exponent === 2 ** exponentBits - 1) return fraction ? NaN : sign * Infinity
  if (kind === 'fn' && magnitude === all) return NaN
  if (kind === 'fnuz' && sign < 0 && magnitude === 0) return NaN
  const value = exponent === 0 ? fraction * 2 ** (1 - bias - fractionBits) : (2 ** fractionBits + fraction) * 2 ** (exponent - bias - fractionBits)
  return sign * value
}

function roundEven(x) {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}

/** Rounds to nearest, ties to even; beyond the range infinity, or the largest number where there is none. */
export function numberToNarrow(layout, width, value) {
  const [, fractionBits, bias, kind] = layout
  if (kind === 'scale') {
    if (!(value > 0)) return 255
    const power = roundEven(Math.log2(value))
    return Math.min(Math.max(power + bias, 0), 254)
  }
  const all = 2 ** (width - 1) - 1
  const largest = kind === 'ieee' ? all - 2 ** fractionBits : kind === 'fn' ? all - 1 : all
  const negative = value < 0 || Object.is(value, -0)
  const signed = bits => negative && !(bits === 0 && kind === 'fnuz') ? bits + all + 1 : bits
  if (Number.isNaN(value)) return kind === 'fnuz' ? all + 1 : kind === 'finite' ? 0 : kind === 'fn' ? all : largest + 1 + 2 ** (fractionBits - 1)
  const beyond = kind === 'ieee' ? largest + 1 : largest
  const magnitude = Math.abs(value)
  if (magnitude === Infinity) return signed(beyond)
  let step = 1 - bias
  while (magnitude >= 2 ** (step + 1)) step++
  const bits = (step + bias - 1) * 2 ** fractionBits + roundEven(magnitude * 2 ** (fractionBits - step))
  return signed(bits > largest ? beyond : bits)
}
