// Operators that move, pick, generate and interpolate elements; sequences, strings, control flow: edge cases whose results
// were worked out by hand or fixed by policy, each with every input given at run time and with all but the first constant.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { graph, model, node, tensor, value } from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

const arrays = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array, bool: Uint8Array
}

const make = (type, data) => type === 'string' ? data : arrays[type].from(type === 'int64' ? data.map(BigInt) : data)
const t = type => (dims, data) => ({ type, dims, data })
const [f32, i32, i64, bool, text] = ['float32', 'int32', 'int64', 'bool', 'string'].map(t)
const plain = x => Array.isArray(x) ? x.map(plain) : { type: x.type, dims: [...x.dims], data: Array.from(x.data, v => typeof v === 'string' ? v : Number(v)) }

async function execute (bytes, feeds, names) {
  const loaded = env.loadModel(bytes)
  const session = await env.createSession(loaded)
  try {
    const outputs = await session.run(Object.fromEntries(Object.entries(feeds).map(([name, x]) => [name, new Tensor(x.type, make(x.type, x.data), x.dims)])))
    return names.map(name => plain(outputs[name]))
  } finally {
    session.dispose()
    loaded.dispose()
  }
}

/** One node's results. constant: all inputs but the first are initializers. */
function run (opType, inputs, outputs, { attributes = {}, opset = 21, constant = false } = {}) {
  const names = inputs.map((x, i) => x ? `x${i}` : '')
  const outs = Array.from({ length: outputs }, (_, i) => `y${i}`)
  const fixed = i => constant && i > 0
  const bytes = model({
    opsets: { '': opset },
    nodes: [node(opType, names, outs, attributes)],
    inputs: inputs.flatMap((x, i) => x && !fixed(i) ? [value(`x${i}`, x.type, x.dims.map(() => null))] : []),
    initializers: inputs.flatMap((x, i) => x && fixed(i) ? [tensor(`x${i}`, x.type, x.dims, make(x.type, x.data))] : []),
    outputs: outs.map(untyped)
  })
  const feeds = Object.fromEntries(inputs.flatMap((x, i) => x && !fixed(i) ? [[`x${i}`, x]] : []))
  return execute(bytes, feeds, outs)
}

// ValueInfoProto that says its name alone.
function untyped (name) {
  const bytes = new TextEncoder().encode(name)
  return Uint8Array.from([10, bytes.length, ...bytes])
}

function near (actual, expected, tolerance) {
  assert.deepEqual([actual.type, actual.dims], [expected.type, expected.dims])
  expected.data.forEach((want, i) => {
    const got = actual.data[i]
    assert.ok(want === got || Object.is(want, got) || Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)), `element ${i} is ${got}, expected ${want}`)
  })
  assert.equal(actual.data.length, expected.data.length)
}

function check (title, opType, inputs, expected, options = {}) {
  for (const constant of inputs.length > 1 ? [false, true] : [false]) {
    it(constant ? `${title}, constants` : title, async () => {
      const results = await run(opType, inputs, expected.length, { ...options, constant })
      expected.forEach((want, i) => near(results[i], want, options.tolerance ?? 1e-6))
    })
  }
}

function fails (title, opType, inputs, pattern, options = {}) {
  for (const constant of inputs.length > 1 ? [false, true] : [false]) {
    it(constant ? `${title}, constants` : title, () => assert.rejects(run(opType, inputs, 1, { ...options, constant }), error => {
      assert.match(error.message, pattern)
      assert.equal(error.code, 'operator_failed')
      return true
    }))
  }
}

const iota = (n, from = 0) => Array.from({ length: n }, (_, i) => from + i)
const MAX = 2n ** 63n - 1n

describe('views', () => {
  check('Reshape: a copied 0 counts in the product', 'Reshape', [f32([2, 3, 1], iota(6)), i64([2], [0, -1])], [f32([2, 3], iota(6))])
  check('Reshape of nothing', 'Reshape', [f32([0, 10], []), i64([2], [-1, 10])], [f32([0, 10], [])])
  check('Reshape with allowzero', 'Reshape', [f32([0, 3], []), i64([2], [3, 0])], [f32([3, 0], [])], { attributes: { allowzero: 1n } })
  check('Reshape with allowzero and no zero', 'Reshape', [f32([2, 4], iota(8)), i64([3], [-1, 2, 4])], [f32([1, 2, 4], iota(8))], { attributes: { allowzero: 1n } })
  fails('Reshape: -1 beside a copied 0 of an empty axis', 'Reshape', [f32([0, 10], []), i64([3], [0, 1, -1])], /-1 in shape/)
  fails('Reshape: 0 and -1 with allowzero', 'Reshape', [f32([2, 3], iota(6)), i64([2], [0, -1])], /allowzero/, { attributes: { allowzero: 1n } })
  fails('Reshape: two -1', 'Reshape', [f32([2, 3], iota(6)), i64([2], [-1, -1])], /-1 twice/)
  fails('Reshape: -2', 'Reshape', [f32([2, 3], iota(6)), i64([2], [6, -2])], /shape\[1\] is -2/)
  fails('Reshape: another number of elements', 'Reshape', [f32([2, 3], iota(6)), i64([2], [4, 2])], /6 elements .* 8 elements/)
  check('Squeeze of strings', 'Squeeze', [text([1, 2, 1], ['a', 'żółw']), i64([1], [-1])], [text([1, 2], ['a', 'żółw'])])
  check('Flatten of a scalar', 'Flatten', [f32([], [7])], [f32([1, 1], [7])], { attributes: { axis: 0n } })
  check('Shape with its range clamped', 'Shape', [f32([2, 3, 4], iota(24))], [i64([2], [3, 4])], { attributes: { start: -2n, end: 99n } })
  check('Size of nothing', 'Size', [f32([2, 0], [])], [i64([], [0])])
})

describe('layout', () => {
  check('Slice backwards from the end', 'Slice', [f32([5], iota(5)), i64([1], [-1]), i64([1], [-MAX]), i64([1], [0]), i64([1], [-2])], [f32([3], [4, 2, 0])])
  check('Slice: forward bounds are clamped', 'Slice', [i64([5], iota(5)), i64([1], [-99]), i64([1], [MAX])], [i64([5], iota(5))])
  check('Slice with int32 bounds and unsorted axes', 'Slice', [f32([2, 3], iota(6)), i32([2], [1, 0]), i32([2], [3, 1]), i32([2], [-1, 0])], [f32([1, 2], [1, 2])])
  fails('Slice: a step of 0', 'Slice', [f32([5], iota(5)), i64([1], [0]), i64([1], [5]), i64([1], [0]), i64([1], [0])], /steps\[0\] is 0/)
  check('Pad: negative pads crop', 'Pad', [i32([4], [1, 2, 3, 4]), i64([2], [-1, 2])], [i32([5], [2, 3, 4, 0, 0])])
  check('Pad: reflect wider than the axis goes on', 'Pad', [f32([3], [0, 1, 2]), i64([2], [4, 5])], [f32([12], [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1])], { attributes: { mode: 'reflect' } })
  check('Pad: wrap wider than the axis goes on', 'Pad', [f32([2], [5, 6]), i64([2], [3, 2])], [f32([7], [6, 5, 6, 5, 6, 5, 6])], { attributes: { mode: 'wrap' } })
  check('Pad: cropping moves the window over the reflected input', 'Pad', [f32([4], iota(4)), i64([2], [-3, 3])], [f32([4], [3, 2, 1, 0])], { attributes: { mode: 'reflect' } })
  check('Pad of strings along one axis', 'Pad', [text([1, 2], ['a', 'b']), i64([2], [1, 0]), text([], ['-']), i64([1], [-1])], [text([1, 3], ['-', 'a', 'b'])])
  fails('Pad: more is cropped than there is', 'Pad', [f32([4], iota(4)), i64([2], [-3, -2])], /axis 0/)
  check('Split: the last part may be smaller', 'Split', [f32([7], iota(7))], [f32([3], [0, 1, 2]), f32([3], [3, 4, 5]), f32([1], [6])], { attributes: { num_outputs: 3n } })
  check('Split: and empty', 'Split', [f32([2], [1, 2])], [f32([1], [1]), f32([1], [2]), f32([0], [])], { attributes: { num_outputs: 3n } })
  it('Split: but not less than that', () => assert.rejects(run('Split', [f32([1], [1])], 3, { attributes: { num_outputs: 3n } }), /leaves -1/))
  check('Concat with an empty part', 'Concat', [text([0, 2], []), text([1, 2], ['x', 'y'])], [text([1, 2], ['x', 'y'])], { attributes: { axis: -2n } })
  check('Expand both ways', 'Expand', [i32([3, 1], [1, 2, 3]), i64([3], [2, 1, 2])], [i32([2, 3, 2], [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3])])
  check('Tile by 0', 'Tile', [f32([2], [1, 2]), i64([1], [0])], [f32([0], [])])
  check('CenterCropPad of odd differences', 'CenterCropPad', [i32([4], [1, 2, 3, 4]), i64([1], [7])], [i32([7], [0, 1, 2, 3, 4, 0, 0])])
  check('Trilu far from the diagonal', 'Trilu', [i32([2, 2], [1, 2, 3, 4]), i64([], [-MAX])], [i32([2, 2], [0, 0, 0, 0])], { attributes: { upper: 0n } })
})

describe('indices', () => {
  check('Gather by a negative scalar', 'Gather', [text([3], ['a', 'b', 'c']), i64([], [-1])], [text([], ['c'])])
  fails('Gather names index and place', 'Gather', [f32([3], iota(3)), i64([2], [0, -4])], /element 1 is -4.* 3 places/)
  fails('GatherElements names index and place', 'GatherElements', [f32([2, 2], iota(4)), i64([2, 1], [0, 2])], /element 1 is 2/, { attributes: { axis: 1n } })
  fails('ScatterND names index and place', 'ScatterND', [f32([2, 2], iota(4)), i64([1, 2], [1, -3]), f32([1], [9])], /element 1 is -3.*axis 1/)
  check('ScatterElements adds up what meets', 'ScatterElements', [f32([3], [1, 1, 1]), i64([4], [0, 0, -1, -1]), f32([4], [1, 2, 3, 4])], [f32([3], [4, 1, 8])], { attributes: { reduction: 'add' } })
  check('ScatterND of rows', 'ScatterND', [i64([3, 2], iota(6)), i64([2, 1], [2, 0]), i64([2, 2], [9, 8, 7, 6])], [i64([3, 2], [7, 6, 2, 3, 9, 8])])
  check('OneHot: what is out of range has no 1', 'OneHot', [i64([4], [0, -1, 3, -4]), i64([], [3]), f32([2], [-1, 1])], [f32([4, 3], [1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1])])
  check('NonZero of a scalar', 'NonZero', [f32([], [5])], [i64([0, 1], [])])
  check('Unique in order of appearance', 'Unique', [i64([6], [2, 1, 1, 3, 4, 3])], [i64([4], [2, 1, 3, 4]), i64([4], [0, 1, 3, 4]), i64([6], [0, 1, 1, 2, 3, 2]), i64([4], [1, 2, 2, 1])], { attributes: { sorted: 0n } })
  check('Unique: NaN is one value and the last', 'Unique', [f32([4], [NaN, 1, NaN, 0])], [f32([3], [0, 1, NaN]), i64([3], [3, 1, 0])])
  fails('Compress: true beyond the end', 'Compress', [f32([2], [1, 2]), bool([3], [1, 0, 1])], /condition\[2\]/)
  check('TensorScatter around the end', 'TensorScatter', [f32([1, 3, 1], [1, 2, 3]), f32([1, 2, 1], [8, 9]), i64([1], [2])], [f32([1, 3, 1], [9, 2, 8])], { attributes: { mode: 'circular' }, opset: 24 })
})

describe('generators', () => {
  check('ConstantOfShape of an empty shape', 'ConstantOfShape', [i64([0], [])], [f32([], [0])])
  check('ConstantOfShape with a 0', 'ConstantOfShape', [i64([2], [2, 0])], [f32([2, 0], [])])
  check('Range of the whole of int64', 'Range', [i64([], [-(2n ** 63n)]), i64([], [MAX]), i64([], [MAX])], [i64([3], [-(2n ** 63n), -1n, MAX - 1n].map(Number))])
  check('Range of floats', 'Range', [f32([], [1]), f32([], [2]), f32([], [0.25])], [f32([4], [1, 1.25, 1.5, 1.75])])
  fails('Range by 0', 'Range', [i64([], [1]), i64([], [2]), i64([], [0])], /delta is 0/)
  it('random numbers repeat with a seed attribute, and differ without', async () => {
    const draw = seed => run('RandomNormalLike', [f32([1000], iota(1000))], 1, { attributes: seed === undefined ? {} : { seed } })
    const [[a], [b], [c]] = [await draw(3.5), await draw(3.5), await draw()]
    assert.deepEqual(a, b)
    assert.notDeepEqual(a.data, c.data)
    const mean = a.data.reduce((sum, x) => sum + x, 0) / 1000
    const deviation = Math.sqrt(a.data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 1000)
    assert.ok(Math.abs(mean) < 0.15 && Math.abs(deviation - 1) < 0.15, `${mean} ${deviation}`)
  })
  it('Multinomial draws what is likely', async () => {
    const [drawn] = await run('Multinomial', [f32([1, 3], [-99, 0, Math.log(3)])], 1, { attributes: { sample_size: 4000n, seed: 1 } })
    const counts = [0, 1, 2].map(c => drawn.data.filter(x => x === c).length)
    assert.equal(counts[0], 0)
    assert.ok(Math.abs(counts[2] / 4000 - 0.75) < 0.05, String(counts))
  })
})

describe('images', () => {
  const line = (space, expected) => check(`Resize by 1.3 in ${space} is no identity`, 'Resize', [f32([2], [100, 200]), null, f32([1], [1.3])], [f32([2], expected)],
    { attributes: { mode: 'linear', coordinate_transformation_mode: space }, opset: 19 })
  line('half_pixel', [100, 165.384623])
  line('half_pixel_symmetric', [111.538459, 188.461541])
  // Place x of 64 comes from (x + 1/2) 26/64 - 1/2: ties are exact fractions.
  const nearest = iota(64).map(x => Math.min(25, Math.max(0, Math.floor(((2 * x + 1) * 26) / 128))))
  check('Resize 26 -> 64, ties upwards, by size', 'Resize', [f32([26], iota(26)), null, null, i64([1], [64])], [f32([64], nearest)], { attributes: { nearest_mode: 'round_prefer_ceil' }, opset: 19 })
  check('Resize 26 -> 64, ties upwards, by a rounded scale', 'Resize', [f32([26], iota(26)), null, f32([1], [64 / 26])], [f32([64], nearest)], { attributes: { nearest_mode: 'round_prefer_ceil' }, opset: 19 })
  check('Resize: an empty tensor is no roi', 'Resize', [f32([1, 2], [1, 2]), f32([0], []), f32([2], [1, 2])], [f32([1, 4], [1, 1, 2, 2])], { opset: 13 })
  fails('Resize: scales and sizes', 'Resize', [f32([2], [1, 2]), null, f32([1], [2]), i64([1], [4])], /both given/, { opset: 18 })
  check('NonMaxSuppression without a number of boxes', 'NonMaxSuppression', [f32([1, 1, 4], [0, 0, 1, 1]), f32([1, 1, 1], [0.9])], [i64([0, 3], [])], { opset: 11 })
  check('NonMaxSuppression: equal overlap is kept, ties by index', 'NonMaxSuppression',
    [f32([1, 3, 4], [0, 0, 1, 1, 1, 1, 0, 0.5, 5, 5, 6, 6]), f32([1, 1, 3], [0.5, 0.5, 0.9]), i64([1], [9]), f32([1], [0.5])], [i64([3, 3], [0, 0, 2, 0, 0, 0, 0, 0, 1])], { opset: 11 })
})

describe('strings', () => {
  check('StringConcat broadcasts', 'StringConcat', [text([2, 1], ['a', '']), text([2], ['x', 'ż'])], [text([2, 2], ['ax', 'aż', 'x', 'ż'])])
  check('StringSplit at white space', 'StringSplit', [text([3], [' a  b ', '', 'c'])], [text([3, 2], ['a', 'b', '', '', 'c', '']), i64([3], [2, 0, 1])])
  check('StringSplit once', 'StringSplit', [text([2], ['a--b--c', '--'])], [text([2, 2], ['a', 'b--c', '', '']), i64([2], [2, 2])], { attributes: { delimiter: '--', maxsplit: 1n } })
  check('StringNormalizer: nothing left', 'StringNormalizer', [text([1, 2], ['The', 'THE'])], [text([1, 1], [''])], { attributes: { stopwords: ['the'], is_case_sensitive: 0n } })
  check('StringNormalizer beyond ASCII', 'StringNormalizer', [text([2], ['Żółw', 'straße'])], [text([2], ['ŻÓŁW', 'STRASSE'])], { attributes: { case_change_action: 'UPPER' } })
})

describe('recurrent cells', () => {
  // W = R = 1, B = 0, f = identity: h(t) = x(t) + h(t - 1), so sums show the order.
  const attributes = { hidden_size: 1n, activations: ['Affine'], activation_alpha: [1], activation_beta: [0], direction: 'reverse' }
  check('a reversed sequence begins at its own end', 'RNN',
    [f32([3, 2, 1], [1, 10, 2, 20, 3, 30]), f32([1, 1, 1], [1]), f32([1, 1, 1], [1]), null, i32([2], [3, 2])],
    [f32([3, 1, 2, 1], [6, 30, 5, 20, 3, 0]), f32([1, 2, 1], [6, 30])], { attributes })
  check('GRU keeps its state past the end', 'GRU',
    [f32([2, 1, 1], [1, 1]), f32([1, 3, 1], [0, 0, 0]), f32([1, 3, 1], [0, 0, 0]), null, i32([1], [1]), f32([1, 1, 1], [8])],
    [f32([2, 1, 1, 1], [4, 0]), f32([1, 1, 1], [4])], { attributes: { hidden_size: 1n } })
})

describe('sequences', () => {
  const sequence = (nodes, inputs, outputs) => execute(model({ opsets: { '': 21 }, nodes, inputs: Object.entries(inputs).map(([name, x]) => value(name, x.type, x.dims)), outputs: outputs.map(untyped) }), inputs, outputs)
  const [a, b, p] = [f32([1], [1]), f32([2], [2, 3]), i64([], [-1])]

  it('inserts and erases at negative positions', async () => {
    const [inserted, erased, length] = await sequence([
      node('SequenceConstruct', ['a', 'b'], ['s']), node('SequenceInsert', ['s', 'a', 'p'], ['i']),
      node('SequenceErase', ['i', 'p'], ['e']), node('SequenceLength', ['e'], ['n'])
    ], { a, b, p }, ['i', 'e', 'n'])
    assert.deepEqual(inserted, [a, a, b])
    assert.deepEqual(erased, [a, a])
    assert.deepEqual(length, i64([], [2]))
  })
  it('a sequence that is still needed is not changed by an insertion', async () => {
    const [before, changed] = await sequence([
      node('SequenceConstruct', ['a'], ['s']), node('SequenceInsert', ['s', 'b'], ['i']), node('Identity', ['s'], ['o'])
    ], { a, b }, ['o', 'i'])
    assert.deepEqual(before, [a])
    assert.deepEqual(changed, [a, b])
  })
  it('a position outside fails with both figures', () => assert.rejects(sequence([
    node('SequenceConstruct', ['a'], ['s']), node('SequenceAt', ['s', 'q'], ['y'])
  ], { a, q: i64([], [1]) }, ['y']), /position 1 .* 1 elements/))
  it('splits by a scalar and drops the axis only without one', async () => {
    const x = f32([3, 1], [1, 2, 3])
    const [parts, rows] = await sequence([
      node('SplitToSequence', ['x', 'two'], ['p'], { keepdims: 0n }), node('SplitToSequence', ['x'], ['r'], { keepdims: 0n })
    ], { x, two: i64([], [2]) }, ['p', 'r'])
    assert.deepEqual(parts, [f32([2, 1], [1, 2]), f32([1, 1], [3])])
    assert.deepEqual(rows, [f32([1], [1]), f32([1], [2]), f32([1], [3])])
  })
  it('joins along a new axis', async () => {
    const [y] = await sequence([node('SequenceConstruct', ['b', 'b'], ['s']), node('ConcatFromSequence', ['s'], ['y'], { axis: -1n, new_axis: 1n })], { b }, ['y'])
    assert.deepEqual(y, f32([2, 2], [2, 2, 3, 3]))
  })
})

describe('control flow', () => {
  const scalar = (name, type, data) => tensor(name, type, [], make(type, data))
  const body = (nodes, outputs, initializers = []) => graph({
    nodes, initializers, inputs: [value('i', 'int64', []), value('c', 'bool', []), untyped('v')], outputs: outputs.map(untyped)
  })
  const doubled = body([node('Identity', ['c'], ['d']), node('Concat', ['v', 'v'], ['w'], { axis: 0n }), node('Cast', ['i'], ['s'], { to: 1n })], ['d', 'w', 's'])
  const loop = (trips, graphBytes) => execute(model({
    opsets: { '': 21 },
    nodes: [node('Loop', ['m', '', 'x'], ['y', 'z'], { body: { graph: graphBytes } })],
    initializers: [scalar('m', 'int64', [trips])],
    inputs: [value('x', 'float32', [null])],
    outputs: ['y', 'z'].map(untyped)
  }), { x: f32([1], [7]) }, ['y', 'z'])

  it('a carried value may grow', async () => assert.deepEqual(await loop(3, doubled), [f32([8], Array(8).fill(7)), f32([3], [0, 1, 2])]))
  it('no iteration gives the initial value and empty scan outputs', async () => assert.deepEqual(await loop(0, doubled), [f32([1], [7]), f32([0], [])]))
  it('a negative trip count is none', async () => assert.deepEqual(await loop(-5, doubled), [f32([1], [7]), f32([0], [])]))
  it('a scan output must keep its shape', () => assert.rejects(loop(2, body([node('Identity', ['c'], ['d']), node('Concat', ['v', 'v'], ['w'], { axis: 0n })], ['d', 'w', 'w'])), /another type or shape/))
  it('Scan along inner axes and backwards', async () => {
    const sum = graph({ nodes: [node('Add', ['h', 'e'], ['o']), node('Identity', ['o'], ['p'])], inputs: ['h', 'e'].map(untyped), outputs: ['o', 'p'].map(untyped) })
    const [y, z] = await execute(model({
      opsets: { '': 21 },
      nodes: [node('Scan', ['h', 'x'], ['y', 'z'], { body: { graph: sum }, num_scan_inputs: 1n, scan_input_axes: [-1n], scan_input_directions: [1n], scan_output_axes: [1n], scan_output_directions: [1n] })],
      inputs: [value('h', 'float32', [2]), value('x', 'float32', [2, 3])],
      outputs: ['y', 'z'].map(untyped)
    }), { h: f32([2], [0, 0]), x: f32([2, 3], [1, 2, 3, 10, 20, 30]) }, ['y', 'z'])
    assert.deepEqual(y, f32([2], [6, 60]))
    assert.deepEqual(z, f32([2, 3], [6, 5, 3, 60, 50, 30]))
  })
  it('Scan of version 8 pads short sequences', async () => {
    const sum = graph({ nodes: [node('Add', ['h', 'e'], ['o']), node('Identity', ['o'], ['p'])], inputs: ['h', 'e'].map(untyped), outputs: ['o', 'p'].map(untyped) })
    const [y, z] = await execute(model({
      opsets: { '': 8 },
      nodes: [node('Scan', ['n', 'h', 'x'], ['y', 'z'], { body: { graph: sum }, num_scan_inputs: 1n })],
      inputs: [value('n', 'int64', [2]), value('h', 'float32', [2, 1]), value('x', 'float32', [2, 2, 1])],
      outputs: ['y', 'z'].map(untyped)
    }), { n: i64([2], [0, 2]), h: f32([2, 1], [100, 0]), x: f32([2, 2, 1], [1, 2, 3, 4]) }, ['y', 'z'])
    assert.deepEqual(y, f32([2, 1], [100, 7]))
    assert.deepEqual(z, f32([2, 2, 1], [0, 0, 3, 7]))
  })
  it('SequenceMap over an empty sequence', async () => {
    const length = graph({ nodes: [node('Size', ['e'], ['n'])], inputs: [untyped('e')], outputs: [untyped('n')] })
    const [n] = await execute(model({
      opsets: { '': 21 },
      nodes: [node('SequenceEmpty', [], ['s']), node('SequenceMap', ['s'], ['m'], { body: { graph: length } }), node('SequenceLength', ['m'], ['n'])],
      outputs: [untyped('n')]
    }), {}, ['n'])
    assert.deepEqual(n, i64([], [0]))
  })
})
