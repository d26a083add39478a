// Whatever stands in the place of an argument: OpspecError invalid_argument that begins with the argument's name, from an Env and
// from one in a worker, and no promise whose rejection nobody sees.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { applyFixes, createEnv, createWorkerEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'
import { collectTests } from '../../wasm/js/isolated.js'
import { after as later } from '../../wasm/src/platform.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const relu = onnx.model({ inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['x'], ['y'])] })
const x = new Tensor('float32', [-1, 2])

const detach = view => {
  structuredClone(view.buffer, { transfer: [view.buffer] })
  return view
}
const detached = {
  'a view of bytes': () => detach(new Uint8Array(8)), 'a buffer': () => detach(new Uint8Array(8)).buffer, 'a view of floats': () => detach(new Float32Array(2)),
  'a DataView': () => detach(new DataView(new ArrayBuffer(8)))
}

const strange = {
  'an object without a prototype': Object.create(null), 'a symbol': Symbol('s'), 'an object whose text throws': { toString() { throw new Error('no text') } }
}

async function refused(act, name) {
  const error = await (async () => act())().then(value => assert.fail(`${name}: no error but ${typeof value}`), error => error)
  assert.ok(error instanceof OpspecError, error.stack)
  assert.equal(error.code, 'invalid_argument', error.message)
  assert.match(error.message, new RegExp(`^(${name})(?!\\w)`))
}

const unseen = []
const see = error => unseen.push(error)
before(() => process.on('unhandledRejection', see))
after(() => {
  process.off('unhandledRejection', see)
  assert.deepEqual(unseen, [])
})

describe('arguments of an Env', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  for (const [what, make] of Object.entries(detached)) {
    it(`${what} that was given away`, async () => {
      const bytes = make()
      await refused(() => env.check(bytes), 'document')
      await refused(() => env.validateSpec(bytes), 'spec')
      await refused(() => env.loadModel(bytes), 'bytes')
      await refused(() => env.createSession(bytes), 'model')
      await refused(() => env.registerOperator(bytes), 'spec')
      await refused(() => env.registerOperator(customSpec({ domain: 'd', opType: 'O' }), bytes), 'kernel')
      await refused(() => env.loadPlugin(bytes), 'plug-in')
      await refused(() => env.loadPlugin(relu, { documents: ['{}', bytes] }), 'documents\\[1\\]')
      await refused(() => env.diff(bytes, '{}'), 'a')
      await refused(() => env.decode(bytes, 'ModelProto'), 'bytes')
      await refused(() => env.readValue(bytes, 'tensor'), 'bytes')
      await refused(() => env.test(bytes), 'bundle')
      await refused(() => env.test({ 'a.json': bytes }), 'files: a.json')
      await refused(() => createEnv({ wasm: bytes }), 'wasm')
    })
  }

  it('data of a tensor without elements that was given away', () => refused(() => env.writeValue({ type: 'float32', dims: [0], data: detached['a view of floats']() }, 'x'), 'value'))

  for (const [what, value] of Object.entries(strange)) {
    it(`${what} in values`, async () => {
      await refused(() => new Tensor(value, [1]), 'type')
      await refused(() => new Tensor('float32', [1], value), 'dims')
      await refused(() => new Tensor('float32', [1], [value]), 'dims')
      await refused(() => new Tensor('float32', value), 'data')
      for (const type of ['float32', 'float16', 'int4', 'int64', 'bool', 'string']) await refused(() => new Tensor(type, [value]), 'data')
      await refused(() => new SparseTensor(value, x, new Tensor('int64', [0n]), [1]), 'type')
      await refused(() => new SparseTensor('float32', x, new Tensor('int64', [0n]), [value]), 'dims')
      await refused(() => env.writeValue({ type: 'float32', dims: [value], data: [1] }, 'x'), 'value')
      await refused(() => env.writeValue(new Map([[value, 1]]), 'x'), 'value')
      await refused(() => env.writeValue([value], 'x'), 'value|a')
    })
    it(`${what} in options`, async () => {
      await refused(() => env.check('{}', { signal: value }), 'signal')
      await refused(() => env.check('{}', { timeoutMs: value }), 'timeoutMs')
      await refused(() => env.check('{}', { as: value }), 'as')
      await refused(() => env.test({}, { backend: value }), 'backend')
    })
  }

  it('a document that JSON has no text for', async () => {
    await refused(() => env.registerOperator({ toJSON() {} }), 'spec')
    await refused(() => env.registerOperator({ toJSON() { throw Object.create(null) } }), 'spec')
  })

  it('a signal that only looks like one', () => refused(() => env.check('{}', { signal: { aborted: false } }), 'signal'))
})

describe('arguments of applyFixes', () => {
  const one = edit => () => applyFixes('abc', [{ fix: { edits: [edit] } }])
  it('refuses what is no finding, fix or edit', async () => {
    for (const finding of [null, 5, { fix: 5 }, { fix: {} }, { fix: { edits: 5 } }]) await refused(() => applyFixes('abc', [finding]), 'findings\\[0\\]')
    for (const edit of [null, 5, {}, { byteStart: 0.5, byteEnd: 1 }, { byteStart: 0, byteEnd: 1n }]) await refused(one(edit), 'findings\\[0\\].fix.edits\\[0\\]')
    await refused(one({ byteStart: 0, byteEnd: 1, text: 5 }), 'findings\\[0\\].fix.edits\\[0\\].text')
    for (const bytes of ['x', detach(new Uint8Array(1))]) await refused(one({ byteStart: 0, byteEnd: 1, bytes }), 'findings\\[0\\].fix.edits\\[0\\].bytes')
    await refused(() => applyFixes(detach(new Uint8Array(1)), []), 'content')
  })
  it('leaves edits that do not fit', () => {
    assert.deepEqual(one({ byteStart: 1, byteEnd: 9, text: '' })(), { content: 'abc', applied: 0, left: 1 })
    assert.deepEqual(one({ byteStart: 1, byteEnd: 2, text: 'B' })(), { content: 'aBc', applied: 1, left: 0 })
  })
})

describe('arguments of an Env in a worker', () => {
  let remote
  before(async () => { remote = await createWorkerEnv() })
  after(() => remote.dispose())

  it('time limits and signals', async () => {
    const model = await remote.loadModel(relu)
    const session = await remote.createSession(model)
    for (const call of [options => remote.check('{}', options), options => model.check(options), options => session.run({ x }, options), options => remote.test({}, options)]) {
      for (const timeoutMs of [5n, -1, NaN, '5', Symbol('s')]) await refused(() => call({ timeoutMs }), 'timeoutMs')
      for (const signal of [5, NaN, -1, 'x', {}, { aborted: false }]) await refused(() => call({ signal }), 'signal')
      for (const options of [null, 5, 'x']) await refused(() => call(options), 'options')
    }
    await session.dispose()
  })

  const unclonable = { 'a symbol': Symbol('s'), 'a promise': Promise.resolve(), 'a function': () => {}, 'a detached view': detach(new Uint8Array(4)), 'an object whose getter throws': { get a () { throw new Error('no') } } }
  for (const [what, value] of Object.entries(unclonable)) {
    it(`${what} in every place`, async () => {
      await refused(() => remote.check(value), 'document')
      await refused(() => remote.validateSpec(value), 'spec')
      await refused(() => remote.loadModel(value), 'bytes')
      await refused(() => remote.createSession(value), 'model')
      await refused(() => remote.test(value), 'bundle')
      await refused(() => remote.test(new Map([['a.json', value]])), 'bundle')
      await refused(() => remote.check('{}', { files: { 'a.bin': value } }), 'files')
      await refused(() => remote.check('{}', { files: new Map([['a.bin', value]]) }), 'files')
      await refused(() => remote.check('{}', { as: value }), 'as')
      await refused(() => remote.registerOperator('{}', { dispose: value, compute: 5 }), 'kernel')
      await refused(() => remote.loadPlugin(value), 'plug-in')
      await refused(() => remote.diff('{}', value), 'b')
      await refused(() => remote.writeValue(value, 'x'), 'value')
      await refused(() => remote.explain(value), 'rule')
      await refused(() => createWorkerEnv({ limits: value }), 'limits')
    })
  }

  it('a list in itself', async () => {
    const list = []
    list.push(list)
    await refused(() => remote.check('{}', { files: list }), 'files')
  })

  it('answers afterwards, and an Env that refused something is disposed of in silence', async () => {
    assert.equal((await remote.check('{}')).kind, 'json')
    const own = await createWorkerEnv()
    await refused(() => own.check(Symbol('s')), 'document')
    await own.dispose()
    await new Promise(resolve => setImmediate(resolve))
  })

  it('an input may be called as an option', async () => {
    const model = onnx.model({ inputs: [onnx.value('signal', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['signal'], ['y'])] })
    const session = await remote.createSession(model)
    assert.deepEqual([...(await session.run({ signal: x })).y.data], [0, 2])
  })

  it('what was made from bytes that are gone is lost alone when the worker is started again', async () => {
    const own = await createWorkerEnv()
    try {
      const bytes = relu.slice()
      const lost = await own.loadModel(bytes)
      const kept = await own.loadModel(relu)
      detach(bytes)
      await own.registerOperator(customSpec({ domain: 'org.test', opType: 'Endless' }), 'export default { compute () { for (;;); } }')
      const endless = await own.createSession(onnx.model({
        opsets: { '': 21, 'org.test': 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Endless', ['x'], ['y'], {}, { domain: 'org.test' })]
      }))
      await assert.rejects(endless.run({ x }, { timeoutMs: 50 }), { code: 'timeout' })
      assert.equal((await kept.check()).ok, true)
      await refused(() => lost.check(), 'this object')
    } finally {
      await own.dispose()
    }
  })
})

describe('long time limits', () => {
  const long = [2 ** 31 - 1, 2 ** 31, 2.2e9, 1e12, Number.MAX_VALUE, Infinity]

  it('are none of a moment', async () => {
    let fired = 0
    const stops = long.map(ms => later(ms, () => { fired++ }))
    await new Promise(resolve => later(5, resolve))
    for (const stop of stops) stop()
    assert.equal(fired, 0)
    const stop = later(1, () => { fired++ })
    stop()
    await new Promise(resolve => later(10, resolve))
    assert.equal(fired, 0)
  })

  it('in a worker and in an Env, of what waits too', async () => {
    const remote = await createWorkerEnv()
    const env = await createEnv()
    const evidence = JSON.stringify({ kind: 'opspec.evidence', version: '1', operator: { domain: '', op_type: 'Relu' }, inputs: [{ type: 'tensor(float)', shape: [1], data: [-1] }], outputs: [{ type: 'tensor(float)', shape: [1], data: [0] }] })
    const wait = onnx.model({ opsets: { '': 21, 'org.test': 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Wait', ['x'], ['y'], {}, { domain: 'org.test' })] })
    env.registerOperator(customSpec({ domain: 'org.test', opType: 'Wait' }), { async compute([value]) {
      await new Promise(resolve => setTimeout(resolve, 20))
      return [value]
    } })
    try {
      for (const timeoutMs of long) {
        for (const one of [remote, env]) {
          assert.equal((await one.check(relu, { timeoutMs })).ok, true)
          const session = await one.createSession(relu, { timeoutMs })
          assert.deepEqual([...(await session.run({ x }, { timeoutMs })).y.data], [0, 2])
          assert.equal((await one.test({ 'a.json': new TextEncoder().encode(evidence) }, { timeoutMs })).ok, true)
        }
        assert.deepEqual([...(await (await env.createSession(wait)).run({ x }, { timeoutMs })).y.data], [-1, 2])
      }
      assert.equal((await remote.status()).restarts, 0)
    } finally {
      await remote.dispose()
      env.dispose()
    }
  })
})

describe('collectTests', () => {
  const job = { version: 1, files: [] }
  it('a place that cannot be ended', async () => {
    for (const answer of [undefined, 5, Promise.resolve()]) await refused(() => collectTests(job, {}, () => answer), 'open')
  })
  it('a place that does not open', () => assert.rejects(collectTests(job, {}, () => { throw new RangeError('no place') }), /no place/))
  it('a place that fails when it is ended', async () => {
    await assert.rejects(collectTests(job, {}, (_, onMessage) => {
      queueMicrotask(() => {
        onMessage({ type: 'plan', tests: [] })
        onMessage({ type: 'done' })
      })
      return () => { throw new RangeError('stuck') }
    }), /stuck/)
  })
  it('a long time limit', async () => {
    for (const timeoutMs of [2 ** 31, Infinity]) {
      const tests = await collectTests(job, { timeoutMs }, (_, onMessage) => {
        onMessage({ type: 'plan', tests: [{ index: 0, name: 'a', path: 'a.json', backend: 'js' }] })
        onMessage({ type: 'start', index: 0 })
        setTimeout(() => {
          onMessage({ type: 'test', index: 0, test: { status: 'passed' } })
          onMessage({ type: 'done' })
        }, 20)
        return () => {}
      })
      assert.deepEqual(tests.map(({ status }) => status), ['passed'])
    }
  })
  it('a signal that has fired', () => assert.rejects(collectTests(job, { signal: AbortSignal.abort() }, () => assert.fail('opened')), { code: 'aborted' }))
})
