// Operators whose kernel is a function: a FunctionProto, or a model's graph.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv, createWorkerEnv, Tensor } from '../../wasm/js/index.js'
import { runTilt, tiltDocument, tiltFunction, tiltKernel } from '../operators/ways.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const number = name => ({ [name]: { kind: 'float', required: false, default: 0.5, allowed_values: null, description: 'A number.' } })

// Y = X * factor, as a function.
const scale = (more = {}) => onnx.functionProto({
  domain, name: 'Scale', inputs: ['X'], outputs: ['Y'], attributes: ['factor'], opsets: { '': 21 },
  nodes: [
    onnx.node('Constant', [], ['f'], { value_float: { reference: 'factor', type: 1 } }),
    onnx.node('Mul', ['X', 'f'], ['Y'])
  ],
  ...more
})
const scaleSpec = (more = {}) => customSpec({ domain, opType: 'Scale', attributes: number('factor'), ...more })

// Y = X * w + 1, as a graph with an initializer and a function of its own.
const affineFunction = onnx.functionProto({
  domain: 'inner', name: 'PlusOne', inputs: ['a'], outputs: ['b'],
  nodes: [onnx.node('Constant', [], ['one'], { value_float: 1 }), onnx.node('Add', ['a', 'one'], ['b'])]
})
const affine = (more = {}) => onnx.model({
  opsets: { '': 21, inner: 1 }, functions: [affineFunction],
  initializers: [onnx.tensor('w', 'float32', [3], Float32Array.of(1, 10, 100))],
  inputs: [onnx.value('X', 'float32', ['N', 3])], outputs: [onnx.value('Y', 'float32', ['N', 3])],
  nodes: [onnx.node('Mul', ['X', 'w'], ['m']), onnx.node('PlusOne', ['m'], ['Y'], {}, { domain: 'inner' })],
  ...more
})

const caller = (opType, { attributes = {}, inputs = ['x'], shape = ['N', 3], nodes = [], type = 'float32' } = {}) => onnx.model({
  opsets: { '': 20, [domain]: 1 }, inputs: inputs.filter(Boolean).map(name => onnx.value(name, type, shape)), outputs: [onnx.value('y', type)],
  nodes: [onnx.node(opType, inputs, ['y'], attributes, { domain }), ...nodes]
})

async function run (env, bytes, feeds) {
  const session = await env.createSession(bytes)
  try {
    return [...(await session.run(feeds)).y.data]
  } finally {
    session.dispose()
  }
}

const x = new Tensor('float32', [1, -2, 3], [1, 3])

describe('function operators', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const registered = async (spec, body, job) => {
    const registration = env.registerOperator(spec, body)
    try {
      return await job(registration)
    } finally {
      registration.dispose()
    }
  }

  it('take attributes from the node, defaults from the document', () => registered(scaleSpec(), scale(), async ({ operators }) => {
    assert.deepEqual(operators, ['org.test.Scale'])
    assert.deepEqual(await run(env, caller('Scale'), { x }), [0.5, -1, 1.5])
    assert.deepEqual(await run(env, caller('Scale', { attributes: { factor: 4 } }), { x }), [4, -8, 12])
    const listed = env.operators().find(({ name }) => name === 'Scale')
    assert.equal(listed.kernel, true)
    assert.equal(listed.function, true)
  }))

  it('are checked as the document says and inferred through their body, symbols included', () => registered(scaleSpec(), scale(), () => {
    const good = onnx.model({
      opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N', 3])], outputs: [onnx.value('y', 'float32', ['N', 4])],
      nodes: [onnx.node('Scale', ['x'], ['y'], {}, { domain })]
    })
    assert.deepEqual(env.check(good).findings.map(({ rule, path }) => [rule, path]), [['infer.shape.mismatch', 'graph.node[0].output[0]']])
    const rules = bytes => env.check(bytes).findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)
    assert.ok(rules(caller('Scale', { inputs: ['x', 'x2'] })).includes('model.node.arity'))
    assert.ok(rules(caller('Scale', { attributes: { factr: 4 } })).includes('model.attribute.unknown'))
    assert.ok(rules(caller('Scale', { type: 'float64' })).includes('model.node.type'))
  }))

  it('a model\'s graph serves with its initializers and its own functions, which the caller does not see', () => registered(customSpec({ domain, opType: 'Affine' }), affine(), async () => {
    assert.deepEqual(await run(env, caller('Affine'), { x }), [2, -19, 301])
    const lost = onnx.model({
      opsets: { '': 21, inner: 1 }, inputs: [onnx.value('x', 'float32', [3])], outputs: [onnx.value('y', 'float32', [3])],
      nodes: [onnx.node('PlusOne', ['x'], ['y'], {}, { domain: 'inner' })]
    })
    await assert.rejects(run(env, lost, { x }), { code: 'unsupported' })
  }))

  it('a fault that inference finds in the body stands at the node, with the place in the body', () => registered(customSpec({ domain, opType: 'Affine' }), affine(), () => {
    const { findings } = env.check(caller('Affine', { shape: ['N', 4] }))
    const finding = findings.find(({ rule }) => rule.startsWith('infer.shape'))
    assert.equal(finding.path, 'graph.node[0]')
    assert.deepEqual(finding.related.map(({ message, path }) => [message, path]), [['in the function of this operator', 'graph']])
  }))

  it('optional inputs that a node leaves out are left out in the body', async () => {
    const spec = JSON.parse(customSpec({ domain, opType: 'Bounded', inputs: ['X', 'Low', 'High'] }))
    spec.inputs[1].cardinality = spec.inputs[2].cardinality = 'optional'
    const body = onnx.functionProto({ domain, name: 'Bounded', inputs: ['X', 'Low', 'High'], outputs: ['Y'], nodes: [onnx.node('Clip', ['X', 'Low', 'High'], ['Y'])] })
    await registered(spec, body, async () => {
      const bytes = inputs => onnx.model({
        opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', [1, 3]), onnx.value('b', 'float32', [])], outputs: [onnx.value('y', 'float32')],
        nodes: [onnx.node('Bounded', inputs, ['y'], {}, { domain })]
      })
      const b = new Tensor('float32', [2], [])
      assert.deepEqual(await run(env, bytes(['x']), { x, b }), [1, -2, 3])
      assert.deepEqual(await run(env, bytes(['x', 'b']), { x, b }), [2, 2, 3])
      assert.deepEqual(await run(env, bytes(['x', '', 'b']), { x, b }), [1, -2, 2])
    })
  })

  it('may be made of other registered operators, of functions as well as of JavaScript', async () => {
    const twice = env.registerOperator(customSpec({ domain, opType: 'Twice' }), { inferShapes: ([{ type, shape }]) => [{ type, shape }], compute: ([v]) => [{ ...v, data: v.data.map(n => 2 * n) }] })
    const body = onnx.functionProto({
      domain, name: 'Both', inputs: ['X'], outputs: ['Y'], opsets: { '': 21, [domain]: 1 },
      nodes: [onnx.node('Twice', ['X'], ['t'], {}, { domain }), onnx.node('Scale', ['t'], ['Y'], { factor: 3 }, { domain })]
    })
    await registered(scaleSpec(), scale(), () => registered(customSpec({ domain, opType: 'Both' }), body, async () => {
      assert.deepEqual(await run(env, caller('Both'), { x }), [6, -12, 18])
    }))
    twice.dispose()
  })

  it('that come to call each other without end are refused where they are used', async () => {
    const calling = (name, other) => onnx.functionProto({
      domain, name, inputs: ['X'], outputs: ['Y'], opsets: { [domain]: 1 },
      nodes: [onnx.node(other, ['X'], ['a'], {}, { domain }), onnx.node(other, ['a'], ['Y'], {}, { domain })]
    })
    await registered(customSpec({ domain, opType: 'Ping' }), calling('Ping', 'Pong'), () => registered(customSpec({ domain, opType: 'Pong' }), calling('Pong', 'Ping'), async () => {
      assert.equal(env.check(caller('Ping')).complete, false)
      await assert.rejects(run(env, caller('Ping'), { x }), { code: 'limit', message: /^calls of functions / })
    }))
    await assert.rejects(run(env, caller('Ping'), { x }), { code: 'unsupported' })
  })

  const bad = {
    'a function of another name': [scaleSpec(), scale({ name: 'Scal' }), 'name', /function is org\.test\.Scal/],
    'a function of another domain': [scaleSpec(), scale({ domain: 'org.tent' }), 'name', /org\.tent\.Scale/],
    'too few inputs': [scaleSpec({ inputs: ['X', 'Z'] }), scale(), 'input', /1 inputs \(X\), the document has 2 \(X, Z\)/],
    'too many outputs': [scaleSpec(), scale({ outputs: ['Y', 'f'] }), 'output', /2 outputs/],
    'inputs in another order': [customSpec({ domain, opType: 'Sub', inputs: ['A', 'B'] }), onnx.functionProto({ domain, name: 'Sub', inputs: ['B', 'A'], outputs: ['Y'], nodes: [onnx.node('Sub', ['A', 'B'], ['Y'])] }), 'input[0]', /"B" is input 0 here and input 1/],
    'a function without operator sets': [scaleSpec(), scale({ opsets: {} }), 'opsetImport', /imports no operator set/],
    'a variadic input': [scaleSpec().replace('"cardinality":"single"', '"cardinality":"variadic"'), scale(), 'input', /"X" is variadic/],
    'an attribute that the function does not have': [scaleSpec({ attributes: { ...number('factor'), ...number('bias') } }), scale(), 'attribute', /"bias"/],
    'an attribute that the document does not have': [scaleSpec({ attributes: {} }), scale(), 'attribute[0]', /"factor"/],
    'an attribute of another kind': [scaleSpec({ attributes: { factor: { kind: 'int', required: false, default: 2, allowed_values: null, description: 'A number.' } } }), scale(), 'node[0].attribute[0]', /"factor" is taken as float here, in the document it is int/],
    'a graph for an operator with attributes': [customSpec({ domain, opType: 'Affine', attributes: number('factor') }), affine(), 'graph', /"factor"; a FunctionProto can/],
    'an input of a type that the document does not have': [customSpec({ domain, opType: 'Affine' }), onnx.model({ inputs: [onnx.value('X', 'int32', ['N'])], outputs: [onnx.value('Y', 'int32', ['N'])], nodes: [onnx.node('Identity', ['X'], ['Y'])] }), 'graph.input[0]', /"X" is tensor\(int32\), which input "X" of the document never is \(tensor\(float\)\)/],
    'an output of a type that the document does not have': [customSpec({ domain, opType: 'Affine' }), onnx.model({ inputs: [onnx.value('X', 'float32', ['N'])], outputs: [onnx.value('Y', 'int32', ['N'])], nodes: [onnx.node('Cast', ['X'], ['Y'], { to: 6n })] }), 'graph.output[0]', /"Y" is tensor\(int32\)/],
    'an input with an initializer': [customSpec({ domain, opType: 'Affine', inputs: ['X', 'w'] }), affine({ inputs: [onnx.value('X', 'float32', ['N', 3]), onnx.value('w', 'float32', [3])] }), 'graph.input[1]', /"w" has an initializer/]
  }
  for (const [name, [spec, body, path, message]] of Object.entries(bad)) {
    it(`refuses ${name}`, () => {
      assert.throws(() => env.registerOperator(spec, body), { name: 'OpspecError', code: 'malformed', path, message })
      assert.ok(env.operators().every(({ domain: other }) => other !== domain))
    })
  }

  it('refuses a faulty body with its findings', () => {
    const refused = (body, rule, path) => assert.throws(() => env.registerOperator(scaleSpec(), body), error => {
      assert.equal(error.code, 'malformed')
      assert.deepEqual(error.findings.filter(({ severity }) => severity === 'error').map(finding => [finding.rule, finding.path])[0], [rule, path])
      return true
    })
    refused(scale({ nodes: [onnx.node('Mul', ['X', 'nowhere'], ['Y'])] }), 'model.node.input-unknown', 'node[0].input[1]')
    refused(scale({ nodes: [onnx.node('Mul', ['X'], ['Y'])] }), 'model.node.arity', 'node[0]')
    refused(scale({ nodes: [onnx.node('Scale', ['X'], ['Y'], {}, { domain })] }), 'model.function.recursive', undefined)
    refused(scale({ opsets: { [domain]: 1 } }), 'model.node.domain', 'node[0]')
    refused(Uint8Array.of(1, 2, 3), 'wire.tag', undefined)
    refused(new Uint8Array(0), 'wire.empty', undefined)
  })

  it('refuses data in other files', () => {
    const external = onnx.externalTensor('w', 'float32', [3], 'weights.bin')
    assert.throws(() => env.registerOperator(customSpec({ domain, opType: 'Affine' }), affine({ initializers: [external] })), error => error.code === 'malformed' && /weights\.bin/.test(error.message))
  })

  it('a session keeps its function after it was taken back, and the memory returns', async () => {
    const registration = env.registerOperator(customSpec({ domain, opType: 'Affine' }), affine())
    const session = await env.createSession(caller('Affine'))
    registration.dispose()
    await assert.rejects(run(env, caller('Affine'), { x }), { code: 'unsupported' })
    assert.deepEqual([...(await session.run({ x })).y.data], [2, -19, 301])
    session.dispose()
    const used = []
    for (let i = 0; i < 40; i++) {
      const again = env.registerOperator(customSpec({ domain, opType: 'Affine' }), affine())
      assert.deepEqual(await run(env, caller('Affine'), { x }), [2, -19, 301])
      again.dispose()
      used.push(Env.memoryUsed(env).used)
    }
    assert.equal(used.at(-1), used[9])
  })

  it('works in a worker', async () => {
    const worker = await createWorkerEnv()
    try {
      await worker.registerOperator(tiltDocument, tiltFunction)
      const expected = await createEnv()
      expected.registerOperator(tiltDocument, tiltKernel)
      assert.deepEqual(await runTilt(worker), await runTilt(expected))
      expected.dispose()
    } finally {
      worker.dispose()
    }
  })
})
