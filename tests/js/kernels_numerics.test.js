// What operators answer where implementations differ: results worked out by hand or fixed by policy, each computed twice,
// with every input given at run time and with all but the first as constants of the model.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { dataTypes, model, node, tensor, value } from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, int4: Int8Array
}

const typed = (type, data) => type === 'string'
  ? data
  : arrays[type].from(type.endsWith('64') && type !== 'float64' ? data.map(BigInt) : data)
const f32 = (dims, data) => ({ type: 'float32', dims, data })
const f64 = (dims, data) => ({ type: 'float64', dims, data })
const i32 = (dims, data) => ({ type: 'int32', dims, data })
const i64 = (dims, data) => ({ type: 'int64', dims, data })
const iota = (n, from = 0) => Array.from({ length: n }, (_, i) => from + i)

async function run (opType, inputs, outputTypes, { attributes = {}, opset = 22, constant = false }) {
  const names = inputs.map((x, i) => x ? `x${i}` : '')
  const given = inputs.map((x, i) => ({ x, i })).filter(({ x }) => x)
  const isConstant = i => constant && i > 0
  const bytes = model({
    opsets: { '': opset },
    nodes: [node(opType, names, outputTypes.map((_, i) => `y${i}`), attributes)],
    inputs: given.filter(({ i }) => !isConstant(i)).map(({ x, i }) => value(`x${i}`, x.type, x.dims)),
    initializers: given.filter(({ i }) => isConstant(i)).map(({ x, i }) => tensor(`x${i}`, x.type, x.dims, typed(x.type, x.data))),
    outputs: outputTypes.map((type, i) => value(`y${i}`, type))
  })
  const loaded = env.loadModel(bytes)
  const session = await env.createSession(loaded)
  const feeds = Object.fromEntries(given.filter(({ i }) => !isConstant(i))
    .map(({ x, i }) => [`x${i}`, new Tensor(x.type, typed(x.type, x.data), x.dims)]))
  const outputs = await session.run(feeds)
  const results = outputTypes.map((_, i) => ({
    type: outputs[`y${i}`].type, dims: [...outputs[`y${i}`].dims], data: Array.from(outputs[`y${i}`].data, v => typeof v === 'string' ? v : Number(v))
  }))
  session.dispose()
  loaded.dispose()
  return results
}

function near (actual, expected, tolerance, what) {
  assert.equal(actual.length, expected.length, what)
  expected.forEach((want, i) => {
    const got = actual[i]
    const same = Object.is(want, got) || want === got ||
      (typeof want === 'number' && Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)))
    assert.ok(same, `${what}: element ${i} is ${got}, expected ${want}`)
  })
}

/** One node: its inputs, what its outputs are ({ type, dims, data }). */
function check (title, opType, inputs, expected, options = {}) {
  for (const constant of inputs.length > 1 ? [false, true] : [false]) {
    it(constant ? `${title}, constants` : title, async () => {
      const results = await run(opType, inputs, expected.map(e => e.type), { ...options, constant })
      expected.forEach((want, i) => {
        assert.equal(results[i].type, want.type)
        assert.deepEqual(results[i].dims, want.dims)
        near(results[i].data, want.data, options.tolerance ?? 1e-5, `output ${i}`)
      })
    })
  }
}

function fails (title, opType, inputs, outputTypes, pattern, options = {}) {
  it(title, () => assert.rejects(run(opType, inputs, outputTypes, options), error => {
    assert.match(error.message, pattern)
    assert.equal(error.code, 'operator_failed')
    return true
  }))
}

const MIN = -2147483648

describe('integers', () => {
  check('Div of the least by -1 stays the least', 'Div', [i32([1], [MIN]), i32([1], [-1])], [i32([1], [MIN])])
  check('Mod of the least by -1 is 0', 'Mod', [i32([1], [MIN]), i32([1], [-1])], [i32([1], [0])])
  check('Div truncates', 'Div', [i64([4], [8, -8, 7, -7]), i64([4], [-3, 3, -2, 2])], [i64([4], [-2, -2, -3, -3])])
  check('Mod takes the sign of the divisor', 'Mod', [i32([4], [-4, 7, 5, -7]), i32([4], [2, -3, 8, 4])], [i32([4], [0, -2, 5, 1])])
  check('Mod with fmod takes that of the dividend', 'Mod', [i32([2], [-7, 7]), i32([2], [4, -4])], [i32([2], [-3, 3])],
    { attributes: { fmod: 1n } })
  fails('Div by zero names the element', 'Div', [i32([3], [1, 2, 3]), i32([3], [1, 0, 1])], ['int32'], /element 1/)
  fails('Mod by a broadcast zero', 'Mod', [i64([2, 2], [1, 2, 3, 4]), i64([2], [3, 0])], ['int64'], /element 1/)
  check('BitShift beyond the width', 'BitShift', [{ type: 'uint8', dims: [3], data: [255, 255, 255] },
    { type: 'uint8', dims: [3], data: [1, 8, 200] }], [{ type: 'uint8', dims: [3], data: [127, 0, 0] }],
  { attributes: { direction: 'RIGHT' }, opset: 11 })
  check('Pow of an integer to a float', 'Pow', [i32([3], [1, 2, 3]), f32([3], [4, 5, 2])], [i32([3], [1, 32, 9])])
  check('Pow of a float to an integer', 'Pow', [f32([3], [1, 2, 3]), i64([3], [4, 5, 2])], [f32([3], [1, 32, 9])])
})

describe('casts', () => {
  const wild = f32([6], [300, NaN, Infinity, -Infinity, 50, -50])
  check('float to int8 keeps the low bits of the saturated int32', 'Cast', [wild],
    [{ type: 'int8', dims: [6], data: [44, 0, -1, 0, 50, -50] }], { attributes: { to: BigInt(dataTypes.int8) } })
  check('float to int32 saturates, NaN is 0', 'Cast', [f32([5], [3e9, NaN, Infinity, -Infinity, -2.9])],
    [i32([5], [2147483647, 0, 2147483647, MIN, -2])], { attributes: { to: BigInt(dataTypes.int32) } })
  check('float to text', 'Cast', [f32([6], [1, 1e20, 1e-7, 16777216, NaN, -0])],
    [{ type: 'string', dims: [6], data: ['1.0', '1e+20', '1e-07', '1.6777216e+07', 'nan', '-0.0'] }],
    { attributes: { to: BigInt(dataTypes.string) } })
  check('double to text', 'Cast', [f64([4], [0.1, 1e16, 123456789, -2.5e-5])],
    [{ type: 'string', dims: [4], data: ['0.1', '1e+16', '123456789.0', '-2.5e-05'] }], { attributes: { to: BigInt(dataTypes.string) } })
  check('text to float', 'Cast', [{ type: 'string', dims: [5], data: ['NaN', '-INF', ' 1e-5 ', '+inf', '3.14'] }],
    [f32([5], [NaN, -Infinity, Math.fround(1e-5), Infinity, Math.fround(3.14)])], { attributes: { to: BigInt(dataTypes.float32) } })
  check('text to int64 is exact', 'Cast', [{ type: 'string', dims: [3], data: ['9007199254740992', '-7', '100.5'] }],
    [i64([3], [9007199254740992, -7, 100])], { attributes: { to: BigInt(dataTypes.int64) } })
  fails('text that is no number', 'Cast', [{ type: 'string', dims: [2], data: ['1', '0x10'] }], ['float32'], /element 1.*0x10/,
    { attributes: { to: BigInt(dataTypes.float32) } })
  check('float to int4 wraps', 'Cast', [f32([3], [9, 3.7, -9])], [{ type: 'int4', dims: [3], data: [-7, 3, 7] }],
    { attributes: { to: BigInt(dataTypes.int4) } })
})

describe('NaN', () => {
  check('TopK ranks NaN highest, lower index first', 'TopK', [f32([6], [1, NaN, 3, 3, NaN, 2]), i64([1], [4])],
    [f32([4], [NaN, NaN, 3, 3]), i64([4], [1, 4, 2, 3])])
  check('TopK of the smallest', 'TopK', [f32([5], [3, 1, NaN, 1, 2]), i64([1], [3])], [f32([3], [1, 1, 2]), i64([3], [1, 3, 4])],
    { attributes: { largest: 0n } })
  check('ReduceMax propagates', 'ReduceMax', [f32([2, 2], [NaN, 1, 2, NaN]), i64([1], [1])], [f32([2, 1], [NaN, NaN])])
  check('Max propagates with one broadcast element', 'Max', [f32([3], [NaN, 1, 5]), f32([1], [2])], [f32([3], [NaN, 2, 5])])
  check('Min propagates from either side', 'Min', [f32([2], [1, NaN]), f32([2], [NaN, 1])], [f32([2], [NaN, NaN])])
  check('Clip lets NaN pass', 'Clip', [f32([3], [NaN, -3, 9]), f32([], [0]), f32([], [6])], [f32([3], [NaN, 0, 6])])
  check('Clip with crossed bounds is the upper one', 'Clip', [f32([3], [-2, 0, 6]), f32([], [2]), f32([], [1])], [f32([3], [1, 1, 1])])
  check('Relu lets NaN pass', 'Relu', [f32([2], [NaN, -1])], [f32([2], [NaN, 0])])
  check('ArgMax takes the first NaN', 'ArgMax', [f32([4], [1, NaN, 5, NaN])], [i64([1], [1])])
})

describe('reductions', () => {
  check('squares are taken where nothing is reduced', 'ReduceSumSquare', [f32([2], [2, 3])], [f32([2], [4, 9])],
    { attributes: { noop_with_empty_axes: 1n } })
  check('empty axes reduce all', 'ReduceSum', [f32([2, 2], [1, 2, 3, 4]), i64([0], [])], [f32([1, 1], [10])])
  check('axes apart', 'ReduceMean', [f32([2, 3, 2], iota(12)), i64([2], [0, -1])], [f32([1, 3, 1], [3.5, 5.5, 7.5])])
  check('integer mean of axes apart truncates once', 'ReduceMean', [i32([2, 1, 2], [1, 2, 2, 2]), i64([2], [0, 2])], [i32([1, 1, 1], [1])])
  check('of nothing: the least', 'ReduceMax', [f32([0, 2], []), i64([1], [0])], [f32([1, 2], [-Infinity, -Infinity])])
  check('of nothing: one', 'ReduceProd', [f32([0, 2], []), i64([1], [0])], [f32([1, 2], [1, 1])])
  check('LogSumExp does not overflow', 'ReduceLogSumExp', [f32([2], [1000, 1000]), i64([1], [0])], [f32([1], [1000.6931])])
  check('axes as an attribute', 'ReduceMax', [f32([2, 2], [1, 5, 3, 2])], [f32([2], [5, 3])],
    { attributes: { axes: [1n], keepdims: 0n }, opset: 11 })
  check('CumSum exclusive and reverse', 'CumSum', [f32([4], [1, 2, 3, 4]), i32([], [0])], [f32([4], [9, 7, 4, 0])],
    { attributes: { exclusive: 1n, reverse: 1n } })
})

describe('windows', () => {
  for (const opset of [10, 11, 19, 22]) {
    check(`AveragePool in ceil mode counts pads, not what is beyond, operator set ${opset}`, 'AveragePool', [f32([1, 1, 4, 4], iota(16, 1))],
      [f32([1, 1, 3, 3], [14 / 9, 10 / 3, 2, 19 / 3, 11, 6, 4.5, 7.5, 4])],
      { attributes: { kernel_shape: [3n, 3n], strides: [2n, 2n], pads: [1n, 1n, 1n, 1n], ceil_mode: 1n, count_include_pad: 1n }, opset })
  }
  check('MaxPool indices in column-major order', 'MaxPool', [f32([1, 2, 2, 4], [0, 1, 2, 9, 3, 8, 4, 5, 7, 0, 0, 0, 0, 0, 0, 6])],
    [f32([1, 2, 1, 2], [8, 9, 7, 6]), i64([1, 2, 1, 2], [3, 6, 8, 15])],
    { attributes: { kernel_shape: [2n, 2n], strides: [2n, 2n], storage_order: 1n } })
  check('MaxPool dilated, with indices', 'MaxPool', [f32([1, 1, 9], [1, 9, 2, 8, 3, 7, 4, 6, 5])],
    [f32([1, 1, 9], [9, 2, 9, 3, 8, 4, 7, 5, 6]), i64([1, 1, 9], [1, 2, 1, 4, 3, 6, 5, 8, 7])],
    { attributes: { kernel_shape: [2n], dilations: [2n], pads: [1n, 1n] } })
  check('MaxPool of int8 pads with the least', 'MaxPool', [{ type: 'int8', dims: [1, 1, 2], data: [-100, -50] }],
    [{ type: 'int8', dims: [1, 1, 3], data: [-100, -50, -50] }], { attributes: { kernel_shape: [2n], pads: [1n, 1n] } })
  check('ConvTranspose, SAME_UPPER with output padding', 'ConvTranspose', [f32([1, 1, 3, 3], Array(9).fill(1)), f32([1, 1, 3, 3], Array(9).fill(1))],
    [f32([1, 1, 6, 6], [1, 2, 1, 2, 1, 1, 2, 4, 2, 4, 2, 2, 1, 2, 1, 2, 1, 1, 2, 4, 2, 4, 2, 2, 1, 2, 1, 2, 1, 1, 1, 2, 1, 2, 1, 1])],
    { attributes: { strides: [2n, 2n], auto_pad: 'SAME_UPPER', output_padding: [1n, 1n] } })
  check('Conv of double in four axes', 'Conv', [f64([1, 1, 2, 1, 2, 2], iota(8)), f64([1, 1, 2, 1, 1, 1], [1, 10])],
    [f64([1, 1, 1, 1, 2, 2], [40, 51, 62, 73])])
  check('Conv in groups, dilated, with bias', 'Conv', [f32([1, 2, 4], iota(8)), f32([2, 1, 2], [1, 1, 1, -1]), f32([2], [10, 20])],
    [f32([1, 2, 2], [12, 14, 18, 18])], { attributes: { group: 2n, dilations: [2n] } })
})

describe('normalization', () => {
  check('Softmax 11 sees two axes', 'Softmax', [f32([1, 2, 2], [0, 0, 0, 0])], [f32([1, 2, 2], [0.25, 0.25, 0.25, 0.25])],
    { attributes: { axis: 1n }, opset: 11 })
  check('Softmax 13 sees one', 'Softmax', [f32([1, 2, 2], [0, 0, 0, 0])], [f32([1, 2, 2], [0.5, 0.5, 0.5, 0.5])],
    { attributes: { axis: 1n }, opset: 13 })
  const batch = [f32([2, 1, 2], [1, 2, 3, 4]), f32([1], [2]), f32([1], [1]), f32([1], [10]), f32([1], [4])]
  check('BatchNormalization 9 with one output uses what it is given', 'BatchNormalization', batch,
    [f32([2, 1, 2], [-8, -7, -6, -5])], { opset: 9, attributes: { epsilon: 0 } })
  const d = Math.sqrt(1.25)
  check('BatchNormalization 9 with five outputs trains', 'BatchNormalization', batch,
    [f32([2, 1, 2], [-3 / d + 1, -1 / d + 1, 1 / d + 1, 3 / d + 1]), f32([1], [9.25]), f32([1], [3.725]), f32([1], [2.5]), f32([1], [1.25])],
    { opset: 9, attributes: { epsilon: 0 } })
  check('LayerNormalization scales by what broadcasts', 'LayerNormalization', [f32([2, 2], [1, 3, 5, 9]), f32([2, 1], [1, 2])],
    [f32([2, 2], [-1, 1, -2, 2])], { attributes: { epsilon: 0 } })
  check('LpNormalization of zeros stays zero', 'LpNormalization', [f32([2, 2], [0, 0, 3, 4])], [f32([2, 2], [0, 0, 0.6, 0.8])])
})

describe('quantization', () => {
  const half = { type: 'float16', dims: [2], data: [0x2a67, 0xaa67] } // +-0.050018310546875
  check('float16 rounds halves to even after the division', 'QuantizeLinear', [half, { type: 'float16', dims: [], data: [0x2e66] },
    { type: 'int8', dims: [], data: [0] }], [{ type: 'int8', dims: [2], data: [1, -1] }])
  check('rounds before the zero point is added', 'QuantizeLinear', [f32([4], [0.5, 1.5, -0.5, 1e10]), f32([], [1]),
    { type: 'uint8', dims: [], data: [1] }], [{ type: 'uint8', dims: [4], data: [1, 3, 1, 255] }])
  check('int4 in blocks, the last one cut', 'DequantizeLinear', [{ type: 'int4', dims: [1, 3], data: [-8, 7, 2] }, f32([1, 2], [1, 10])],
    [f32([1, 3], [-8, 7, 20])], { attributes: { block_size: 2n, axis: 1n } })
  check('DynamicQuantizeLinear of zeros', 'DynamicQuantizeLinear', [f32([2], [0, 0])],
    [{ type: 'uint8', dims: [2], data: [0, 0] }, f32([], [1 / 255]), { type: 'uint8', dims: [], data: [0] }])
  check('MatMulInteger with a zero point a row', 'MatMulInteger', [{ type: 'uint8', dims: [2, 2], data: [1, 2, 3, 4] },
    { type: 'int8', dims: [2, 2], data: [1, -1, 2, -2] }, { type: 'uint8', dims: [2], data: [1, 2] }], [i32([2, 2], [2, -2, 5, -5])])
})

describe('products', () => {
  const a = iota(24)
  const sums = [] // over c of a[i][j][c] b[c][d], times the sum of the third operand
  for (let ab = 0; ab < 6; ab++)
    for (let e = 0; e < 2; e++)
      sums.push(iota(4).reduce((sum, c) => sum + a[ab * 4 + c] * (c * 2 + e), 0) * (e === 0 ? 6 : 22))
  check('Einsum of three operands sums what the output leaves out', 'Einsum', [f32([2, 3, 4], a), f32([4, 2], iota(8)), f32([2, 2, 2], iota(8))],
    [f32([2, 3, 2], sums)], { attributes: { equation: 'abc,cd,def->abd' } })
  check('Einsum of a diagonal', 'Einsum', [f32([2, 2], [1, 2, 3, 4])], [f32([2], [1, 4])], { attributes: { equation: 'ii->i' } })
  check('MatMul broadcasts leading dims', 'MatMul', [f32([2, 1, 1, 2], [1, 2, 3, 4]), f32([3, 2, 1], iota(6))],
    [f32([2, 3, 1, 1], [2, 8, 14, 4, 18, 32])])
  check('MatMul of vectors', 'MatMul', [f32([3], [1, 2, 3]), f32([3], [4, 5, 6])], [f32([], [32])])
  check('MatMul of int32', 'MatMul', [i32([1, 2], [3, 4]), i32([2, 1], [5, 6])], [i32([1, 1], [39])])
  check('Gemm, both turned, scaled, C a column', 'Gemm', [f32([2, 2], [1, 3, 2, 4]), f32([2, 2], [5, 7, 6, 8]), f32([2, 1], [10, 20])],
    [f32([2, 2], [43, 49, 96, 110])],
    { attributes: { transA: 1n, transB: 1n, alpha: 2, beta: 0.5 } })
  check('Gemm 6 without broadcast', 'Gemm', [f32([1, 2], [1, 2]), f32([2, 1], [3, 4]), f32([1, 1], [5])], [f32([1, 1], [16])], { opset: 6 })
})

describe('operator sets before 7', () => {
  check('Add 6 lays B under an axis', 'Add', [f32([2, 3, 1], iota(6)), f32([3], [10, 20, 30])], [f32([2, 3, 1], [10, 21, 32, 13, 24, 35])],
    { attributes: { broadcast: 1n, axis: 1n }, opset: 6 })
  check('PRelu 6 has a slope per channel', 'PRelu', [f32([1, 2, 2], [-1, 1, -2, 2]), f32([2], [0.5, 0.25])],
    [f32([1, 2, 2], [-0.5, 1, -0.5, 2])], { opset: 6 })
  check('Clip 6 has attributes', 'Clip', [f32([3], [-9, 0.5, 9])], [f32([3], [-1, 0.5, 1])], { attributes: { min: -1, max: 1 }, opset: 6 })
  fails('Add 6 without broadcast wants one shape', 'Add', [f32([2], [1, 2]), f32([1], [1])], ['float32'], /B/, { opset: 6 })
})

describe('dropout', () => {
  check('training repeats NumPy with a seed', 'Dropout', [f32([5], [1, 1, 1, 1, 1]), f32([], [0.5]), { type: 'bool', dims: [], data: [1] }],
    // RandomState(0): .5488, .7152, .6028, .5449, .4237
    [f32([5], [2, 2, 2, 2, 0]), { type: 'bool', dims: [5], data: [1, 1, 1, 1, 0] }], { attributes: { seed: 0n } })
  check('inference keeps all', 'Dropout', [f32([2], [1, 2])], [f32([2], [1, 2]), { type: 'bool', dims: [2], data: [1, 1] }])
})
