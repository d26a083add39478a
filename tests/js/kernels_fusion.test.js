// What products and convolutions absorb from the nodes behind them: the result is that of the nodes one by one. Naming every
// value as an output keeps a run from fusing.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { model, node, tensor, value } from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

// xorshift32, so that a failure repeats
function floats (seed, count) {
  let s = seed * 2654435761 >>> 0 || 1
  return Float32Array.from({ length: count }, () => {
    s ^= s << 13
    s ^= s >>> 17
    s ^= s << 5
    return ((s >>> 0) / 4294967296 - 0.5) * 4
  })
}

const size = dims => dims.reduce((a, b) => a * b, 1)

/** nodes: [opType, inputs, output, attributes]; inputs and constants: name -> dims. */
function check (title, { inputs, constants = {}, nodes, positive = [] }) {
  it(title, async () => {
    let seed = 1
    const data = Object.fromEntries(Object.entries({ ...inputs, ...constants }).map(([name, dims]) => {
      const values = floats(seed++, size(dims))
      return [name, positive.includes(name) ? values.map(x => Math.abs(x) + 0.5) : values]
    }))
    const bytes = model({
      nodes: nodes.map(([opType, from, to, attributes]) => node(opType, from, [to], attributes)),
      inputs: Object.entries(inputs).map(([name, dims]) => value(name, 'float32', dims)),
      initializers: Object.entries(constants).map(([name, dims]) => tensor(name, 'float32', dims, data[name])),
      outputs: [value(nodes.at(-1)[2], 'float32')]
    })
    const loaded = env.loadModel(bytes)
    const session = await env.createSession(loaded)
    const feeds = Object.fromEntries(Object.entries(inputs).map(([name, dims]) => [name, new Tensor('float32', data[name], dims)]))
    const last = nodes.at(-1)[2]
    const fused = (await session.run(feeds))[last]
    const single = (await session.run(feeds, { outputs: nodes.map(n => n[2]) }))[last]
    assert.deepEqual([...fused.dims], [...single.dims])
    assert.ok(single.data.some(x => x !== 0))
    const scale = single.data.reduce((most, x) => Math.max(most, Math.abs(x)), 1)
    single.data.forEach((want, i) => {
      assert.ok(Math.abs(fused.data[i] - want) <= 1e-5 * scale, `element ${i} is ${fused.data[i]}, unfused ${want}`)
    })
    session.dispose()
    loaded.dispose()
  })
}

const pads = { pads: [1n, 1n, 1n, 1n] }
const batch = { scale: [5], shift: [5], mean: [5], variance: [5] }

describe('Conv absorbs', () => {
  check('batch normalisation, activation, residual, activation', {
    inputs: { x: [2, 3, 6, 7], r: [2, 5, 6, 7] },
    constants: { w: [5, 3, 3, 3], b: [5], ...batch },
    positive: ['variance'],
    nodes: [['Conv', ['x', 'w', 'b'], 'c', pads], ['BatchNormalization', ['c', 'scale', 'shift', 'mean', 'variance'], 'n'],
      ['Relu', ['n'], 'a'], ['Add', ['a', 'r'], 's'], ['Relu', ['s'], 'y']]
  })
  check('a residual, then batch normalisation', {
    inputs: { x: [1, 3, 5, 5], r: [1, 5, 5, 5] },
    constants: { w: [5, 3, 3, 3], ...batch },
    positive: ['variance'],
    nodes: [['Conv', ['x', 'w'], 'c', pads], ['Add', ['r', 'c'], 's'],
      ['BatchNormalization', ['s', 'scale', 'shift', 'mean', 'variance'], 'n'], ['Sigmoid', ['n'], 'y']]
  })
  check('factors and shifts of channels, then constant bounds', {
    inputs: { x: [1, 4, 8, 8] },
    constants: { w: [6, 4, 1, 1], f: [6, 1, 1], g: [1, 6, 1, 1], low: [], high: [] },
    positive: ['high'],
    nodes: [['Conv', ['x', 'w'], 'c'], ['Mul', ['c', 'f'], 'm'], ['Sub', ['m', 'g'], 's'], ['Clip', ['s', 'low', 'high'], 'y']]
  })
  check('what comes the other way round', {
    inputs: { x: [1, 4, 8, 8] },
    constants: { w: [6, 4, 1, 1], f: [6, 1, 1], g: [6, 1, 1] },
    nodes: [['Conv', ['x', 'w'], 'c'], ['Sub', ['g', 'c'], 's'], ['Div', ['s', 'f'], 'd'], ['Max', ['d', 'g'], 'y']]
  })
  check('an activation behind a depthwise convolution', {
    inputs: { x: [1, 8, 9, 9] },
    constants: { w: [8, 1, 3, 3], b: [8] },
    nodes: [['Conv', ['x', 'w', 'b'], 'c', { ...pads, group: 8n, strides: [2n, 2n] }], ['HardSwish', ['c'], 'y']]
  })
  check('channels of weights and biases that come at run time', {
    inputs: { x: [1, 3, 6, 6], w: [4, 3, 3, 3], b: [4], g: [4, 1, 1] },
    nodes: [['Conv', ['x', 'w', 'b'], 'c', pads], ['Add', ['c', 'g'], 'a'], ['LeakyRelu', ['a'], 'y', { alpha: 0.1 }]]
  })
  check('a bias at run time behind constant weights', {
    inputs: { x: [1, 3, 6], b: [4] },
    constants: { w: [4, 3, 3], f: [4, 1] },
    nodes: [['Conv', ['x', 'w', 'b'], 'c'], ['Mul', ['c', 'f'], 'm'], ['Tanh', ['m'], 'y']]
  })
})

describe('MatMul absorbs', () => {
  check('bias, activation, residual, factor', {
    inputs: { x: [2, 9, 16], r: [2, 9, 20] },
    constants: { w: [16, 20], b: [20], k: [] },
    nodes: [['MatMul', ['x', 'w'], 'p'], ['Add', ['b', 'p'], 'a'], ['Gelu', ['a'], 'g'], ['Add', ['g', 'r'], 's'], ['Mul', ['s', 'k'], 'y']]
  })
  check('a factor and a mask between two run-time operands', {
    inputs: { q: [2, 3, 9, 8], k: [2, 3, 8, 11], m: [2, 3, 9, 11] },
    constants: { root: [] },
    positive: ['root'],
    nodes: [['MatMul', ['q', 'k'], 'p'], ['Mul', ['p', 'root'], 's'], ['Add', ['s', 'm'], 'a'], ['Softmax', ['a'], 'y']]
  })
  check('the bias of a single row', {
    inputs: { x: [1, 40] },
    constants: { w: [40, 70], b: [70] },
    nodes: [['MatMul', ['x', 'w'], 'p'], ['Add', ['p', 'b'], 'a'], ['Relu', ['a'], 'y']]
  })
  check('a weight that repeats over leading dims', {
    inputs: { x: [3, 1, 12, 8] },
    constants: { w: [2, 8, 9], b: [9] },
    nodes: [['MatMul', ['x', 'w'], 'p'], ['Sub', ['p', 'b'], 'a'], ['Exp', ['a'], 'y']]
  })
})

describe('Gemm absorbs', () => {
  for (const [what, c] of [['a row', [7]], ['a column', [5, 1]], ['a matrix', [5, 7]], ['one value', [1]]]) {
    check(`an activation and a residual behind C as ${what}`, {
      inputs: { x: [5, 12], c, r: [5, 7] },
      constants: { w: [7, 12] },
      nodes: [['Gemm', ['x', 'w', 'c'], 'p', { transB: 1n, alpha: 0.5, beta: 2 }], ['Relu', ['p'], 'a'], ['Add', ['a', 'r'], 'y']]
    })
  }
  check('two additions', {
    inputs: { x: [5, 12], c: [5, 7], r: [5, 7] },
    constants: { w: [12, 7] },
    nodes: [['Gemm', ['x', 'w', 'c'], 'p'], ['Add', ['p', 'r'], 'a'], ['Neg', ['a'], 'y']]
  })
})
