// What kernels answer, and throw, beside what they should: held against the document, said in the error, and without harm for
// anything else of the Env.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'
import { collectTests } from '../../wasm/js/isolated.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const spec = (types = ['tensor(float)'], more = {}) => customSpec({ domain, opType: 'Op', types, ...more })
const x = new Tensor('float32', [1, 2, 3])
const model = (nodes = [onnx.node('Op', ['x'], ['y'], {}, { domain })]) => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [], nodes
})
// Input X is a tensor(float), output Y of any of `types`.
function document(types) {
  const text = JSON.parse(spec())
  text.outputs[0].type_parameter = 'M'
  text.type_parameters.M = { allowed_types: types, description: 'Of the output.' }
  text.attributes.to = { kind: 'int', required: false, default: 1, allowed_values: null, description: 'Which type.' }
  return text
}

describe('answers', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  async function run(doc, kernel, feeds = { x }) {
    const registration = env.registerOperator(doc, kernel)
    try {
      const session = await env.createSession(model())
      try {
        return (await session.run(feeds, { outputs: ['y'] })).y
      } finally {
        session.dispose()
      }
    } finally {
      registration.dispose()
    }
  }
  const both = { 'at once': value => ({ compute: () => [value] }), later: value => ({ compute: async () => [value] }) }
  const sparse = type => new SparseTensor(type, new Tensor(type, [1]), new Tensor('int64', [0n]), [3])

  const good = [
    ['map(string, tensor(float))', new Map([['b', 2], ['a', 1]]), new Map([['a', 1], ['b', 2]])],
    ['map(int64, tensor(float))', new Map([[1, 1]]), new Map([[1n, 1]])],
    ['map(int64, tensor(string))', new Map([[1n, 's']])],
    ['map(string, tensor(int64))', new Map([['k', 1n]])],
    ['map(string, tensor(float))', new Map()],
    ['seq(map(string, tensor(float)))', [new Map([['a', 1]])]],
    ['seq(tensor(float))', []],
    ['seq(tensor(float))', [x]],
    ['optional(tensor(float))', null],
    ['optional(seq(tensor(float)))', []],
    ['sparse_tensor(float)', sparse('float32')]
  ]
  const plain = value => value instanceof SparseTensor ? ['sparse', value.type] : value instanceof Tensor ? value.toArray() : Array.isArray(value) ? value.map(plain) : value
  for (const [way, kernel] of Object.entries(both)) {
    it(`that are no tensors, ${way}`, async () => {
      for (const [type, value, expected = value] of good) {
        // In an Env that has not seen the type, alone and among others.
        for (const types of [[type], [type, 'tensor(int8)'].sort()]) {
          env.dispose()
          env = await createEnv()
          assert.deepEqual(plain(await run(document(types), kernel(value))), plain(expected), `${types}`)
        }
      }
    })
    it(`of another type than the document's, ${way}`, async () => {
      const int = new Tensor('int32', [1, 2, 3])
      const bad = [
        ['tensor(float)', [x]], ['tensor(float)', []], ['tensor(float)', [[x]]], ['tensor(float)', sparse('float32')], ['tensor(float)', new Map([['a', 1]])], ['tensor(float)', null],
        ['seq(tensor(float))', [x, int]], ['seq(tensor(float))', [int]], ['seq(tensor(float))', [[x]]], ['seq(tensor(float))', x], ['seq(tensor(float))', [sparse('float32')]],
        ['map(string, tensor(float))', new Map([['a', int]])], ['map(string, tensor(float))', new Map([[1, 1]])], ['map(string, tensor(float))', new Map([['a', 1n], ['b', {}]])],
        ['optional(seq(tensor(float)))', [int]], ['sparse_tensor(float)', sparse('float64')], ['sparse_tensor(float)', x]
      ]
      for (const [type, value] of bad) await assert.rejects(run(document([type]), kernel(value)), { code: 'operator_failed' }, `${type} ${plain(value)}`)
    })
  }

  it('a type that a getter changes after the first look is held as well', async () => {
    let reads = 0
    const changing = { get type () { return reads++ < 2 ? 'float32' : 'int32' }, dims: [1], get data () { return reads < 3 ? new Float32Array(1) : new Int32Array(1) } }
    const answered = await run(document(['seq(tensor(float))', 'seq(tensor(int32))']), { compute: () => [[x, changing]] }).catch(error => error)
    assert.ok(answered.code === 'operator_failed' || answered.every(({ type }) => type === 'float32'))
  })

  it('that do not say their type take it from the input of the same type parameter, or from inferTypes', async () => {
    const types = ['seq(tensor(double))', 'seq(tensor(float))']
    const length = onnx.node('SequenceLength', ['y'], ['n'])
    await assert.rejects(run(document(types), { compute: () => [[]] }), { code: 'operator_failed', message: /output 0 \(Y\) is empty and does not say which/ })
    assert.deepEqual(await run(document(types), { inferTypes: () => ['seq(tensor(float))'], compute: () => [[]] }), [])
    const registration = env.registerOperator(spec(types), { compute: () => [[]] })
    const session = await env.createSession(model([onnx.node('SequenceConstruct', ['x'], ['s']), onnx.node('Op', ['s'], ['y'], {}, { domain }), length]))
    const { n, y } = await session.run({ x }, { outputs: ['n', 'y'] })
    assert.deepEqual([n.toArray(), y], [0n, []])
    session.dispose()
    registration.dispose()
    await assert.rejects(run(document(types), { compute: () => [[new Tensor('int8', [1])]] }), { code: 'operator_failed', message: /is seq\(tensor\(int8\)\), not one of seq\(tensor\(double\)\), seq\(tensor\(float\)\)/ })
  })

  it('keys of a Map come in the order of their UTF-8 bytes, each once', async () => {
    const type = 'map(string, tensor(int64))'
    const answer = await run(document([type]), { compute: () => [new Map([['\u{1F600}', 1n], ['\uFFFD', 2n], ['ab', 3n], ['a', 4n]])] })
    assert.deepEqual([...answer.keys()], ['a', 'ab', '\uFFFD', '\u{1F600}'])
    await assert.rejects(run(document(['map(int64, tensor(string))']), { compute: () => [new Map([[1, 'a'], [1n, 'b']])] }), { code: 'operator_failed', message: /the key 1 is there twice/ })
  })
  it('places of a sparse tensor ascend inside of its shape, one for each value', async () => {
    const places = (dims, indices, shape, count = shape[0]) => ({ compute: () => [new SparseTensor('float32', new Tensor('float32', new Float32Array(count)), new Tensor('int64', indices, shape), dims)] })
    const held = document(['sparse_tensor(float)'])
    for (const good of [places([10], [1n, 3n], [2]), places([2, 3], [0n, 5n], [2]), places([2, 3], [0n, 2n, 1n, 0n], [2, 2]), places([10], [], [0])]) assert.ok(await run(held, good) instanceof SparseTensor)
    const wrong = {
      'outside of \\[10\\]': [places([10], [10n], [1]), places([10], [-1n], [1])],
      'outside of \\[2, 3\\]': [places([2, 3], [0n, 3n], [1, 2])],
      'does not come after': [places([10], [3n, 1n], [2]), places([10], [3n, 3n], [2]), places([2, 3], [1n, 0n, 0n, 2n], [2, 2])],
      'must have the shape \\[2\\]': [places([10], [1n], [1], 2)],
      'must have the shape': [places([10], [1n, 1n], [1, 2]), places([10], [1n], [])]
    }
    for (const [why, kernels] of Object.entries(wrong)) for (const kernel of kernels) await assert.rejects(run(held, kernel), { code: 'operator_failed', message: new RegExp(why) })
  })
  it('elements of less than a byte are what their type can hold', async () => {
    const whole = type => ({ compute: () => [new Tensor(type, [0])] })
    for (const [type, low, high, array] of [['int4', -8, 7, Int8Array], ['uint4', 0, 15, Uint8Array], ['int2', -2, 1, Int8Array], ['uint2', 0, 3, Uint8Array], ['float4e2m1', 0, 15, Uint8Array]]) {
      const held = document([`tensor(${type})`])
      const answer = (...values) => ({ compute: () => [{ type, dims: [values.length], data: array.from(values) }] })
      await run(held, whole(type))
      assert.deepEqual([...(await run(held, answer(low, high, 0, 1, 0))).data], [low, high, 0, 1, 0])
      for (const beyond of [[high + 1, 0, 0, 0, 0], [0, 0, 0, 0, array === Int8Array ? low - 1 : 255]]) {
        await assert.rejects(run(held, answer(...beyond)), { code: 'operator_failed', message: new RegExp(`which ${type} cannot hold`) })
      }
    }
    const same = JSON.parse(spec(['tensor(int4)']))
    const registration = env.registerOperator(same, { elementwise: v => v + 1 })
    const session = await env.createSession(onnx.model({ opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'int4', ['N'])], outputs: [], nodes: [onnx.node('Op', ['x'], ['y'], {}, { domain })] }))
    await assert.rejects(session.run({ x: new Tensor('int4', [6, 7]) }, { outputs: ['y'] }), { code: 'operator_failed', message: /8, which int4 cannot hold/ })
    session.dispose()
    registration.dispose()
  })
  it('lists and Maps that a caller gives hold one type', async () => {
    assert.throws(() => env.writeValue([x, new Tensor('int32', [1])], 's'), { code: 'invalid_argument', message: /value\[1\] is tensor\(int32\), not tensor\(float\)/ })
    assert.throws(() => env.writeValue(new Map([['a', x], ['b', new Tensor('int32', [1])]]), 'm'), { code: 'invalid_argument' })
  })

  it('of inference', async () => {
    const compute = ([value]) => [value]
    const refused = (kernel, message) => assert.rejects(run(spec(), { compute, ...kernel }), { code: 'operator_failed', message })
    await refused({ inferShapes: () => [{ shape: 'abc' }] }, /a shape is a list or null, not abc/)
    await refused({ inferShapes: () => [{ shape: 3 }] }, /a shape is a list or null, not 3/)
    for (const dim of [NaN, Infinity, {}, true, Symbol('s')]) await refused({ inferShapes: () => [{ shape: [1, dim] }] }, /dimension 1 is .*neither a size nor a name/)
    for (const dim of [-1, 1.5, 1e300]) await refused({ inferShapes: () => [{ shape: [dim] }] }, /no size/)
    await refused({ inferShapes: () => ['abc'] }, /output 0 is abc, not an object/)
    await refused({ inferShapes: () => [{ shape: [3] }, { shape: [3] }] }, /answered 2 outputs, the operator has 1/)
    await refused({ inferShapes: () => [{ type: 'tensor(int32)', shape: [3] }] }, /inferShapes: output 0 \(Y\) cannot be tensor\(int32\)/)
    await refused({ inferTypes: () => ['tensor(float)', 'tensor(float)'] }, /answered 2 outputs, the operator has 1/)
    await refused({ inferTypes: () => ['tensor(int32)'] }, /inferTypes: output 0 \(Y\) cannot be tensor\(int32\)/)
    await refused({ inferTypes: () => [5] }, /is 5, which is no type/)
    for (const type of ['', undefined, null]) assert.deepEqual((await run(spec(), { compute, inferShapes: () => [{ type, shape: [3] }], inferTypes: () => [type] })).dims, [3])
    for (const shape of [null, [null], [undefined], ['N'], [3n], [3], new Int32Array([3])]) assert.deepEqual((await run(spec(), { compute, inferShapes: () => [{ shape }], inferTypes: () => [' tensor( float ) '.replaceAll(' ', '')] })).dims, [3])
  })

  it('promises where none can be waited for are refused, and heard', async () => {
    const heard = []
    const listen = reason => heard.push(reason)
    process.on('unhandledRejection', listen)
    const fails = async () => { throw new Error('nobody waits') }
    const compute = ([value]) => [value]
    for (const kernel of [{ create: fails, compute }, { inferTypes: fails, compute }, { inferShapes: fails, compute }, { elementwise: fails }]) {
      const name = Object.keys(kernel)[0]
      await assert.rejects(run(spec(), kernel), { code: 'operator_failed', message: new RegExp(`${name} answered a promise: it must answer at once`) })
    }
    await run(spec(), { compute, dispose: fails })
    await new Promise(resolve => setTimeout(resolve, 20))
    process.off('unhandledRejection', listen)
    assert.deepEqual(heard, [])
  })

  it('of elementwise that are no numbers', async () => {
    for (const value of ['a', {}, null, true, 1n, [1], Symbol('s')]) {
      for (const type of ['float', 'double']) {
        const name = type === 'float' ? 'float32' : 'float64'
        const one = onnx.model({ opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', name, ['N'])], outputs: [], nodes: [onnx.node('Op', ['x'], ['y'], {}, { domain })] })
        const registration = env.registerOperator(spec([`tensor(${type})`]), { elementwise: v => v === 2 ? value : v })
        const session = await env.createSession(one)
        await assert.rejects(session.run({ x: new Tensor(name, [1, 2]) }, { outputs: ['y'] }), { code: 'operator_failed', message: /for element 1 of output 0, not a number/ })
        session.dispose()
        registration.dispose()
      }
      for (const type of ['int8', 'bool']) {
        if ((type === 'bool' && value === true) || value === 1n) continue
        const text = document([`tensor(${type})`])
        await assert.rejects(run(text, { elementwise: () => value }), { code: 'operator_failed' }, `${type} ${String(value)}`)
      }
    }
    const two = customSpec({ domain, opType: 'Op', outputs: ['Y', 'Z'] })
    const registration = env.registerOperator(two, { elementwise: v => [v, null] })
    const session = await env.createSession(model([onnx.node('Op', ['x'], ['y', 'z'], {}, { domain })]))
    await assert.rejects(session.run({ x }, { outputs: ['y'] }), { code: 'operator_failed', message: /null for element 0 of output 1/ })
    session.dispose()
    registration.dispose()
  })

  it('a failure without a word', async () => {
    await assert.rejects(run(spec(), { compute: (_, __, context) => context.fail() }), { code: 'operator_failed', message: /the kernel failed/ })
    await assert.rejects(run(spec(), { compute: (_, __, context) => context.fail({ toString () { throw 1 } }) }), { code: 'operator_failed' })
  })

  it('a kernel whose members throw is refused', () => {
    const readable = { code: 'invalid_argument', message: /kernel: cannot be read/ }
    assert.throws(() => env.registerOperator(spec(), { get compute () { throw null } }), readable)
    assert.throws(() => env.registerOperator(spec(), new Proxy({}, { get () { throw new Error('mine') }, has: () => true })), readable)
  })
})

describe('a dispose that throws', () => {
  const failing = (list, name) => ({ compute: ([value]) => [value], dispose () { list.push(name); throw new Error(name) } })
  const said = name => error => error instanceof OpspecError && error.code === 'operator_failed' && error.message.endsWith(`: ${name}`) && error.cause.message === name

  it('of an Env: all are asked, and the Env is gone', async () => {
    const env = await createEnv()
    const list = []
    for (let version = 1; version < 4; version++) env.registerOperator(spec(), failing(list, `v${version}`), { sinceVersion: version })
    assert.throws(() => env.dispose(), said('v1'))
    assert.deepEqual(list, ['v1', 'v2', 'v3'])
    assert.throws(() => env.operators(), { code: 'invalid_argument', message: /disposed/ })
    env.dispose()
  })
  it('of a registration and of a session: they are gone, and the Env goes on', async () => {
    const env = await createEnv()
    const list = []
    const registration = env.registerOperator(spec(), failing(list, 'a'))
    assert.throws(() => registration.dispose(), said('a'))
    registration.dispose()
    const kept = env.registerOperator(spec(), failing(list, 'b'))
    const session = await env.createSession(model())
    kept.dispose()
    assert.deepEqual(list, ['a'])
    assert.throws(() => session.dispose(), said('b'))
    session.dispose()
    assert.deepEqual(list, ['a', 'b'])
    assert.deepEqual(env.operators().filter(operator => operator.domain === domain), [])
    env.dispose()
  })
})

describe('a bundle whose kernel throws what is no error', () => {
  const evidence = JSON.stringify({ kind: 'opspec.evidence', version: '1', description: 'One.', inputs: [{ type: 'tensor(float)', shape: [1], data: [1] }], outputs: [{ type: 'tensor(float)', shape: [1], data: [1] }] })
  const cases = {
    'throw null': 'error', 'throw undefined': 'error', 'throw new Proxy({}, { get () { throw 1 } })': 'error',
    'export default { get compute () { throw null } }': 'error', 'export default new Proxy({}, { get () { throw null }, has () { return true } })': 'error',
    'export default { compute () { throw new Proxy({}, { get () { throw 1 } }) } }': 'failed', 'export default { then () {} }': 'error',
    'export default { compute: ([x]) => [x], dispose () { throw new Error("d") } }': 'passed'
  }
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  for (const [kernel, status] of Object.entries(cases)) {
    it(`${kernel}: ${status}`, async () => {
      const { tests } = await env.test({ 'op.opspec.json': JSON.stringify({ ...JSON.parse(spec()), tests: ['e.json'] }), 'kernel.js': kernel, 'e.json': evidence })
      assert.deepEqual(tests.map(test => test.status), [status])
      assert.equal(typeof (tests[0].message ?? ''), 'string')
    })
  }

  it('a place that is lost while kernels are loaded leaves the tests of the other backends', async () => {
    const plan = ['js', 'wasm', 'js', 'builtin'].map((backend, index) => ({ index, name: `t${index}`, path: `t${index}`, backend }))
    const skips = []
    const tests = await collectTests({ version: 1, files: [] }, {}, (job, onMessage, onEnd) => {
      skips.push(job.skip)
      setTimeout(() => {
        onMessage({ type: 'plan', tests: plan })
        if (job.skip < 3) return onEnd('it was lost')
        onMessage({ type: 'start', index: 3 })
        onMessage({ type: 'test', test: { status: 'passed' } })
        onMessage({ type: 'done' })
      }, 0)
      return () => {}
    })
    assert.deepEqual(skips, [0, 1, 3])
    assert.deepEqual(tests.map(({ backend, status, message }) => [backend, status, message]), [['js', 'error', 'it was lost'], ['wasm', 'error', 'it was lost'], ['js', 'error', 'it was lost'], ['builtin', 'passed', undefined]])
  })
})

describe('kernels of a worker', () => {
  it('that cannot be loaded, or are none, are refused', async () => {
    const env = await createWorkerEnv()
    const refused = (source, message) => assert.rejects(env.registerOperator(spec(), source), error => error instanceof OpspecError && error.code === 'invalid_argument' && message.test(error.message))
    await refused('throw null', /cannot be loaded: null/)
    await refused('throw new Proxy({}, { get () { throw 1 } })', /cannot be loaded/)
    await refused('this is no script', /cannot be loaded/)
    await refused('export const compute = 1', /no default export/)
    await refused('export default { get compute () { throw null } }', /cannot be read/)
    assert.deepEqual((await env.operators()).filter(operator => operator.domain === domain), [])
    await env.dispose()
  })
})
