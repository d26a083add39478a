// Documents that cannot be meant: what a check says of them, and a session or run that is tried all the same.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

const errors = report => report.findings.filter(({ severity }) => severity === 'error')

async function refusal (bytes, feeds = {}) {
  try {
    const session = await env.createSession(bytes)
    try {
      await session.run(feeds)
    } finally {
      session.dispose()
    }
  } catch (error) {
    return error
  }
  return assert.fail('it ran')
}

describe('element types that do not exist', () => {
  const x = new Tensor('float32', [1], [1])
  for (const type of [99999, 27, -1]) {
    const tensor = onnx.tensor('w', type, [1], new Uint8Array(4))
    const add = { inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])] }
    const said = `w: data_type ${type} is no element type; known are 1 (float) to 26 (int2)`
    it(`${type}: a tensor`, () => {
      const [{ rule, message, path }, ...more] = env.check(tensor, { as: 'tensor' }).findings
      assert.deepEqual([rule, message, path, more], ['onnx.tensor.data-type', said, 'data_type', []])
    })
    it(`${type}: an initializer`, async () => {
      const bytes = onnx.model({ ...add, initializers: [tensor], nodes: [onnx.node('Add', ['x', 'w'], ['y'])] })
      const [{ message, path }] = env.check(bytes).findings
      assert.deepEqual([message, path], [said, 'graph.initializer[0].data_type'])
      const { code, message: why } = await refusal(bytes, { x })
      assert.deepEqual([code, why], ['malformed', said])
    })
    it(`${type}: a Constant`, async () => {
      const bytes = onnx.model({ ...add, nodes: [onnx.node('Constant', [], ['w'], { value: { tensor } }), onnx.node('Add', ['x', 'w'], ['y'])] })
      const [{ message, path }] = env.check(bytes).findings
      assert.deepEqual([message, path], [said, 'graph.node[0].attribute[0].t.data_type'])
      const { code, message: why, path: place } = await refusal(bytes, { x })
      assert.deepEqual([code, why, place], ['malformed', said, path])
    })
  }
  it('of a value to fill with: it is not taken for absent', async () => {
    const bytes = onnx.model({
      outputs: [onnx.value('y', 'float32', [1])], initializers: [onnx.tensor('s', 'int64', [1], BigInt64Array.of(1n))],
      nodes: [onnx.node('ConstantOfShape', ['s'], ['y'], { value: { tensor: onnx.tensor('w', 27, [1], new Uint8Array(4)) } })]
    })
    assert.equal((await refusal(bytes)).message, 'w: data_type 27 is no element type; known are 1 (float) to 26 (int2)')
  })
})

describe('functions that call each other', () => {
  const domain = 'org.test'
  const call = (name, from, to) => onnx.node(name, [from], [to], {}, { domain })
  const define = (name, nodes) => onnx.functionProto({ domain, name, inputs: ['a'], outputs: ['b'], opsets: { '': 21, [domain]: 1 }, nodes })
  const model = functions => onnx.model({
    opsets: { '': 21, [domain]: 1 }, functions,
    inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])], nodes: [call('f0', 'x', 'y')]
  })
  const chain = (count, nodes) => Array.from({ length: count }, (_, i) => define(`f${i}`, i + 1 < count ? nodes(`f${i + 1}`) : [onnx.node('Relu', ['a'], ['b'])]))
  const twice = chain(40, name => [call(name, 'a', 't'), call(name, 't', 'b')])

  it('twice each, forty deep: the limit on nodes is said, by the check and by a session', async () => {
    const bytes = model(twice)
    const { findings, incomplete } = env.check(bytes)
    assert.deepEqual(findings, [])
    assert.equal(incomplete[0], 'calls of functions expand to more than 250000 nodes; the rest was not looked into')
    assert.ok(!incomplete.some(reason => reason.includes('not known')), incomplete.join())
    const { code, message } = await refusal(bytes)
    assert.deepEqual([code, message], ['limit', 'calls of functions expand to more than 250000 nodes'])
  })
  it('twice each, forty deep: a time limit is seen while they expand', () => {
    const bytes = model(twice)
    assert.deepEqual(env.check(bytes, { timeoutMs: 1 }).incomplete, ['the time limit was reached'])
    const loaded = env.loadModel(bytes)
    try {
      assert.deepEqual(loaded.check({ timeoutMs: 1 }).incomplete, ['the time limit was reached'])
    } finally {
      loaded.dispose()
    }
  })
  it('in a circle', async () => {
    const bytes = model([define('f0', [call('f1', 'a', 'b')]), define('f1', [call('f0', 'a', 'b')])])
    const { findings, incomplete } = env.check(bytes)
    assert.deepEqual(findings.map(({ rule }) => rule), ['model.function.recursive'])
    assert.deepEqual(incomplete, ['functions call each other in a circle; the rest was not looked into'])
    const { code, message } = await refusal(bytes)
    assert.deepEqual([code, message], ['malformed', findings[0].message])
  })
  it('too deep', async () => {
    const bytes = model(chain(130, name => [call(name, 'a', 'b')]))
    const { findings, incomplete } = env.check(bytes)
    assert.deepEqual(findings.map(({ rule }) => rule), ['model.function.depth'])
    assert.deepEqual(incomplete, ['calls of functions are more than 100 deep; the rest was not looked into'])
    const { code, message } = await refusal(bytes)
    assert.deepEqual([code, message], ['limit', 'calls of functions are more than 100 deep'])
  })
})

describe('shapes of more elements than can be', () => {
  const shape = dims => onnx.tensor('s', 'int64', [dims.length], BigInt64Array.from(dims))
  const one = name => onnx.tensor(name, 'int64', [], BigInt64Array.of(1n))
  const found = ({ nodes, initializers, type = 'float32', rank = 1 }) => {
    const inputs = [onnx.value('x', 'float32', [1])]
    const outputs = [onnx.value('y', type, Array.from({ length: rank }, (_, i) => `d${i}`))]
    const report = env.check(onnx.model({ inputs, outputs, initializers, nodes }))
    assert.ok(report.complete, report.incomplete.join())
    return errors(report)
  }
  const big = 2n ** 62n
  for (const [name, given] of Object.entries({
    ConstantOfShape: { nodes: [onnx.node('ConstantOfShape', ['s'], ['y'])], initializers: [shape([2n ** 60n, 2n ** 60n])], rank: 2 },
    Expand: { nodes: [onnx.node('Expand', ['x', 's'], ['y'])], initializers: [shape([big])] },
    Tile: { nodes: [onnx.node('Tile', ['x', 's'], ['y'])], initializers: [shape([big])] },
    Pad: { nodes: [onnx.node('Pad', ['x', 's'], ['y'])], initializers: [shape([0n, big])] },
    Resize: { nodes: [onnx.node('Resize', ['x', '', '', 's'], ['y'])], initializers: [shape([big])] },
    Range: { nodes: [onnx.node('Range', ['a', 's', 'a'], ['y'])], initializers: [one('a'), onnx.tensor('s', 'int64', [], BigInt64Array.of(big))], type: 'int64' }
  })) {
    it(name, () => {
      const [{ rule, message, path }, ...more] = found(given)
      assert.deepEqual([rule, message, path, more], ['infer.shape.operator', `${name}: output 0 has more elements than can be counted`, 'graph.node[0]', []])
    })
  }
  it('is said where it begins, not by all that read it', () => {
    const nodes = [onnx.node('ConstantOfShape', ['s'], ['t']), onnx.node('Relu', ['t'], ['u']), onnx.node('Neg', ['u'], ['y'])]
    assert.deepEqual(found({ nodes, initializers: [shape([big])] }).map(({ path }) => path), ['graph.node[0]'])
  })
  it('is not said of none, nor of what only this machine has no room for', () => {
    const nodes = [onnx.node('ConstantOfShape', ['s'], ['y'])]
    assert.deepEqual(found({ nodes, initializers: [shape([big, big, 0n])], rank: 3 }), [])
    assert.deepEqual(found({ nodes, initializers: [shape([2n ** 40n])] }), [])
  })
})
