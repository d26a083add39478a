// Kernels that answer with a promise: in control flow, with sequences, when they reject, are cancelled or disposed of, and
// when several runs wait at once.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import { Env } from '../../wasm/js/env.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const spec = (opType, more) => customSpec({ domain, opType, ...more })
const custom = (name, input, output) => onnx.node(name, [input], [output], {}, { domain })
const modelOf = (nodes, { type = 'float32', shape = ['N'], ...more } = {}) => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', type, shape)], outputs: [onnx.value('y', type, shape)], nodes, ...more
})
const x = (...data) => ({ x: new Tensor('float32', data) })
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const map = (value, fn) => [new Tensor('float32', Float32Array.from(value.data, fn), value.dims)]

describe('asynchronous kernels', () => {
  let env
  let calls
  const waiting = [] // { resolve, reject, input } of Held
  before(async () => {
    env = await createEnv()
    const add = (name, compute, more) => env.registerOperator(spec(name, more), { inferShapes: ([{ shape }]) => [{ shape }], compute })
    add('Later', async ([value]) => {
      calls++
      await pause(1)
      return map(value, v => v + 1)
    })
    add('Mixed', ([value]) => value.data[0] < 0 ? Promise.resolve(map(value, v => -v)) : map(value, v => 2 * v))
    add('Held', ([value]) => new Promise((resolve, reject) => waiting.push({ resolve, reject, input: [...value.data] })))
    add('Fails', ([value]) => { throw new RangeError(`sync ${value.data[0]}`) })
    env.registerOperator(spec('Turn', { types: ['seq(tensor(float))'] }), { compute: async ([list]) => { await pause(1); return [[...list].reverse()] } })
  })
  after(() => env.dispose())

  async function run (bytes, feeds, options) {
    const session = await env.createSession(bytes)
    try {
      return (await session.run(feeds, options)).y
    } finally {
      session.dispose()
    }
  }
  const next = async count => { while (waiting.length < count) await pause(1) }

  it('one after the other', async () => {
    calls = 0
    const nodes = Array.from({ length: 5 }, (_, i) => custom('Later', i === 0 ? 'x' : `v${i}`, i === 4 ? 'y' : `v${i + 1}`))
    assert.deepEqual([...(await run(modelOf(nodes), x(1, 2))).data], [6, 7])
    assert.equal(calls, 5)
  })

  it('between nodes of ONNX', async () => {
    const nodes = [onnx.node('Neg', ['x'], ['a']), custom('Later', 'a', 'b'), onnx.node('Exp', ['b'], ['c']), custom('Later', 'c', 'y')]
    assert.deepEqual([...(await run(modelOf(nodes), x(1))).data], [2])
  })

  it('that answer at once for some inputs', async () => {
    const bytes = modelOf([custom('Mixed', 'x', 'a'), custom('Mixed', 'a', 'y')])
    assert.deepEqual([...(await run(bytes, x(3))).data], [12])
    assert.deepEqual([...(await run(bytes, x(-3))).data], [6])
  })

  it('in the body of a Loop', async () => {
    calls = 0
    const body = onnx.graph({
      name: 'body', nodes: [custom('Later', 'v', 'w'), onnx.node('Identity', ['go'], ['on'])],
      inputs: [onnx.value('i', 'int64', []), onnx.value('go', 'bool', []), onnx.value('v', 'float32', ['N'])], outputs: [onnx.value('on', 'bool', []), onnx.value('w', 'float32', ['N'])]
    })
    const nodes = [onnx.node('Loop', ['times', '', 'x'], ['y'], { body: { graph: body } })]
    const bytes = modelOf(nodes, { initializers: [onnx.tensor('times', 'int64', [], BigInt64Array.of(7n))] })
    assert.deepEqual([...(await run(bytes, x(1, 10))).data], [8, 17])
    assert.equal(calls, 7)
  })

  it('in the branches of an If', async () => {
    const branch = name => onnx.graph({ name, nodes: [custom(name, 'x', `${name}-out`)], outputs: [onnx.value(`${name}-out`, 'float32', ['N'])] })
    const nodes = [
      onnx.node('ReduceSum', ['x'], ['sum'], { keepdims: 0n }), onnx.node('Greater', ['sum', 'zero'], ['positive']),
      onnx.node('If', ['positive'], ['y'], { then_branch: { graph: branch('Later') }, else_branch: { graph: branch('Mixed') } })
    ]
    const bytes = modelOf(nodes, { initializers: [onnx.tensor('zero', 'float32', [], Float32Array.of(0))] })
    assert.deepEqual([...(await run(bytes, x(1, 2))).data], [2, 3])
    assert.deepEqual([...(await run(bytes, x(-1, -2))).data], [1, 2])
  })

  it('with sequences', async () => {
    const list = [new Tensor('float32', [1]), new Tensor('float32', [2, 3])]
    assert.deepEqual(await run(modelOf([custom('Turn', 'x', 'y')], { type: { sequence: 'float32' } }), { x: list }), [list[1], list[0]])
  })

  it('that reject: whatever it is, it is the cause', async () => {
    const bytes = modelOf([custom('Held', 'x', 'y')])
    for (const cause of [new Error('offline'), new TypeError('x'), 'text', 5, Symbol('why'), { message: 'plain' }]) {
      const running = assert.rejects(run(bytes, x(1)), error => error instanceof OpspecError && error.code === 'operator_failed' && error.cause === cause)
      await next(1)
      waiting.pop().reject(cause)
      await running
    }
    const running = assert.rejects(run(bytes, x(1)), { code: 'operator_failed' })
    await next(1)
    waiting.pop().reject()
    await running
  })

  it('that answer wrongly', async () => {
    const bytes = modelOf([custom('Held', 'x', 'y')])
    for (const [answer, message] of [[undefined, /list/], [[], /no output 0/], [[new Tensor('float32', [1, 2])], /inference said/], [[{ then: 5 }], /output 0/]]) {
      const running = assert.rejects(run(bytes, x(1)), error => error.code === 'operator_failed' && message.test(error.message))
      await next(1)
      waiting.pop().resolve(answer)
      await running
    }
  })

  it('that something with a method `then` stands for', async () => {
    const registration = env.registerOperator(spec('Then'), { compute: ([value]) => ({ then (resolve) { setTimeout(() => resolve(map(value, v => v)), 1) } }) })
    const registered = env.registerOperator(spec('ThenThrows'), { compute: () => ({ then () { throw new Error('from then') } }) })
    assert.deepEqual([...(await run(modelOf([custom('Then', 'x', 'y')]), x(4))).data], [4])
    await assert.rejects(run(modelOf([custom('ThenThrows', 'x', 'y')]), x(4)), { code: 'operator_failed', message: /from then/ })
    registration.dispose()
    registered.dispose()
  })

  it('that are cancelled while they wait; the session goes on', async () => {
    const session = await env.createSession(modelOf([custom('Held', 'x', 'y')]))
    const controller = new AbortController()
    const cancelled = assert.rejects(session.run(x(1), { signal: controller.signal }), { code: 'aborted' })
    await next(1)
    controller.abort(new Error('enough'))
    await cancelled
    const [late] = waiting.splice(0)
    const second = session.run(x(2))
    await next(1)
    late.resolve([new Tensor('float32', [99])]) // nobody listens any more
    await pause(2)
    waiting.pop().resolve([new Tensor('float32', [3])])
    assert.deepEqual([...(await second).y.data], [3])
    session.dispose()
  })

  it('whose session is disposed of while they wait', async () => {
    const session = await env.createSession(modelOf([custom('Held', 'x', 'y')]))
    const ended = assert.rejects(session.run(x(1)), { code: 'aborted', message: /disposed/ })
    await next(1)
    session.dispose()
    await ended // although the kernel never answers
    await assert.rejects(session.run(x(1)), { code: 'invalid_argument' })
    waiting.pop().resolve([new Tensor('float32', [1])])
    await pause(2)
    assert.deepEqual([...(await run(modelOf([custom('Later', 'x', 'y')]), x(1))).data], [2])
  })

  it('whose Env is disposed of while they wait', async () => {
    const other = await createEnv()
    let answer
    other.registerOperator(spec('Held'), { compute: () => new Promise(resolve => { answer = resolve }) })
    const session = await other.createSession(modelOf([custom('Held', 'x', 'y')]))
    const ended = assert.rejects(session.run(x(1)), { code: 'aborted', message: /disposed/ })
    while (answer === undefined) await pause(1)
    other.dispose()
    await ended
    answer([new Tensor('float32', [1])])
    await pause(2)
  })

  it('in two runs of a session: one waits for the other', async () => {
    const session = await env.createSession(modelOf([custom('Held', 'x', 'y')]))
    const runs = [session.run(x(1)), session.run(x(2)), session.run(x(3))]
    for (const value of [1, 2, 3]) {
      await next(1)
      await pause(2)
      assert.equal(waiting.length, 1)
      const { resolve, input } = waiting.pop()
      assert.deepEqual(input, [value])
      resolve([new Tensor('float32', [10 * value])])
    }
    assert.deepEqual((await Promise.all(runs)).map(({ y }) => y.data[0]), [10, 20, 30])
    session.dispose()
  })

  it('in a run that others wait for: they are ended by a limit, a signal, the end of the session', async () => {
    const session = await env.createSession(modelOf([custom('Held', 'x', 'y')]))
    const first = session.run(x(1))
    await next(1)
    const controller = new AbortController()
    const cancelled = assert.rejects(session.run(x(2), { signal: controller.signal }), { code: 'aborted', cause: 'enough' })
    const limited = assert.rejects(session.run(x(3), { timeoutMs: 5 }), { code: 'timeout', message: /limit of 5 ms/ })
    const last = session.run(x(4))
    controller.abort('enough')
    await cancelled
    await limited
    assert.equal(waiting.length, 1) // the first has not answered: nobody took its turn
    waiting.pop().resolve([new Tensor('float32', [10])])
    assert.equal((await first).y.data[0], 10)
    await next(1)
    assert.deepEqual(waiting[0].input, [4])
    const ended = [last, session.run(x(5))].map(run => assert.rejects(run, { code: 'aborted', message: /disposed/ }))
    session.dispose()
    await Promise.all(ended)
    waiting.pop().resolve([new Tensor('float32', [1])])
    await pause(2)
  })

  it('in a run that others wait for when the Env is disposed of', async () => {
    const other = await createEnv()
    other.registerOperator(spec('Held'), { compute: () => new Promise(() => {}) })
    const session = await other.createSession(modelOf([custom('Held', 'x', 'y')]))
    const ended = [1, 2, 3].map(value => assert.rejects(session.run(x(value)), { code: 'aborted', message: /disposed/ }))
    await pause(2)
    other.dispose()
    await Promise.all(ended)
  })

  it('in sessions side by side, each with its own answers and causes', async () => {
    const bytes = modelOf([custom('Held', 'x', 'a'), onnx.node('Neg', ['a'], ['y'])])
    const sessions = await Promise.all([1, 2, 3].map(() => env.createSession(bytes)))
    const failing = await env.createSession(modelOf([custom('Fails', 'x', 'y')]))
    const runs = sessions.map((session, i) => session.run(x(i + 1)))
    await next(3)
    const [first, second, third] = waiting.splice(0)
    const cause = new Error('of the second')
    const results = Promise.allSettled(runs)
    third.resolve([new Tensor('float32', [30])])
    second.reject(cause)
    // A failure of another session between a rejection and what it leads to.
    const others = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => failing.run(x(i))))
    first.resolve([new Tensor('float32', [10])])
    const [one, two, three] = await results
    assert.equal(one.value.y.data[0], -10)
    assert.equal(three.value.y.data[0], -30)
    assert.equal(two.reason.cause, cause)
    others.forEach(({ reason }, i) => assert.match(reason.cause.message, new RegExp(`^sync ${i}$`)))
    for (const session of [...sessions, failing]) session.dispose()
  })

  it('leave memory flat, however they end', async () => {
    const session = await env.createSession(modelOf([custom('Held', 'x', 'y')]))
    const cycle = async i => {
      const controller = new AbortController()
      const running = session.run(x(i), { signal: controller.signal }).catch(() => {})
      await next(1)
      const { resolve, reject } = waiting.pop()
      if (i % 3 === 0) resolve([new Tensor('float32', [i])])
      else if (i % 3 === 1) reject(new Error('no'))
      else controller.abort()
      await running
    }
    for (let i = 0; i < 12; i++) await cycle(i)
    const before = Env.memoryUsed(env)
    for (let i = 0; i < 300; i++) await cycle(i)
    assert.deepEqual(Env.memoryUsed(env), before)
    session.dispose()
  })

  it('in a worker: answers, rejections, cancelling, many at once', async () => {
    const worker = await createWorkerEnv()
    try {
      await worker.registerOperator(spec('Later'), `export default { async compute ([x]) {
        if (x.data[0] === 7) await new Promise(() => {})
        await new Promise(resolve => setTimeout(resolve, 1))
        if (x.data[0] === 5) throw new Error('five')
        return [{ type: x.type, dims: x.dims, data: x.data.map(v => v + 1) }]
      } }`)
      const session = await worker.createSession(modelOf([custom('Later', 'x', 'y')]))
      const results = await Promise.allSettled([1, 5, 3].map(value => session.run(x(value))))
      assert.deepEqual(results.map(({ value, reason }) => value?.y.data[0] ?? [reason.code, reason.cause.message]), [2, ['operator_failed', 'five'], 4])
      const controller = new AbortController()
      const pending = assert.rejects(session.run(x(7), { signal: controller.signal }), { code: 'aborted' })
      setTimeout(() => controller.abort(), 20)
      await pending
      await assert.rejects(session.run(x(7), { timeoutMs: 20 }), { code: 'timeout' })
      assert.equal((await session.run(x(1))).y.data[0], 2)
      const ended = assert.rejects(session.run(x(7)), { code: 'aborted' })
      await pause(20)
      await session.dispose()
      await ended
    } finally {
      await worker.dispose()
    }
  })
})
