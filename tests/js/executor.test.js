// The executor through the package: fusion changes no value, bodies and sequences stay flat, faults name their node.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import { seededFloats } from '../golden/models.js'
import * as onnx from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

const float = (name, dims) => onnx.value(name, 'float32', dims)
const size = dims => dims.reduce((a, b) => a * b, 1)
const weights = (name, dims, seed) => onnx.tensor(name, 'float32', dims, seededFloats(seed, size(dims)))
const bits = tensor => [...new Uint32Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.length)]

/** Runs a model once for its last value, and once for all of its values, which keeps every node apart. */
async function fusedAndApart (bytes, feeds, values) {
  const session = await env.createSession(bytes)
  const last = values.at(-1)
  const fused = (await session.run(feeds))[last]
  const apart = (await session.run(feeds, { outputs: values }))[last]
  session.dispose()
  return { fused, apart }
}

describe('fusion', () => {
  it('a chain of element-wise nodes with broadcasts gives the same bits', async () => {
    const dims = [2, 3, 5, 7]
    const bytes = onnx.model({
      ir: 8,
      opsets: { '': 17 },
      initializers: [weights('channel', [3, 1, 1], 2), weights('row', [7], 3), weights('one', [], 4)],
      inputs: [float('x', dims), float('z', dims)],
      outputs: [float('g', dims)],
      nodes: [
        onnx.node('Add', ['x', 'channel'], ['a']),
        onnx.node('Mul', ['row', 'a'], ['b']),
        onnx.node('Sigmoid', ['b'], ['c']),
        onnx.node('Sub', ['one', 'c'], ['d']),
        onnx.node('Mul', ['d', 'z'], ['e']),
        onnx.node('Tanh', ['e'], ['f']),
        onnx.node('Mul', ['f', 'x'], ['g'])
      ]
    })
    const feeds = { x: new Tensor('float32', seededFloats(5, 210), dims), z: new Tensor('float32', seededFloats(6, 210), dims) }
    const { fused, apart } = await fusedAndApart(bytes, feeds, [...'abcdefg'])
    assert.deepEqual(bits(fused), bits(apart))
    const x = feeds.x.data[0], z = feeds.z.data[0]
    const d = seededFloats(4, 1)[0] - 1 / (1 + Math.exp(-(x + seededFloats(2, 1)[0]) * seededFloats(3, 1)[0]))
    assert.ok(Math.abs(fused.data[0] - Math.tanh(d * z) * x) < 1e-6)
  })

  for (const [what, tail] of [
    ['activation', [onnx.node('LeakyRelu', ['c'], ['y'], { alpha: 0.25 })]],
    ['channel scale, shift and activation', [onnx.node('Mul', ['c', 'scale'], ['m']), onnx.node('Add', ['shift', 'm'], ['s']), onnx.node('Relu', ['s'], ['y'])]],
    ['residual and activation', [onnx.node('Add', ['r', 'c'], ['s']), onnx.node('Relu', ['s'], ['y'])]],
    ['normalisation and activation', [onnx.node('BatchNormalization', ['c', 'g', 'b', 'mean', 'var'], ['n']), onnx.node('Relu', ['n'], ['y'])]]
  ]) {
    for (const [kind, kernel, group] of [['dense', 3, 1], ['pointwise', 1, 1], ['depthwise', 3, 4]]) {
      it(`${kind} convolution with ${what}: the fused result is that of single nodes`, async () => {
        const outputs = tail.length === 1 ? ['c', 'y'] : tail.length === 3 ? ['c', 'm', 's', 'y'] : what.startsWith('norm') ? ['c', 'n', 'y'] : ['c', 's', 'y']
        const vector = (name, seed, shape = [4]) => onnx.tensor(name, 'float32', shape, seededFloats(seed, 4).map(v => v + 1.5))
        const bytes = onnx.model({
          ir: 8,
          opsets: { '': 17 },
          initializers: [weights('w', [4, 4 / group, kernel, kernel], 1), weights('bias', [4], 2), vector('scale', 3, [4, 1, 1]), vector('shift', 4, [1, 4, 1, 1]), vector('g', 5), vector('b', 6), vector('mean', 7), vector('var', 8)],
          inputs: [float('x', [2, 4, 9, 11]), float('r', [2, 4, 9, 11])],
          outputs: [float('y', [2, 4, 9, 11])],
          nodes: [onnx.node('Conv', ['x', 'w', 'bias'], ['c'], { pads: Array(4).fill(BigInt(kernel >> 1)), group: BigInt(group) }), ...tail]
        })
        const dims = [2, 4, 9, 11]
        const feeds = { x: new Tensor('float32', seededFloats(9, size(dims)), dims), r: new Tensor('float32', seededFloats(10, size(dims)), dims) }
        const { fused, apart } = await fusedAndApart(bytes, feeds, outputs)
        assert.deepEqual(fused.dims, apart.dims)
        const off = Math.max(...apart.data.map((v, i) => Math.abs(v - fused.data[i])))
        assert.ok(off < 1e-5, `off by ${off}`)
      })
    }
  }

  it('a value that is read twice is not fused away', async () => {
    const bytes = onnx.model({
      ir: 8,
      opsets: { '': 17 },
      inputs: [float('x', [4])],
      outputs: [float('y', [4])],
      nodes: [onnx.node('Exp', ['x'], ['e']), onnx.node('Neg', ['e'], ['n']), onnx.node('Mul', ['e', 'n'], ['y'])]
    })
    const session = await env.createSession(bytes)
    const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(0, 1, 2, 3), [4]) })
    y.data.forEach((v, i) => assert.ok(Math.abs(v + Math.exp(2 * i)) <= 1e-4 * Math.exp(2 * i)))
    session.dispose()
  })

  it('runs again with other shapes', async () => {
    const bytes = onnx.model({
      ir: 8,
      opsets: { '': 17 },
      initializers: [weights('w', [3, 2, 3, 3], 1)],
      inputs: [float('x', ['N', 2, 'H', 'W'])],
      outputs: [float('y', ['N', 3, null, null])],
      nodes: [onnx.node('Conv', ['x', 'w'], ['c'], { pads: [1n, 1n, 1n, 1n] }), onnx.node('Relu', ['c'], ['y'])]
    })
    const session = await env.createSession(bytes)
    for (let i = 1; i < 14; i++) {
      const dims = [1 + i % 2, 2, i, 2 * i]
      const { y } = await session.run({ x: new Tensor('float32', seededFloats(i, size(dims)), dims) })
      assert.deepEqual(y.dims, [dims[0], 3, i, 2 * i])
    }
    session.dispose()
  })
})

describe('control flow', () => {
  const scalar = (name, type, data) => onnx.tensor(name, type, [], data)

  /** x doubled and halved in turn, ended by the trip count. */
  function loop (iterations) {
    const body = onnx.graph({
      inputs: [onnx.value('i', 'int64', []), onnx.value('go', 'bool', []), float('s', [2])],
      outputs: [onnx.value('on', 'bool', []), float('t', [2])],
      nodes: [
        onnx.node('Mod', ['i', 'two'], ['odd']),
        onnx.node('Cast', ['odd'], ['even'], { to: 9n }),
        onnx.node('Where', ['even', 'half', 'double'], ['factor']),
        onnx.node('Mul', ['s', 'factor'], ['t']),
        onnx.node('Identity', ['go'], ['on'])
      ]
    })
    return onnx.model({
      ir: 8,
      opsets: { '': 17 },
      initializers: [scalar('n', 'int64', BigInt64Array.of(BigInt(iterations))), scalar('yes', 'bool', Uint8Array.of(1)), scalar('two', 'int64', BigInt64Array.of(2n)), scalar('half', 'float32', Float32Array.of(0.5)), scalar('double', 'float32', Float32Array.of(2))],
      inputs: [float('x', [2])],
      outputs: [float('y', [2])],
      nodes: [onnx.node('Loop', ['n', 'yes', 'x'], ['y'], { body: { graph: body } })]
    })
  }

  it('a Loop of a million iterations gives its value', async () => {
    const session = await env.createSession(loop(1_000_001))
    const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(1, 3), [2]) })
    assert.deepEqual([...y.data], [2, 6])
    session.dispose()
  })

  it('a Loop is cancelled between its iterations', async () => {
    const session = await env.createSession(loop(2 ** 40))
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 20)
    await assert.rejects(session.run({ x: new Tensor('float32', Float32Array.of(1, 3), [2]) }, { signal: controller.signal }), error => error instanceof OpspecError && error.code === 'aborted')
    await assert.rejects(session.run({ x: new Tensor('float32', Float32Array.of(1, 3), [2]) }, { timeoutMs: 20 }), error => error.code === 'timeout')
    session.dispose()
  })

  it('a hundred thousand insertions into a sequence', async () => {
    const sequence = { sequence: 'int64' }
    const body = onnx.graph({
      inputs: [onnx.value('i', 'int64', []), onnx.value('go', 'bool', []), onnx.value('s', sequence, [])],
      outputs: [onnx.value('on', 'bool', []), onnx.value('t', sequence, [])],
      nodes: [onnx.node('SequenceInsert', ['s', 'i'], ['t']), onnx.node('Identity', ['go'], ['on'])]
    })
    const session = await env.createSession(onnx.model({
      ir: 8,
      opsets: { '': 17 },
      initializers: [scalar('n', 'int64', BigInt64Array.of(100_000n)), scalar('yes', 'bool', Uint8Array.of(1)), scalar('at', 'int64', BigInt64Array.of(77_777n))],
      inputs: [],
      outputs: [onnx.value('v', 'int64', []), onnx.value('count', 'int64', [])],
      nodes: [
        onnx.node('SequenceEmpty', [], ['empty'], { dtype: 7n }),
        onnx.node('Loop', ['n', 'yes', 'empty'], ['all'], { body: { graph: body } }),
        onnx.node('SequenceAt', ['all', 'at'], ['v']),
        onnx.node('SequenceLength', ['all'], ['count'])
      ]
    }))
    const { v, count } = await session.run({})
    assert.deepEqual([v.data[0], count.data[0]], [77_777n, 100_000n])
    session.dispose()
  })

  it('a body sees values of the graph around it, at two levels', async () => {
    const inner = name => onnx.graph({ outputs: [float('r', [2])], nodes: [onnx.node(name, ['x', 'k'], ['r'])] })
    const outer = onnx.graph({ outputs: [float('q', [2])], nodes: [onnx.node('If', ['d'], ['q'], { then_branch: { graph: inner('Add') }, else_branch: { graph: inner('Sub') } })] })
    const session = await env.createSession(onnx.model({
      ir: 8,
      opsets: { '': 17 },
      inputs: [float('x', [2]), float('k', [2]), onnx.value('c', 'bool', []), onnx.value('d', 'bool', [])],
      outputs: [float('y', [2])],
      nodes: [onnx.node('If', ['c'], ['y'], { then_branch: { graph: outer }, else_branch: { graph: onnx.graph({ outputs: [float('r', [2])], nodes: [onnx.node('Neg', ['x'], ['r'])] }) } })]
    }))
    const run = async (c, d) => [...(await session.run({ x: new Tensor('float32', Float32Array.of(5, 7), [2]), k: new Tensor('float32', Float32Array.of(1, 2), [2]), c: new Tensor('bool', Uint8Array.of(c), []), d: new Tensor('bool', Uint8Array.of(d), []) })).y.data]
    assert.deepEqual([await run(1, 1), await run(1, 0), await run(0, 1)], [[6, 9], [4, 5], [-5, -7]])
    session.dispose()
  })
})

describe('functions', () => {
  it('a function of the model is run, its attribute handed on', async () => {
    const session = await env.createSession(onnx.model({
      ir: 10,
      opsets: { '': 17, local: 1 },
      functions: [onnx.functionProto({ name: 'Twice', domain: 'local', inputs: ['a'], outputs: ['b'], opsets: { '': 17 }, nodes: [onnx.node('Neg', ['a'], ['n']), onnx.node('Sub', ['a', 'n'], ['b'])] })],
      inputs: [float('x', [2])],
      outputs: [float('y', [2])],
      nodes: [onnx.node('Twice', ['x'], ['t'], {}, { domain: 'local' }), onnx.node('Twice', ['t'], ['y'], {}, { domain: 'local' })]
    }))
    const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(1, -2), [2]) })
    assert.deepEqual([...y.data], [4, -8])
    session.dispose()
  })
})

describe('faults', () => {
  const single = (opType, inputs, options = {}) => onnx.model({
    ir: 8,
    opsets: { '': 17 },
    inputs,
    outputs: [float('y', undefined)],
    nodes: [onnx.node(opType, inputs.map((_, i) => 'ab'[i]), ['y'], options, { name: 'the node' })]
  })

  it('integer division by zero names node and element', async () => {
    const session = await env.createSession(single('Div', [onnx.value('a', 'int32', [4]), onnx.value('b', 'int32', [4])]))
    const feeds = { a: new Tensor('int32', Int32Array.of(8, 8, 8, 8), [4]), b: new Tensor('int32', Int32Array.of(1, 2, 0, 4), [4]) }
    await assert.rejects(session.run(feeds), error => error.code === 'operator_failed' && /the node/.test(error.message) && /element 2/.test(error.message) && error.path === 'graph.node[0]')
    session.dispose()
  })

  it('shapes that do not fit, missing and wrong inputs are refused with their names', async () => {
    const session = await env.createSession(single('MatMul', [float('a', ['M', 'K']), float('b', ['K', 'N'])]))
    const tensor = dims => new Tensor('float32', new Float32Array(size(dims)), dims)
    for (const [feeds, pattern] of [
      [{ a: tensor([2, 3]) }, /input 'b' is missing/],
      [{ a: tensor([2, 3]), b: tensor([4, 2]) }, /'b'.*axis 0 is 4 long.*'a'.*K 3/],
      [{ a: tensor([2, 3]), b: tensor([3]) }, /'b' must have 2 axes, not 1/],
      [{ a: tensor([2, 3]), b: new Tensor('float64', new Float64Array(6), [3, 2]) }, /'b' must be tensor\(float\), not tensor\(double\)/],
      [{ a: tensor([2, 3]), b: tensor([3, 2]), c: tensor([1]) }, /no input 'c'/]
    ]) await assert.rejects(session.run(feeds), error => error.code === 'invalid_argument' && pattern.test(error.message))
    assert.deepEqual((await session.run({ a: tensor([2, 3]), b: tensor([3, 2]) })).y.dims, [2, 2])
    session.dispose()
  })

  it('an initializer that is an input too can be replaced', async () => {
    const session = await env.createSession(onnx.model({
      ir: 8,
      opsets: { '': 17 },
      initializers: [onnx.tensor('w', 'float32', [2], Float32Array.of(10, 20))],
      inputs: [float('x', [2]), float('w', [2])],
      outputs: [float('y', [2])],
      nodes: [onnx.node('Neg', ['w'], ['m']), onnx.node('Sub', ['x', 'm'], ['y'])]
    }))
    const x = new Tensor('float32', Float32Array.of(1, 2), [2])
    assert.deepEqual([...(await session.run({ x })).y.data], [11, 22])
    assert.deepEqual([...(await session.run({ x, w: new Tensor('float32', Float32Array.of(5, 5), [2]) })).y.data], [6, 7])
    assert.deepEqual([...(await session.run({ x })).y.data], [11, 22])
    session.dispose()
  })
})
