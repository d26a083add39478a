// Sessions and runs: feeds of every kind, outputs, what is refused, cancelling, time limits, several runs at once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as ort from 'onnxruntime-common'
import { createEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'

const rejects = (promise, code, message) => assert.rejects(promise, error => {
  assert.ok(error instanceof OpspecError, String(error.stack))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, message)
  return true
})

const unary = (opType, type = 'float32', shape = ['N'], more = {}) => onnx.model({
  inputs: [onnx.value('x', type, shape)], outputs: [onnx.value('y', type, shape)], nodes: [onnx.node(opType, ['x'], ['y'])], ...more
})

// Counts to `n` in steps of one.
function loopModel () {
  const body = onnx.graph({
    name: 'body', inputs: [onnx.value('i', 'int64', []), onnx.value('c', 'bool', []), onnx.value('v', 'float32', [])],
    outputs: [onnx.value('c2', 'bool', []), onnx.value('v2', 'float32', [])],
    initializers: [onnx.tensor('one', 'float32', [], Float32Array.of(1))],
    nodes: [onnx.node('Identity', ['c'], ['c2']), onnx.node('Add', ['v', 'one'], ['v2'])]
  })
  return onnx.model({
    inputs: [onnx.value('n', 'int64', []), onnx.value('v0', 'float32', [])], outputs: [onnx.value('out', 'float32', [])],
    initializers: [onnx.tensor('true', 'bool', [], Uint8Array.of(1))],
    nodes: [onnx.node('Loop', ['n', 'true', 'v0'], ['out'], { body: { graph: body } })]
  })
}

describe('Session', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const run = async (model, feeds, options) => {
    const session = await env.createSession(model)
    try {
      return await session.run(feeds, options)
    } finally {
      session.dispose()
    }
  }

  it('is made from a model, bytes or a Blob', async () => {
    const bytes = unary('Relu')
    const model = env.loadModel(bytes)
    for (const source of [model, bytes, bytes.buffer, new Blob([bytes])]) {
      const { y } = await run(source, { x: new Tensor('float32', [-1, 2]) })
      assert.deepEqual([...y.data], [0, 2])
    }
    model.dispose()
  })

  it('outlives its model', async () => {
    const model = env.loadModel(unary('Relu'))
    const session = await env.createSession(model)
    model.dispose()
    assert.deepEqual([...(await session.run({ x: new Tensor('float32', [-1]) })).y.data], [0])
    session.dispose()
  })

  it('tells its names', async () => {
    const session = await env.createSession(loopModel())
    assert.deepEqual(session.inputNames, ['n', 'v0'])
    assert.deepEqual(session.outputNames, ['out'])
    session.dispose()
  })

  describe('feeds', () => {
    it('tensors of onnxruntime-common', async () => {
      const { y } = await run(unary('Abs'), { x: new ort.Tensor('float32', Float32Array.of(-3, 4), [2]) })
      assert.ok(y instanceof Tensor)
      assert.deepEqual([y.type, y.dims, [...y.data]], ['float32', [2], [3, 4]])
      // And ours where theirs are expected.
      assert.deepEqual([...new ort.Tensor(y.type, y.data, y.dims).data], [3, 4])
    })
    it('plain objects', async () => {
      const { y } = await run(unary('Abs', 'int64'), { x: { type: 'int64', dims: [2], data: BigInt64Array.of(-3n, 4n) } })
      assert.deepEqual([...y.data], [3n, 4n])
    })
    it('every element type that Identity has', async () => {
      for (const type of ['float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'float64', 'uint32', 'uint64', 'complex64', 'complex128',
        'bfloat16', 'float8e4m3fn', 'float8e5m2', 'uint4', 'int4', 'float4e2m1', 'float8e8m0']) {
        const data = type === 'string' ? ['a', 'b', ''] : type.startsWith('complex') ? [1, 2, 3, 4, 5, 6] : [1, 0, 1]
        const x = new Tensor(type, data, [3])
        const { y } = await run(unary('Identity', type, [3], { opsets: { '': 25 }, ir: 13 }), { x })
        assert.deepEqual([y.type, y.data], [type, x.data], type)
      }
    })
    it('both forms of float16', async () => {
      const bits = Uint16Array.of(0xbc00, 0x4000)
      const { y } = await run(unary('Abs', 'float16'), { x: { type: 'float16', dims: [2], data: bits } })
      assert.deepEqual(y.data, Uint16Array.of(0x3c00, 0x4000))
    })
    it('a Float16Array', { skip: globalThis.Float16Array === undefined && 'this engine has no Float16Array' }, async () => {
      const half = await createEnv({ float16: 'array' })
      const session = await half.createSession(unary('Abs', 'float16'))
      const { y } = await session.run({ x: { type: 'float16', dims: [2], data: globalThis.Float16Array.of(-1, 2) } })
      assert.deepEqual(y.data, globalThis.Float16Array.of(1, 2))
      half.dispose()
    })
    it('packed and unpacked int4', async () => {
      const model = unary('Identity', 'int4', [3], { opsets: { '': 21 } })
      for (const data of [Uint8Array.of(0xf1, 0x08), Int8Array.of(1, -1, -8)]) {
        const { y } = await run(model, { x: { type: 'int4', dims: [3], data } })
        assert.deepEqual(y.data, Int8Array.of(1, -1, -8))
      }
    })
    it('sequences', async () => {
      const model = onnx.model({
        inputs: [onnx.value('s', { sequence: 'float32' })], outputs: [onnx.value('n', 'int64', []), onnx.value('t', { sequence: 'float32' })],
        nodes: [onnx.node('SequenceLength', ['s'], ['n']), onnx.node('Identity', ['s'], ['t'])]
      })
      const list = [new Tensor('float32', [1, 2]), new Tensor('float32', [3])]
      const { n, t } = await run(model, { s: list })
      assert.equal(n.toArray(), 2n)
      assert.deepEqual(t, list)
      assert.equal((await run(model, { s: [] })).n.toArray(), 0n)
    })
    it('optionals', async () => {
      const model = onnx.model({
        inputs: [onnx.value('o', { optional: 'float32' })], outputs: [onnx.value('b', 'bool', [])], nodes: [onnx.node('OptionalHasElement', ['o'], ['b'])]
      })
      assert.equal((await run(model, { o: null })).b.toArray(), false)
      assert.equal((await run(model, { o: new Tensor('float32', [1]) })).b.toArray(), true)
    })
    it('strings that are no ASCII', async () => {
      const x = new Tensor('string', ['', 'ä', '日本', '😀', 'a\u0000b'])
      assert.deepEqual((await run(unary('Identity', 'string'), { x })).y.data, x.data)
    })
    it('overrides an initializer that is an input', async () => {
      const model = onnx.model({
        ir: 3, inputs: [onnx.value('x', 'float32', [1]), onnx.value('w', 'float32', [1])], initializers: [onnx.tensor('w', 'float32', [1], Float32Array.of(10))],
        outputs: [onnx.value('y', 'float32', [1])], nodes: [onnx.node('Add', ['x', 'w'], ['y'])]
      })
      const x = new Tensor('float32', [1])
      assert.equal((await run(model, { x })).y.data[0], 11)
      assert.equal((await run(model, { x, w: new Tensor('float32', [5]) })).y.data[0], 6)
    })
    it('undefined counts as left out', async () => {
      await rejects(run(unary('Relu'), { x: undefined }), 'invalid_argument', /^feeds: input 'x' is missing/)
    })
  })

  describe('refusals', () => {
    it('names what is wrong with the feeds', async () => {
      const session = await env.createSession(unary('Relu', 'float32', ['N', 2]))
      const x = new Tensor('float32', [1, 2], [1, 2])
      await rejects(session.run(), 'invalid_argument', /^feeds/)
      await rejects(session.run({}), 'invalid_argument', /^feeds: input 'x' is missing/)
      await rejects(session.run({ x, q: x }), 'invalid_argument', /^feeds: the model has no input 'q'; it has 'x'/)
      await rejects(session.run({ x: 5 }), 'invalid_argument', /^feeds\.x/)
      await rejects(session.run({ x: null }), 'invalid_argument', /^feeds\.x/)
      await rejects(session.run({ x: [x] }), 'invalid_argument', /x/)
      await rejects(session.run({ x: new Tensor('float64', [1, 2], [1, 2]) }), 'invalid_argument', /double|float/)
      await rejects(session.run({ x: new Tensor('float32', [1, 2, 3], [1, 3]) }), 'invalid_argument', /\[1, 3\]|3/)
      await rejects(session.run({ x: new Tensor('float32', [1, 2], [2]) }), 'invalid_argument', /x/)
      await rejects(session.run({ x: { type: 'float32', dims: [1, 2], data: Float32Array.of(1) } }), 'invalid_argument', /^feeds\.x/)
      await rejects(session.run({ x: { type: 'float', dims: [1, 2], data: Float32Array.of(1, 2) } }), 'invalid_argument', /^feeds\.x: 'float' is no element type/)
      await rejects(session.run({ x }, { outputs: [] }), 'invalid_argument', /^outputs/)
      await rejects(session.run({ x }, { outputs: ['nothing'] }), 'invalid_argument', /nothing/)
      await rejects(session.run({ x }, { timeoutMs: 'x' }), 'invalid_argument', /^timeoutMs/)
      // And goes on.
      assert.deepEqual([...(await session.run({ x })).y.data], [1, 2])
      session.dispose()
      await rejects(session.run({ x }), 'invalid_argument', /^session: was disposed/)
    })
    it('names operators without a kernel', async () => {
      await rejects(env.createSession(unary('NoSuchOperator')), 'unsupported', /NoSuchOperator/)
    })
    it('says where an operator failed', async () => {
      const model = onnx.model({
        inputs: [onnx.value('x', 'int32', [2])], outputs: [onnx.value('y', 'int32', [2])], initializers: [onnx.tensor('z', 'int32', [2], Int32Array.of(1, 0))],
        nodes: [onnx.node('Div', ['x', 'z'], ['y'], {}, { name: 'divide' })]
      })
      await assert.rejects(run(model, { x: new Tensor('int32', [1, 2]) }), error => {
        assert.equal(error.code, 'operator_failed')
        assert.match(error.path ?? '', /graph\.node\[0\]/)
        return true
      })
    })
    it('createSession names the argument', async () => {
      await rejects(env.createSession('x'), 'invalid_argument', /^model/)
      await rejects(env.createSession(), 'invalid_argument', /^model/)
      await rejects(env.createSession(new Uint8Array([255])), 'malformed', /./)
    })
  })

  describe('outputs', () => {
    const chain = onnx.model({
      inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Neg', ['x'], ['m']), onnx.node('Relu', ['m'], ['y'])]
    })
    it('may name any value of the graph', async () => {
      const x = new Tensor('float32', [1, -2])
      const out = await run(chain, { x }, { outputs: ['m', 'x'] })
      assert.deepEqual(Object.keys(out), ['m', 'x'])
      assert.deepEqual([...out.m.data], [-1, 2])
      assert.deepEqual([...out.x.data], [1, -2])
    })
    it('are copies', async () => {
      const session = await env.createSession(unary('Relu'))
      const { y } = await session.run({ x: new Tensor('float32', [1, 2]) })
      await session.run({ x: new Tensor('float32', [7, 8]) })
      assert.deepEqual([...y.data], [1, 2])
      session.dispose()
    })
    it('of changing shapes', async () => {
      const session = await env.createSession(unary('Relu'))
      for (const n of [1, 5, 0, 3, 100_000, 5]) {
        const { y } = await session.run({ x: new Tensor('float32', new Float32Array(n).fill(2)) })
        assert.equal(y.data.length, n)
        assert.ok(y.data.every(v => v === 2))
      }
      session.dispose()
    })
  })

  describe('time', () => {
    const feeds = { n: new Tensor('int64', [10n ** 12n], []), v0: new Tensor('float32', [0], []) }
    it('a signal that has fired already', async () => {
      await rejects(run(loopModel(), feeds, { signal: AbortSignal.abort() }), 'aborted', /./)
    })
    it('a signal that fires during a long Loop, with timers served meanwhile', async () => {
      const controller = new AbortController()
      let ticks = 0
      const timer = setInterval(() => ticks++, 1)
      setTimeout(() => controller.abort(new Error('enough')), 60)
      const error = await run(loopModel(), feeds, { signal: controller.signal }).catch(e => e)
      clearInterval(timer)
      assert.equal(error.code, 'aborted')
      assert.equal(error.cause.message, 'enough')
      assert.ok(ticks > 0)
    })
    it('a time limit', async () => {
      await rejects(run(loopModel(), feeds, { timeoutMs: 40 }), 'timeout', /40 ms/)
    })
    it('dispose ends a run', async () => {
      const session = await env.createSession(loopModel())
      const running = session.run(feeds)
      setTimeout(() => session.dispose(), 20)
      await rejects(running, 'aborted', /dispose/)
    })
    it('a finite Loop ends by itself', async () => {
      const { out } = await run(loopModel(), { n: new Tensor('int64', [100_000n], []), v0: new Tensor('float32', [0], []) })
      assert.equal(out.toArray(), 100_000)
    })
  })

  describe('is ended while it is made', () => {
    // Constants that are multiplied: all of it is computed when the session is made.
    const side = 256
    const constants = (count = 64) => onnx.model({
      inputs: [onnx.value('x', 'float32', [side, side])], outputs: [onnx.value('y', 'float32', [side, side])],
      initializers: [onnx.tensor('c0', 'float32', [side, side], new Float32Array(side * side).fill(1 / side))],
      nodes: [...Array.from({ length: count }, (_, i) => onnx.node('MatMul', [`c${i}`, 'c0'], [`c${i + 1}`])), onnx.node('Add', ['x', `c${count}`], ['y'])]
    })
    it('by a time limit, from bytes and from a model', async () => {
      const model = env.loadModel(constants())
      for (const source of [constants(), model]) await rejects(env.createSession(source, { timeoutMs: 1 }), 'timeout', /1 ms/)
      // It is none the worse for it.
      ;(await env.createSession(model, { timeoutMs: 1e6 })).dispose()
      model.dispose()
    })
    it('by a signal that fires between its steps', async () => {
      const model = env.loadModel(constants(4))
      for (const source of [constants(4), model]) {
        const controller = new AbortController()
        setTimeout(() => controller.abort(new Error('enough')))
        const error = await env.createSession(source, { signal: controller.signal }).catch(e => e)
        assert.equal(error.code, 'aborted')
        assert.equal(error.cause.message, 'enough')
      }
      ;(await env.createSession(model, { signal: new AbortController().signal })).dispose()
      model.dispose()
    })
  })

  it('runs that overlap wait for each other', async () => {
    const session = await env.createSession(loopModel())
    const one = n => session.run({ n: new Tensor('int64', [n], []), v0: new Tensor('float32', [0], []) })
    const results = await Promise.all([one(30_000n), one(5n), one(20_000n)])
    assert.deepEqual(results.map(({ out }) => out.toArray()), [30_000, 5, 20_000])
    session.dispose()
  })

  it('several sessions run side by side', async () => {
    const sessions = await Promise.all([1, 2, 3].map(() => env.createSession(loopModel())))
    const results = await Promise.all(sessions.map((session, i) => session.run({ n: new Tensor('int64', [BigInt(20_000 * (i + 1))], []), v0: new Tensor('float32', [0], []) })))
    assert.deepEqual(results.map(({ out }) => out.toArray()), [20_000, 40_000, 60_000])
    for (const session of sessions) session.dispose()
  })

  it('a seed fixes random operators', async () => {
    const model = onnx.model({ outputs: [onnx.value('y', 'float32', [4])], nodes: [onnx.node('RandomUniform', [], ['y'], { shape: [4n] })] })
    const draw = async seed => {
      const own = await createEnv({ seed })
      const session = await own.createSession(model)
      const { y } = await session.run({})
      own.dispose()
      return [...y.data]
    }
    assert.deepEqual(await draw(1), await draw(1))
    assert.notDeepEqual(await draw(1), await draw(2))
  })
})
