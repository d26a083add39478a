// Operators of the caller's: JS kernels, inference, attributes, failures, what taking back means.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const attribute = (kind, value) => ({ kind, required: value === undefined, default: value ?? null, allowed_values: null, description: 'An attribute.' })

// A document; `change` edits its object.
function spec (opType, options = {}, change = () => {}) {
  const document = JSON.parse(customSpec({ domain, opType, ...options }))
  change(document)
  return document
}

const nodeModel = (opType, { inputs = [['x', 'float32', ['N']]], outputs = [['y', 'float32', ['N']]], attributes = {}, version = 1, nodeInputs, nodeOutputs, initializers } = {}) => onnx.model({
  opsets: { '': 21, [domain]: version }, initializers,
  inputs: inputs.map(([name, type, shape]) => onnx.value(name, type, shape)), outputs: outputs.map(([name, type, shape]) => onnx.value(name, type, shape)),
  nodes: [onnx.node(opType, nodeInputs ?? inputs.map(([name]) => name), nodeOutputs ?? outputs.map(([name]) => name), attributes, { domain, name: 'n0' })]
})

const map = fn => ({ compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(fn) }] })

describe('registerOperator', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  // Registers, runs once, takes back.
  async function once (document, kernel, model, feeds = { x: new Tensor('float32', [1, -2]) }, options) {
    const registration = env.registerOperator(document, kernel, options)
    try {
      const session = await env.createSession(model)
      try {
        return await session.run(feeds)
      } finally {
        session.dispose()
      }
    } finally {
      registration.dispose()
    }
  }

  it('takes the document as text, bytes or object', async () => {
    const document = spec('Twice')
    const text = JSON.stringify(document)
    for (const form of [document, text, new TextEncoder().encode(text)]) {
      const { y } = await once(form, map(v => 2 * v), nodeModel('Twice'))
      assert.deepEqual([...y.data], [2, -4])
    }
  })

  it('is seen by operators() until it is taken back', () => {
    const registration = env.registerOperator(spec('Seen'), map(v => v))
    assert.deepEqual(registration.operators, ['org.test.Seen'])
    const find = () => env.operators().find(({ name }) => name === 'Seen')
    assert.equal(find().kernel, true)
    assert.equal(find().sinceVersion, 1)
    registration.dispose()
    registration.dispose()
    assert.equal(find(), undefined)
  })

  it('without a kernel only declares', async () => {
    const registration = env.registerOperator(spec('Declared'))
    assert.equal(env.check(nodeModel('Declared')).ok, true)
    await assert.rejects(env.createSession(nodeModel('Declared')), { code: 'unsupported', message: /Declared/ })
    registration.dispose()
    const report = env.check(nodeModel('Declared'))
    assert.equal(report.complete, false)
    assert.match(report.incomplete.join(), /Declared/)
  })

  it('serves its version and later ones, until the next', async () => {
    const first = env.registerOperator(spec('Grown'), map(v => v + 1))
    const third = env.registerOperator(spec('Grown'), map(v => v + 3), { sinceVersion: 3 })
    for (const [version, want] of [[1, 2], [2, 2], [3, 4], [9, 4]]) {
      const session = await env.createSession(nodeModel('Grown', { version }))
      assert.equal((await session.run({ x: new Tensor('float32', [1]) })).y.data[0], want, `version ${version}`)
      session.dispose()
    }
    assert.throws(() => env.registerOperator(spec('Grown'), map(v => v)), ({ code, message, findings }) => code === 'invalid_argument' && /registered already/.test(message) && findings.some(({ rule }) => rule === 'spec.bundle.conflict'))
    first.dispose()
    third.dispose()
  })

  it('keeps a taken-back operator for the sessions that have it', async () => {
    let disposed = 0
    const registration = env.registerOperator(spec('Kept'), { ...map(v => v * 5), dispose () { disposed++ } })
    const session = await env.createSession(nodeModel('Kept'))
    registration.dispose()
    assert.equal(disposed, 0)
    assert.equal((await session.run({ x: new Tensor('float32', [2]) })).y.data[0], 10)
    session.dispose()
    assert.equal(disposed, 1)
    await assert.rejects(env.createSession(nodeModel('Kept')), { code: 'unsupported' })
  })

  it('refuses faulty documents with findings, and wrong arguments', () => {
    assert.throws(() => env.registerOperator({ kind: 'runlocal.operator-extension' }, map(v => v)), error => {
      assert.equal(error.code, 'malformed')
      assert.ok(error.findings.some(({ severity }) => severity === 'error'))
      return true
    })
    const refuses = (make, argument) => assert.throws(make, error => error.code === 'invalid_argument' && error.message.startsWith(argument))
    refuses(() => env.registerOperator(5, map(v => v)), 'spec')
    refuses(() => env.registerOperator(spec('Foo'), {}), 'kernel')
    refuses(() => env.registerOperator(spec('Foo'), 'text'), 'kernel')
    refuses(() => env.registerOperator(spec('Foo'), { compute () {}, inferShapes: 5 }), 'kernel')
    refuses(() => env.registerOperator(spec('Foo'), map(v => v), { sinceVersion: 0 }), 'sinceVersion')
  })

  describe('attributes', () => {
    const kinds = { i: 'int', f: 'float', s: 'string', is: 'ints', fs: 'floats', ss: 'strings' }
    const document = defaults => spec('Attributes', {}, object => {
      for (const [name, kind] of Object.entries(kinds)) object.attributes[name] = attribute(kind, defaults[name])
    })
    const defaults = { i: 3, f: 0.5, s: 'ö', is: [1, 2], fs: [0.25], ss: ['a', 'b'] }
    const seen = async (given, kernel = {}) => {
      let got
      await once(document(defaults), { ...kernel, compute ([x], attributes) { got = attributes; return [x] } }, nodeModel('Attributes', { attributes: given }))
      return got
    }
    it('have their defaults', async () => assert.deepEqual({ ...await seen({}) }, defaults))
    it('of every kind', async () => {
      const got = await seen({ i: -7n, f: 1.5, s: 'x', is: [5n], fs: [1.5, 2.5], ss: ['c'] })
      assert.deepEqual({ ...got }, { i: -7, f: 1.5, s: 'x', is: [5], fs: [1.5, 2.5], ss: ['c'] })
      assert.throws(() => { got.i = 1 }, TypeError)
    })
    it('an int that no number holds fails, or comes as a bigint', async () => {
      await assert.rejects(seen({ i: 2n ** 53n + 1n }), { code: 'operator_failed', message: /9007199254740993.*bigint/ })
      assert.equal((await seen({ i: 2n ** 53n + 1n }, { bigint: true })).i, 2n ** 53n + 1n)
      assert.deepEqual((await seen({ is: [1n] }, { bigint: true })).is, [1n])
    })
    it('tensors', async () => {
      let got
      const withTensor = spec('TensorAttribute', {}, object => { object.attributes.t = attribute('tensor') })
      await once(withTensor, { compute ([x], { t }) { got = t; return [x] } },
        nodeModel('TensorAttribute', { attributes: { t: { tensor: onnx.tensor('', 'int64', [2], BigInt64Array.of(4n, 5n)) } } }))
      assert.deepEqual(got, new Tensor('int64', [4n, 5n]))
    })

    describe('are held against the document when the session is made', () => {
      const document = kind => spec('Held', {}, ({ attributes }) => {
        attributes.a = { ...attribute(kind, { int: 1, ints: [1, 2], float: 0.5, string: 'up', strings: ['up'] }[kind]), allowed_values: { int: [1, 2], ints: [[1, 2], [3]], float: [0.5, 1.5], string: ['down', 'up'], strings: null }[kind] }
      })
      const needs = spec('Held', {}, ({ attributes }) => { attributes.a = attribute('int') })
      const inner = { compute: inputs => inputs }
      const body = onnx.functionProto({ domain, name: 'Held', inputs: ['X'], outputs: ['Y'], attributes: ['a'], opsets: { '': 21 }, nodes: [onnx.node('Neg', ['X'], ['Y'])] })

      const faults = {
        'a required one is missing': [needs, {}, /Held needs the attribute "a"/],
        'another kind': [document('int'), { a: 'up' }, /"a" of Held is string, and must be int/],
        'one that is not declared': [document('int'), { a: 1n, b: 1n }, /Held has no attribute "b"/],
        'an int that is not allowed': [document('int'), { a: 3n }, /not allowed/],
        'a float that is not allowed': [document('float'), { a: 2.5 }, /not allowed/],
        'a string that is not allowed': [document('string'), { a: 'sideways' }, /not allowed/],
        'ints that are not allowed': [document('ints'), { a: [1n] }, /not allowed/]
      }
      for (const [name, [held, attributes, message]] of Object.entries(faults)) {
        it(`${name}: no session, and the checker says so`, async () => {
          const registration = env.registerOperator(held, inner)
          try {
            const model = nodeModel('Held', { attributes })
            await assert.rejects(env.createSession(model), { name: 'OpspecError', code: 'malformed', message, path: 'graph.node[0]' })
            assert.ok(env.check(model).findings.some(({ rule, severity }) => severity === 'error' && rule.startsWith('model.attribute.')))
          } finally {
            registration.dispose()
          }
        })
      }
      it('what is allowed runs, notes of tools included', async () => {
        for (const [kind, value] of [['int', 2n], ['ints', [3n]], ['string', 'down'], ['strings', ['any']]]) {
          const { y } = await once(document(kind), inner, nodeModel('Held', { attributes: { a: value, __note: 'of a tool' } }))
          assert.deepEqual([...y.data], [1, -2])
        }
        assert.deepEqual([...(await once(needs, inner, nodeModel('Held', { attributes: { a: 7n } }))).y.data], [1, -2])
      })
      it('functions, too', async () => {
        const registration = env.registerOperator(needs, body)
        try {
          await assert.rejects(env.createSession(nodeModel('Held')), { code: 'malformed', message: /needs the attribute "a"/ })
        } finally {
          registration.dispose()
        }
      })
    })
  })

  describe('inputs and outputs', () => {
    const many = spec('Many', {}, object => {
      object.inputs = [['A', 'single'], ['B', 'optional'], ['C', 'variadic']].map(([name, cardinality]) => ({ name, cardinality, type_parameter: 'T', description: 'An input.' }))
      object.outputs = [['Y', 'single'], ['Z', 'optional']].map(([name, cardinality]) => ({ name, cardinality, type_parameter: 'T', description: 'An output.' }))
      object.shape_rules = ['`Y` and `Z` have the shape of `A`.']
    })
    it('that are left out are undefined, trailing ones or not', async () => {
      let got
      const kernel = { compute (inputs, _, { requested }) { got = [inputs.map(x => x?.data[0]), [...requested]]; return [inputs[0]] } }
      const x = [['x', 'float32', ['N']]]
      await once(many, kernel, nodeModel('Many', { inputs: x }))
      assert.deepEqual(got, [[1], [true]])
      await once(many, kernel, nodeModel('Many', { inputs: x, nodeInputs: ['x', '', 'x', 'x'], nodeOutputs: ['y', ''] }))
      assert.deepEqual(got[0], [1, undefined, 1, 1])
      assert.equal(got[1][0], true)
    })
    it('must be given when they are asked for', async () => {
      const run = kernel => once(many, kernel, nodeModel('Many', { outputs: [['y', 'float32', ['N']], ['z', 'float32', ['N']]] }))
      await assert.rejects(run({ compute: ([x]) => [x] }), { code: 'operator_failed', message: /no output 1/ })
      await assert.rejects(run({ compute: ([x]) => x }), { code: 'operator_failed', message: /list/ })
      assert.deepEqual([...(await run({ compute: ([x]) => [x, x] })).z.data], [1, -2])
    })
    it('of every element type', async () => {
      const types = { float32: 'float', float64: 'double', int64: 'int64', string: 'string', bool: 'bool', float16: 'float16', bfloat16: 'bfloat16', uint8: 'uint8', int4: 'int4', complex64: 'complex64' }
      for (const [type, name] of Object.entries(types)) {
        const data = type === 'string' ? ['a', ''] : type === 'complex64' ? [1, 2, 3, 4] : [1, 0]
        const x = new Tensor(type, data, [2])
        let got
        const { y } = await once(spec('Any', { types: [`tensor(${name})`] }), { compute ([value]) { got = value; return [new Tensor(value.type, value.data.slice(), value.dims)] } },
          nodeModel('Any', { inputs: [['x', type, [2]]], outputs: [['y', type, [2]]] }), { x })
        assert.equal(got.type, type)
        assert.deepEqual([y.type, y.data], [type, x.data], type)
      }
    })
    it('sequences', async () => {
      const document = spec('Reverse', { types: ['seq(tensor(float))'] })
      const model = nodeModel('Reverse', { inputs: [['x', { sequence: 'float32' }]], outputs: [['y', { sequence: 'float32' }]] })
      const { y } = await once(document, { compute: ([list]) => [[...list].reverse()] }, model, { x: [new Tensor('float32', [1]), new Tensor('float32', [2, 3])] })
      assert.deepEqual(y, [new Tensor('float32', [2, 3]), new Tensor('float32', [1])])
    })
    it('keep their values when the kernel makes memory grow', async () => {
      const session = async () => {
        const big = new Float32Array(3_000_000).fill(1)
        const { y } = await once(spec('Grow'), { compute: ([x]) => [new Tensor('float32', big.map((_, i) => x.data[i % 2]))] }, nodeModel('Grow'))
        return y
      }
      const y = await session()
      assert.equal(y.data.length, 3_000_000)
      assert.ok(y.data.every((v, i) => v === [1, -2][i % 2]))
    })
  })

  describe('inference', () => {
    const infer = (kernel, model) => {
      const registration = env.registerOperator(spec('Inferred'), { compute: ([x]) => [x], ...kernel })
      try {
        return env.check(model ?? nodeModel('Inferred', { outputs: [['y', 'float32', ['N']]] }))
      } finally {
        registration.dispose()
      }
    }
    it('sees types, shapes, symbols and constants', () => {
      let seen
      const report = infer({ inferShapes (inputs) { seen = inputs; return [{ type: inputs[0].type, shape: inputs[0].shape }] } },
        nodeModel('Inferred', { inputs: [['x', 'float32', ['N', null, 3]]], outputs: [['y', 'float32', ['N', null, 3]]] }))
      assert.deepEqual(seen, [{ type: 'tensor(float)', shape: ['N', null, 3] }])
      assert.equal(report.ok, true, JSON.stringify(report.findings))
    })
    it('gets the value of a constant', () => {
      let seen
      const document = spec('Constant', {}, object => {
        object.inputs.push({ name: 'S', cardinality: 'single', type_parameter: 'I', description: 'A shape.' })
        object.type_parameters.I = { allowed_types: ['tensor(int64)'], description: 'An index.' }
      })
      const registration = env.registerOperator(document, { compute: ([x]) => [x], inferShapes (inputs) { seen = inputs[1]; return [{ shape: [...inputs[1].value.data].map(Number) }] } })
      env.check(nodeModel('Constant', { nodeInputs: ['x', 's'], initializers: [onnx.tensor('s', 'int64', [2], BigInt64Array.of(2n, 3n))], outputs: [['y', 'float32', [2, 3]]] }))
      registration.dispose()
      assert.equal(seen.type, 'tensor(int64)')
      assert.deepEqual([...seen.value.data], [2n, 3n])
    })
    it('gives types by the type parameters when the kernel says nothing', () => {
      const report = infer({}, nodeModel('Inferred', { outputs: [['y', 'float64', ['N']]] }))
      assert.equal(report.ok, false)
      assert.match(report.findings.map(({ message }) => message).join(), /float/)
    })
    it('contradicting the model is a finding', () => {
      const report = infer({ inferShapes: () => [{ shape: [7] }] }, nodeModel('Inferred', { inputs: [['x', 'float32', [2]]], outputs: [['y', 'float32', [2]]] }))
      assert.ok(report.findings.length > 0)
    })
    it('fail() is a finding with the node', () => {
      const report = infer({ inferTypes (_, __, context) { context.fail('I do not like this') } })
      const finding = report.findings.find(({ message }) => message.includes('I do not like this'))
      assert.equal(finding.severity, 'error')
      assert.equal(finding.node.opType, 'Inferred')
    })
    it('must keep its promise', async () => {
      await assert.rejects(once(spec('Liar'), { inferShapes: () => [{ shape: [5] }], compute: ([x]) => [x] }, nodeModel('Liar', { outputs: [['y', 'float32']] })),
        { code: 'operator_failed', message: /inference said.*\[5\]/ })
    })
  })

  describe('failures', () => {
    const fail = compute => once(spec('Failing'), { compute }, nodeModel('Failing'))
    it('must answer a type that the document allows', async () => {
      const both = spec('Typed', { types: ['tensor(float)', 'tensor(double)'] })
      const answer = type => ({ compute: ([x]) => [{ type, dims: x.dims, data: [1, 2] }] })
      const open = nodeModel('Typed', { outputs: [['y']] })
      await assert.rejects(once(both, answer('int32'), open), { code: 'operator_failed', message: /Typed 'n0': output 0 \(Y\) cannot be tensor\(int32\)/ })
      await assert.rejects(once(both, answer('float64'), open), { code: 'operator_failed', message: /output 0 \(Y\) is tensor\(double\), but T is tensor\(float\) already/ })
      assert.deepEqual([...(await once(both, answer('float32'), open)).y.data], [1, 2])
      const says = { ...answer('int32'), inferTypes: () => ['tensor(int32)'] }
      await assert.rejects(once(both, says, open), OpspecError)
    })
    it('fail() ends the run with its message and the node', async () => {
      await assert.rejects(fail((_, __, context) => context.fail('no such axis')), error => {
        assert.ok(error instanceof OpspecError)
        assert.equal(error.code, 'operator_failed')
        assert.match(error.message, /no such axis/)
        assert.match(error.path ?? '', /graph\.node\[0\]/)
        return true
      })
    })
    it('what is thrown is the cause', async () => {
      const cause = new RangeError('boom')
      await assert.rejects(fail(() => { throw cause }), error => error.code === 'operator_failed' && error.cause === cause)
      await assert.rejects(fail(() => { throw 'text' }), error => error.code === 'operator_failed' && /text/.test(error.message))
      await assert.rejects(fail(() => null.x), error => error.cause instanceof TypeError)
    })
    it('create may refuse', async () => {
      await assert.rejects(once(spec('Refusing'), { create () { throw new Error('not today') }, compute () {} }, nodeModel('Refusing')), { code: 'operator_failed', message: /not today/ })
    })
    it('the Env goes on', async () => {
      const { y } = await once(spec('Fine'), map(v => v), nodeModel('Fine'))
      assert.deepEqual([...y.data], [1, -2])
    })
    it('a kernel cannot call its own Env', async () => {
      await assert.rejects(once(spec('Inner'), { compute ([x]) { env.operators(); env.check('{}'); return [x] } }, nodeModel('Inner')), { code: 'operator_failed', message: /inside a kernel/ })
    })
  })

  describe('asynchronous kernels', () => {
    const later = (ms, fn) => ({ async compute ([x]) { await new Promise(resolve => setTimeout(resolve, ms)); return [fn(x)] } })
    it('answer later, with their inputs intact', async () => {
      const kernel = { async compute ([x]) { await new Promise(resolve => setTimeout(resolve, 5)); return [new Tensor('float32', x.data.map(v => v + 1), x.dims)] } }
      const registration = env.registerOperator(spec('Later'), kernel)
      const session = await env.createSession(nodeModel('Later'))
      const running = session.run({ x: new Tensor('float32', [1, -2]) })
      // Memory grows meanwhile.
      env.readValue(env.writeValue(new Tensor('float32', new Float32Array(4_000_000)), 'x'), 'tensor')
      assert.deepEqual([...(await running).y.data], [2, -1])
      session.dispose()
      registration.dispose()
    })
    it('answer with a promise out of a plain function', async () => {
      for (let i = 0; i < 2; i++) {
        const { y } = await once(spec('Promised'), { compute: ([x]) => Promise.resolve([new Tensor('float32', [...x.data].map(v => -v))]) }, nodeModel('Promised'))
        assert.deepEqual([...y.data], [-1, 2])
      }
    })
    it('may reject', async () => {
      const cause = new Error('offline')
      await assert.rejects(once(spec('Rejecting'), { compute: async () => { throw cause } }, nodeModel('Rejecting')), error => error.code === 'operator_failed' && error.cause === cause)
    })
    it('are given up at a signal or time limit', async () => {
      const registration = env.registerOperator(spec('Slow'), later(10_000, x => x))
      const session = await env.createSession(nodeModel('Slow'))
      const feeds = { x: new Tensor('float32', [1]) }
      await assert.rejects(session.run(feeds, { timeoutMs: 20 }), { code: 'timeout' })
      const controller = new AbortController()
      setTimeout(() => controller.abort(), 10)
      await assert.rejects(session.run(feeds, { signal: controller.signal }), { code: 'aborted' })
      session.dispose()
      registration.dispose()
    })
    it('see the signal', async () => {
      let seen
      const registration = env.registerOperator(spec('Seeing'), { compute ([x], _, { signal }) { seen = signal; return [x] } })
      const session = await env.createSession(nodeModel('Seeing'))
      const { signal } = new AbortController()
      await session.run({ x: new Tensor('float32', [1]) }, { signal })
      assert.equal(seen, signal)
      session.dispose()
      registration.dispose()
    })
  })

  it('create comes once a node, with its context', async () => {
    const calls = []
    const kernel = { create (attributes, context) { calls.push([attributes, context.opType, context.domain, context.sinceVersion]) }, compute: ([x]) => [x] }
    const registration = env.registerOperator(spec('Created'), kernel)
    const session = await env.createSession(nodeModel('Created'))
    for (let i = 0; i < 3; i++) await session.run({ x: new Tensor('float32', [i]) })
    assert.deepEqual(calls, [[{}, 'Created', domain, 1]])
    session.dispose()
    registration.dispose()
  })
})
