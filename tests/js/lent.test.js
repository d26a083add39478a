// What a kernel is lent for one call, and kept: it says so. What a kernel answers is read once, and of arrays what the engine says.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const modelOf = (type = 'float32', more = {}) => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', type, ['N'])], outputs: [onnx.value('y', type, ['N'])], nodes: [onnx.node('Keep', ['x'], ['y'], {}, { domain })], ...more
})
const shapes = { inferShapes: ([x]) => [{ shape: x.shape }] }
const pause = () => new Promise(resolve => setTimeout(resolve, 1))

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

async function withKernel (kernel, act, types = ['tensor(float)'], model = modelOf()) {
  const registration = env.registerOperator(customSpec({ domain, opType: 'Keep', types }), kernel)
  try {
    const session = await env.createSession(model)
    try {
      return await act(session)
    } finally {
      session.dispose()
    }
  } finally {
    registration.dispose()
  }
}
const ended = error => error instanceof OpspecError && error.code === 'invalid_argument' && /was lent for one call, which has ended/.test(error.message)
const x = (...data) => ({ x: new Tensor('float32', data) })

describe('a context that is kept', () => {
  it('refuses fail and requested after compute, create and inference, and goes on saying where it came from', async () => {
    const kept = {}
    const keep = name => (_, __, context) => { (kept[name] ??= []).push(context); return [{}] }
    await withKernel({ create: (_, context) => keep('create')(0, 0, context), inferTypes: (...all) => { keep('types')(...all); return [] }, inferShapes: keep('shapes'), compute: (inputs, _, context) => { assert.deepEqual(context.requested, [true]); keep('compute')(0, 0, context); return inputs } }, async session => {
      await session.run(x(1))
      await session.run(x(2))
    })
    assert.deepEqual(Object.keys(kept).sort(), ['compute', 'create', 'shapes', 'types'])
    assert.equal(new Set(kept.compute).size, 2)
    for (const context of Object.values(kept).flat()) {
      assert.throws(() => context.fail('late'), ended)
      assert.throws(() => context.requested, ended)
      assert.deepEqual([context.opType, context.domain, context.sinceVersion], ['Keep', domain, 1])
    }
  })
  it('used in a later call fails that call, with the reason as its cause', async () => {
    let first
    await withKernel({ ...shapes, compute (inputs, _, context) { (first ??= context).requested.length; return inputs } }, async session => {
      await session.run(x(1))
      await assert.rejects(session.run(x(2)), error => error.code === 'operator_failed' && ended(error.cause))
    })
  })
  it('of a call that answers a promise serves until that is settled', async () => {
    let kept
    await withKernel({ ...shapes, async compute (inputs, _, context) { kept = context; await pause(); assert.deepEqual(context.requested, [true]); return inputs } }, async session => {
      assert.deepEqual((await session.run(x(3, 4))).y.toArray(), [3, 4])
    })
    assert.throws(() => kept.requested, ended)
  })
  it('cannot change what is asked of the kernel', async () => {
    const spoiled = { ...shapes, compute (inputs, _, context) { context.requested.length = 0; context.requested[0] = false; return [] } }
    await withKernel(spoiled, session => assert.rejects(session.run(x(1)), /gave no output 0/))
  })
})

describe('an input that is kept', () => {
  it('has no data after the call, also in the next one', async () => {
    const kept = []
    const seen = []
    await withKernel({ ...shapes, compute ([x]) {
      for (const old of kept) try { seen.push(old.data[0]) } catch (error) { seen.push(ended(error)) }
      kept.push(x)
      return [x]
    } }, async session => {
      for (const value of [5, 6, 7]) assert.deepEqual((await session.run(x(value))).y.toArray(), [value])
    })
    assert.deepEqual(seen, [true, true, true])
    for (const tensor of kept) {
      for (const use of [() => tensor.data[0], () => tensor.data.length, () => [...tensor.data], () => tensor.toArray(), () => new Tensor('float32', tensor.data), () => { tensor.data[0] = 1 }]) assert.throws(use, ended)
      assert.deepEqual(tensor.dims, [1])
    }
  })
  // As many bytes as make the module's memory grow when room is made for the answer, which leaves views without theirs.
  const count = 6_000_000
  const handed = {
    'as it is': ['tensor(float)', ([a]) => [a], y => y],
    'in an object': ['tensor(float)', ([{ type, dims, data }]) => [{ type, dims, data }], y => y],
    'in part': ['tensor(float)', ([a]) => [{ type: a.type, dims: [3], data: a.data.subarray(count - 3) }], y => y],
    'in a list': ['seq(tensor(float))', ([a]) => [[a, a, a]], y => y[2]],
    'in a Map': ['map(string, tensor(float))', ([a]) => [new Map([['a', a], ['b', a]])], y => y.get('b')],
    'as an optional': ['optional(tensor(float))', ([a]) => [a], y => y],
    'beside another output': ['tensor(float)', ([a]) => [new Tensor('float32', new Float32Array(2 * count)), a], (y, z) => z]
  }
  for (const [how, [type, compute, pick]] of Object.entries(handed)) {
    it(`handed on ${how} is the answer, though memory grows`, async () => {
      const own = await createEnv()
      const document = JSON.parse(customSpec({ domain, opType: 'Keep', inputs: ['X'] }))
      document.outputs = ['Y', 'Z'].map(name => ({ name, cardinality: name === 'Y' ? 'single' : 'optional', type_parameter: 'S', description: 'What is handed on.' }))
      document.type_parameters.S = { allowed_types: [type], description: 'Of the outputs.' }
      own.registerOperator(document, { compute })
      const outputs = how.startsWith('beside') ? ['y', 'z'] : ['y']
      const session = await own.createSession(onnx.model({
        opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [], nodes: [onnx.node('Keep', ['x'], outputs, {}, { domain })]
      }))
      const data = new Float32Array(count).fill(1)
      data.set([7, 8, 9], count - 3)
      const { y, z } = await session.run({ x: new Tensor('float32', data) }, { outputs })
      assert.deepEqual([...pick(y, z).data.slice(-3)], [7, 8, 9])
      own.dispose()
    })
  }
  it('is one of its own for a kernel that answers promises, the first call included', async () => {
    const kept = []
    const later = { ...shapes, compute ([x]) { kept.push(x); return pause().then(() => [x]) } }
    await withKernel(later, async session => { for (const value of [1, 2]) assert.deepEqual((await session.run(x(value))).y.toArray(), [value]) })
    assert.deepEqual(kept.map(tensor => tensor.toArray()), [[1], [2]])
  })
})

describe('a kernel that lies about what it answers', () => {
  class Short extends Float32Array { get length () { return 2 } }
  class Half extends Uint16Array { get length () { return 2 } get [Symbol.toStringTag] () { return 'Float32Array' } }
  const turning = (...values) => { let i = 0; return () => values[Math.min(i++, values.length - 1)] }
  const once = (name, get, rest) => Object.defineProperty({ type: 'float32', dims: [2], data: Float32Array.of(1, 2), ...rest }, name, { get, enumerable: true })
  const growing = target => { let asked = 0; return new Proxy(target, { get: (object, key) => key === 'length' ? (asked++ === 0 ? 2 : 4096) : object[key] ?? 1 }) }
  const big = 65536
  const refused = {
    'an array that is longer than it says': [() => ({ type: 'float32', dims: [2], data: new Short(big).fill(7) }), /dims give 2 elements, data has 65536/],
    'an array that says it is of another kind': [() => ({ type: 'float32', dims: [2], data: new Half(2) }), /data must be Float32Array/],
    'an array by proxy': [() => ({ type: 'float32', dims: [2], data: new Proxy(Float32Array.of(1, 2), {}) }), /data|receiver|typed array/]
  }
  const taken = {
    'dims that change when they are read again': () => once('dims', turning([2], [2], [big])),
    'data that change when they are read again': () => once('data', turning(Float32Array.of(1, 2), new Float32Array(big))),
    'a type that changes when it is read again': () => once('type', turning('float32', 'float32', 'float32', 'float64')),
    'dims whose length grows': () => ({ type: 'float32', dims: new Proxy([2], { get: (object, key) => key === 'length' ? 1 : object[key] }), data: Float32Array.of(1, 2) }),
    'a list whose length grows': () => ({ type: 'float32', dims: [2], data: growing([1, 2]) })
  }
  // What lies around the output in the module's memory.
  const rest = () => JSON.stringify(env.check(modelOf()))
  for (const [name, [answer, message]] of Object.entries(refused)) {
    it(`${name} is refused`, () => withKernel({ ...shapes, compute: () => [answer()] }, async session => {
      const before = rest()
      for (let i = 0; i < 3; i++) await assert.rejects(session.run(x(1, 2)), error => error.code === 'operator_failed' && message.test(error.message))
      assert.equal(rest(), before)
    }))
  }
  for (const [name, answer] of Object.entries(taken)) {
    it(`${name}: what was read first counts`, () => withKernel({ ...shapes, compute: () => [answer()] }, async session => {
      const before = rest()
      for (let i = 0; i < 3; i++) assert.deepEqual((await session.run(x(1, 2))).y.toArray(), [1, 2])
      assert.equal(rest(), before)
    }))
  }
  it('strings that change when they are read again: the first reading counts', async () => {
    let asked = 0
    const list = new Proxy(['a', 'b'], { get: (object, key) => key === '0' ? 'x'.repeat(1 + 100 * asked++) : object[key] })
    await withKernel({ ...shapes, compute: () => [{ type: 'string', dims: [2], data: list }] }, async session => {
      assert.deepEqual((await session.run({ x: new Tensor('string', ['', '']) })).y.toArray(), ['x', 'b'])
    }, ['tensor(string)'], modelOf('string'))
  })
  it('a half precision array that is longer than it says is refused', { skip: typeof Float16Array === 'undefined' && 'no Float16Array here' }, () => {
    class Halves extends globalThis.Float16Array { get length () { return 2 } }
    return withKernel({ ...shapes, compute: () => [{ type: 'float16', dims: [2], data: new Halves(big) }] }, session => assert.rejects(session.run({ x: new Tensor('float16', [1, 2]) }), /data has 65536/), ['tensor(float16)'], modelOf('float16'))
  })
})

describe('from inside a kernel', () => {
  const inside = /the Env cannot be called from inside a kernel/
  it('nothing is disposed of: not the Env, a session, a model or a registration', async () => {
    const own = await createEnv()
    const things = { env: own, model: own.loadModel(onnx.model({ inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])], nodes: [onnx.node('Relu', ['x'], ['y'])] })) }
    things.idle = await own.createSession(things.model)
    things.registration = own.registerOperator(customSpec({ domain, opType: 'Other' }), { compute: inputs => inputs })
    let refused = []
    own.registerOperator(customSpec({ domain, opType: 'Keep' }), { ...shapes, compute (inputs) {
      refused = Object.entries(things).filter(([, thing]) => {
        try {
          thing.dispose()
          return false
        } catch (error) {
          return error.code === 'invalid_argument' && inside.test(error.message)
        }
      }).map(([name]) => name)
      return inputs
    } })
    const session = await own.createSession(modelOf())
    assert.deepEqual((await session.run(x(1, 2))).y.toArray(), [1, 2])
    assert.deepEqual(refused, Object.keys(things))
    // Afterwards all of it is there, and can go.
    assert.deepEqual((await things.idle.run(x(3))).y.toArray(), [3])
    session.dispose()
    for (const thing of Object.values(things).reverse()) thing.dispose()
  })
  it('a version that the core cannot count is refused', () => {
    for (const sinceVersion of [0, -1, 1.5, 2 ** 31, 2 ** 40, '1']) assert.throws(() => env.registerOperator(customSpec({ domain, opType: 'Keep' }), null, { sinceVersion }), { code: 'invalid_argument', message: /^sinceVersion/ })
  })
})
