// Two operators written in several ways, their documents, evidence and models: for Node and for a page.
import { Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const f = Math.fround

// ---- Tilt ---------------------------------------------------------------------------------------------------------------

export const tiltDocument = customSpec({
  domain, opType: 'Tilt', inputs: ['X', 'Slope'],
  attributes: { softness: { kind: 'float', required: false, default: 0.25, allowed_values: null, description: 'How soon it levels out.' } }
}).replace('has the shape of `X`', 'has the shape that `X` and `Slope` broadcast to')

const float = (shape, data) => ({ type: 'tensor(float)', shape, data })

export const tiltEvidence = [
  { inputs: [float([3], [-4, 0, 2]), float([1], [2])], outputs: [float([3], [-4, 0, 2])] },
  { attributes: { softness: 1 }, inputs: [float([2, 2], [-1, -1, 'NaN', 5]), float([2], [1, 3])], outputs: [float([2, 2], [-0.5, -1.5, 'NaN', 5])] },
  { attributes: { softness: 0 }, inputs: [float([2, 1], [-1, -2]), float([3], [1, 2, 3])], outputs: [float([2, 3], [-1, -2, -3, -2, -4, -6])] },
  { inputs: [float([0], []), float([1], [1])], outputs: [float([0], [])] }
].map((item, i) => ({ kind: 'opspec.evidence', version: '1', description: `case ${i}`, ...item }))

function broadcast (a, b) {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a, b].map(dims => dims[i + dims.length - rank] ?? 1)
    return x === 1 ? y : x
  })
}

function place (dims, out, at) {
  let [index, step] = [0, 1]
  for (let i = 1; i <= dims.length; i++) {
    const own = dims[dims.length - i]
    const whole = out[out.length - i]
    if (own !== 1) index += at % whole * step
    step *= own
    at = Math.floor(at / whole)
  }
  return index
}

export const tiltKernel = {
  inferShapes: ([x, slope]) => [{ type: x.type, shape: x.shape === null || slope.shape === null ? null : broadcast(x.shape, slope.shape) }],
  compute ([x, slope], { softness }) {
    const dims = broadcast(x.dims, slope.dims)
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1))
    for (let i = 0; i < data.length; i++) {
      const v = x.data[place(x.dims, dims, i)]
      const bent = f(slope.data[place(slope.dims, dims, i)] * v)
      data[i] = v < 0 ? f(bent / f(1 + f(f(softness) * Math.abs(v)))) : v
    }
    return [{ type: 'float32', dims, data }]
  }
}

// What happens to one element.
export const tiltLine = {
  elementwise: (x, slope, { softness }) => x < 0 ? f(f(slope * x) / f(1 + f(f(softness) * Math.abs(x)))) : x
}

// No code at all.
export const tiltFunction = onnx.functionProto({
  domain, name: 'Tilt', inputs: ['X', 'Slope'], outputs: ['Y'], attributes: ['softness'], opsets: { '': 21 },
  nodes: [
    onnx.node('Constant', [], ['zero'], { value_float: 0 }),
    onnx.node('Constant', [], ['one'], { value_float: 1 }),
    onnx.node('Constant', [], ['softness'], { value_float: { reference: 'softness', type: 1 } }),
    onnx.node('Less', ['X', 'zero'], ['below']),
    onnx.node('Abs', ['X'], ['size']),
    onnx.node('Mul', ['softness', 'size'], ['soft']),
    onnx.node('Add', ['one', 'soft'], ['divisor']),
    onnx.node('Mul', ['Slope', 'X'], ['bent']),
    onnx.node('Div', ['bent', 'divisor'], ['levelled']),
    onnx.node('Where', ['below', 'levelled', 'X'], ['Y'])
  ]
})

// As a function of the model it has no default for the attribute, so the node always gives it.
function tiltModel (softness, asFunction) {
  return onnx.model({
    opsets: { '': 21, [domain]: 1 }, functions: asFunction ? [tiltFunction] : [],
    inputs: [onnx.value('x', 'float32'), onnx.value('s', 'float32')], outputs: [onnx.value('y', 'float32')],
    nodes: [onnx.node('Tilt', ['x', 's'], ['y'], softness === undefined ? {} : { softness: f(softness) }, { domain })]
  })
}

const numbers = ({ shape, data }) => new Tensor('float32', Float32Array.from(data, Number), shape)

/** All cases through one Env; answers what came out as words of 32 bits, NaN as one of them. */
export async function runTilt (env, asFunction = false) {
  const cases = tiltEvidence.map(({ attributes, inputs }) => [attributes?.softness ?? (asFunction ? 0.25 : undefined), ...inputs.map(numbers)])
  // Odd numbers, for rounding.
  const odd = (dims, k) => new Tensor('float32', Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => (i * 7919 % 1013 - 500) / k), dims)
  for (const [a, b] of [[[5, 4, 3], [4, 1]], [[7], [3, 1]], [[2, 3], []], [[1, 257], [257]]]) cases.push([0.37, odd(a, 97.3), odd(b, 3.7)])
  const out = []
  for (const [softness, x, s] of cases) {
    const session = await env.createSession(tiltModel(softness, asFunction))
    for (let again = 0; again < 2; again++) {
      const { y } = await session.run({ x, s })
      out.push({ dims: [...y.dims], bits: Array.from(new Uint32Array(Float32Array.from(y.data).buffer), bits => (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits) })
    }
    session.dispose()
  }
  return out
}

// ---- Pick ---------------------------------------------------------------------------------------------------------------

export const pickDocument = JSON.stringify({
  ...JSON.parse(customSpec({ domain, opType: 'Pick' })),
  inputs: [
    { name: 'Limit', cardinality: 'optional', type_parameter: 'I', description: 'Most bytes of a word.' },
    { name: 'Words', cardinality: 'variadic', type_parameter: 'T', description: 'Words.' }
  ],
  outputs: [
    { name: 'Kept', cardinality: 'single', type_parameter: 'S', description: 'What is kept of each input.' },
    { name: 'Counts', cardinality: 'optional', type_parameter: 'I', description: 'How many were kept, where any were.' }
  ],
  type_parameters: {
    I: { allowed_types: ['tensor(int64)'], description: 'Numbers.' },
    S: { allowed_types: ['seq(tensor(string))'], description: 'Words of each input.' },
    T: { allowed_types: ['tensor(string)'], description: 'Words.' }
  },
  shape_rules: ['`Counts` has an element for each input of which something is kept.']
})

export const pickKernel = {
  inferTypes: () => ['seq(tensor(string))', 'tensor(int64)'],
  compute ([limit, ...words], _, { fail }) {
    const most = limit === undefined ? Infinity : Number(limit.data[0])
    if (most < 0) fail(`the limit ${most} is below 0`)
    const length = word => new TextEncoder().encode(word).length
    const kept = words.map(({ data }) => [...data].filter(word => length(word) <= most))
    const counts = kept.map(list => list.length).filter(count => count > 0)
    return [kept.map(list => new Tensor('string', list, [list.length])), new Tensor('int64', counts.map(BigInt), [counts.length])]
  }
}

const words = (...list) => new Tensor('string', list, [list.length])

export async function runPick (env) {
  const out = []
  for (const [limit, ...lists] of [[undefined, words('a', '')], [2n, words('ö', 'öö', 'abc'), words('abc'), words()], [0n, words(''), words('x')], [-1n, words('a')]]) {
    const names = lists.map((_, i) => `w${i}`)
    const model = onnx.model({
      opsets: { '': 21, [domain]: 1 },
      inputs: [...limit === undefined ? [] : [onnx.value('l', 'int64', [])], ...names.map(name => onnx.value(name, 'string', [null]))],
      outputs: [onnx.value('kept', { sequence: 'string' }), onnx.value('counts', 'int64', [null])],
      nodes: [onnx.node('Pick', [limit === undefined ? '' : 'l', ...names], ['kept', 'counts'], {}, { domain })]
    })
    const session = await env.createSession(model)
    const feeds = Object.fromEntries(lists.map((list, i) => [`w${i}`, list]))
    if (limit !== undefined) feeds.l = new Tensor('int64', [limit], [])
    for (let again = 0; again < 2; again++) {
      try {
        const { kept, counts } = await session.run(feeds)
        out.push({ kept: kept.map(({ data }) => [...data]), counts: Array.from(counts.data, Number) })
      } catch (error) {
        out.push({ code: error.code, why: /the limit -1 is below 0/.test(error.message) })
      }
    }
    session.dispose()
  }
  return out
}
