// Writes small ONNX models for tests and benchmarks: just enough of the wire format, apart from the code under test.

const utf8 = new TextEncoder()

/** Wire bytes: field(number, value) with value a number/bigint (varint), string, bytes, or array of them (repeated). */
export class Writer {
  parts = []
  size = 0

  put (bytes) {
    this.parts.push(bytes)
    this.size += bytes.length
    return this
  }

  varint (value) {
    let v = BigInt.asUintN(64, BigInt(value))
    const out = []
    while (v > 127n) {
      out.push(Number(v & 127n) | 128)
      v >>= 7n
    }
    out.push(Number(v))
    return this.put(Uint8Array.from(out))
  }

  field (number, value) {
    if (value === undefined || value === null) return this
    if (Array.isArray(value)) {
      for (const item of value) this.field(number, item)
      return this
    }
    if (typeof value === 'number' || typeof value === 'bigint') return this.varint(number << 3).varint(value)
    const bytes = typeof value === 'string' ? utf8.encode(value) : value
    return this.varint((number << 3) | 2).varint(bytes.length).put(bytes)
  }

  float (number, value) {
    return this.varint((number << 3) | 5).put(new Uint8Array(Float32Array.of(value).buffer))
  }

  bytes () {
    const out = new Uint8Array(this.size)
    let at = 0
    for (const part of this.parts) {
      out.set(part, at)
      at += part.length
    }
    return out
  }
}

export const dataTypes = {
  float32: 1, uint8: 2, int8: 3, uint16: 4, int16: 5, int32: 6, int64: 7, string: 8, bool: 9, float16: 10, float64: 11,
  uint32: 12, uint64: 13, complex64: 14, complex128: 15, bfloat16: 16, float8e4m3fn: 17, float8e4m3fnuz: 18,
  float8e5m2: 19, float8e5m2fnuz: 20, uint4: 21, int4: 22, float4e2m1: 23, float8e8m0: 24, uint2: 25, int2: 26
}

/** TensorProto from a typed array (its bytes as raw_data) or an array of strings; type: a name or any number. */
export function tensor (name, type, dims, data) {
  const w = new Writer().field(1, dims).field(2, dataTypes[type] ?? type).field(8, name)
  if (type === 'string') w.field(6, data)
  else w.field(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  return w.bytes()
}

/** TensorProto whose data lie in another file. */
export function externalTensor (name, type, dims, location) {
  const entry = new Writer().field(1, 'location').field(2, location).bytes()
  return new Writer().field(1, dims).field(2, dataTypes[type]).field(8, name).field(13, entry).field(14, 1).bytes()
}

function tensorType (type, shape) {
  const w = new Writer().field(1, dataTypes[type])
  if (shape === undefined) return w.bytes()
  const dims = shape.map(d => {
    const dim = new Writer()
    if (typeof d === 'string') dim.field(2, d)
    else if (d !== null) dim.field(1, d)
    return dim.bytes()
  })
  return w.field(2, new Writer().field(1, dims).bytes()).bytes()
}

/** TypeProto of a tensor, or of { sequence: type } / { optional: type }. */
function typeProto (type, shape) {
  if (typeof type === 'string') return new Writer().field(1, tensorType(type, shape)).bytes()
  const [number, of] = type.sequence === undefined ? [9, type.optional] : [4, type.sequence]
  return new Writer().field(number, new Writer().field(1, typeProto(of, shape)).bytes()).bytes()
}

/** ValueInfoProto. type: left out = not declared; shape: numbers, symbols, null; left out = unknown rank. */
export function value (name, type, shape) {
  const w = new Writer().field(1, name)
  return (type === undefined ? w : w.field(2, typeProto(type, shape))).bytes()
}

const attributeKinds = [
  [v => typeof v === 'bigint', (w, v) => w.field(3, v).field(20, 2)],
  [v => typeof v === 'number', (w, v) => w.float(2, v).field(20, 1)],
  [v => typeof v === 'string', (w, v) => w.field(4, v).field(20, 3)],
  [v => v.reference !== undefined, (w, v) => w.field(20, v.type).field(21, v.reference)],
  [v => v.tensor !== undefined, (w, v) => w.field(5, v.tensor).field(20, 4)],
  [v => v.graph !== undefined, (w, v) => w.field(6, v.graph).field(20, 5)],
  [v => typeof v[0] === 'bigint' || v.length === 0, (w, v) => w.field(8, v).field(20, 7)],
  [v => typeof v[0] === 'number', (w, v) => v.reduce((out, x) => out.float(7, x), w).field(20, 6)],
  [v => typeof v[0] === 'string', (w, v) => w.field(9, v).field(20, 8)]
]

function attribute (name, v) {
  const w = new Writer().field(1, name)
  return attributeKinds.find(([is]) => is(v))[1](w, v).bytes()
}

/** NodeProto. attributes: bigint = int, number = float, string, { tensor }, { graph }, { reference, type }: of
 * the function that it is in, arrays of the first three. */
export function node (opType, inputs, outputs, attributes = {}, { domain, name } = {}) {
  return new Writer().field(1, inputs).field(2, outputs).field(3, name).field(4, opType)
    .field(5, Object.entries(attributes).map(([key, v]) => attribute(key, v))).field(7, domain).bytes()
}

export function graph ({ name = 'g', nodes = [], initializers = [], inputs = [], outputs = [], values = [] }) {
  return new Writer().field(1, nodes).field(2, name).field(5, initializers).field(11, inputs).field(12, outputs)
    .field(13, values).bytes()
}

/** ModelProto. opsets: domain -> version; functions: FunctionProto bytes. */
export function model ({ ir = 10, opsets = { '': 21 }, functions = [], ...rest }) {
  const imports = Object.entries(opsets).map(([domain, version]) => new Writer().field(1, domain).field(2, version).bytes())
  return new Writer().field(1, ir).field(8, imports).field(7, graph(rest)).field(25, functions).bytes()
}

/** FunctionProto. */
export function functionProto ({ name, domain, inputs, outputs, nodes, attributes = [], opsets = { '': 21 } }) {
  const imports = Object.entries(opsets).map(([key, version]) => new Writer().field(1, key).field(2, version).bytes())
  return new Writer().field(1, name).field(4, inputs).field(5, outputs).field(6, attributes).field(7, nodes)
    .field(9, imports).field(10, domain).bytes()
}
