// The worker client when the code in it does not come back, traps, or takes all memory: it goes on with its models, sessions,
// registrations and documents, and old handles work. How long that takes: tests/bench/isolation.bench.js.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWorkerEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const HANG = 30_000
const custom = (opType, of = domain) => onnx.model({
  opsets: { '': 21, ...of !== '' && { [of]: 1 } }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node(opType, ['x'], ['y'], {}, { domain: of })]
})
const spec = opType => customSpec({ domain, opType })
const feeds = (...data) => ({ x: new Tensor('float32', data) })
const halve = onnx.functionProto({
  name: 'Halve', domain, inputs: ['X'], outputs: ['Y'],
  nodes: [onnx.node('Constant', [], ['half'], { value: { tensor: onnx.tensor('', 'float32', [], Float32Array.of(0.5)) } }), onnx.node('Mul', ['X', 'half'], ['Y'])]
})

// A kernel that turns bad when its first input is 7.
const script = body => `let held = []
export default { compute: ([x]) => { if (x.data[0] === 7) { ${body} } return [{ type: x.type, dims: x.dims, data: x.data.map(v => 2 * v) }] } }`
const ways = {
  'loops in JavaScript': { kernel: script('for (;;);'), timeoutMs: 200, code: 'timeout' },
  'loops in JavaScript, until a signal': { kernel: script('for (;;);'), abort: true, code: 'aborted' },
  'allocates without end in JavaScript': { kernel: script('for (;;) held.push(new Array(1e6).fill(held.length))'), code: /crashed|operator_failed/ },
  'ends its thread': { kernel: script('process.exit(3)'), code: 'crashed' },
  'loops in a plug-in': { plugin: 'while (((const volatile float *)x->data)[0] == 7) {}', timeoutMs: 200, code: 'timeout' },
  'traps in a plug-in': { plugin: 'if (((const float *)x->data)[0] == 7) __builtin_trap();', code: 'operator_failed', restarts: 0 },
  'takes all memory in a plug-in': { plugin: 'if (((const float *)x->data)[0] == 7) { while (__builtin_wasm_memory_grow(0, 256) != SIZE_MAX) {} return OS_OUT_OF_MEMORY; }', code: 'operator_failed', restarts: 0 }
}

describe('a worker whose code', () => {
  for (const [name, { kernel, plugin, timeoutMs, abort, code, restarts = 1 }] of Object.entries(ways)) {
    it(`${name} is back with all it had`, { skip: plugin !== undefined && skip, timeout: 4 * HANG }, async () => {
      const env = await createWorkerEnv()
      try {
        // Everything that makes a handle, before and after the one that turns bad.
        const model = await env.loadModel(custom('Neg', ''))
        const neg = await env.createSession(model)
        const thrice = await env.registerOperator(spec('Thrice'), 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => 3 * v) }] }')
        const bad = await env.registerOperator(spec('Plug'), kernel ?? buildPlugin(plug(plugin)))
        const others = [
          [neg, -1],
          [await env.createSession(custom('Thrice')), 3],
          [await env.registerOperator(spec('Halve'), halve).then(() => env.createSession(custom('Halve'))), 0.5]
        ]
        await env.registerOperator(spec('Declared'))
        const session = await env.createSession(custom('Plug'))
        assert.deepEqual([...(await session.run(feeds(1))).y.data], [2])

        const controller = new AbortController()
        if (abort) setTimeout(() => controller.abort(), 100)
        await assert.rejects(session.run(feeds(7), { ...timeoutMs !== undefined && { timeoutMs }, ...abort && { signal: controller.signal } }), error => {
          assert.ok(error instanceof OpspecError, String(error.stack))
          assert.match(error.code, code instanceof RegExp ? code : new RegExp(`^${code}$`), error.message)
          return true
        })
        // Old handles.
        if (restarts > 0) assert.deepEqual([...(await session.run(feeds(1))).y.data], [2])
        for (const [other, factor] of others) assert.deepEqual([...(await other.run(feeds(1))).y.data], [factor])
        assert.equal((await model.check()).ok, true)
        const names = (await env.operators()).filter(operator => operator.domain === domain).map(operator => operator.name)
        for (const kept of ['Thrice', 'Plug', 'Halve', 'Declared']) assert.ok(names.includes(kept), kept)
        assert.equal((await env.check(custom('Declared'))).ok, true)
        assert.equal((await env.status()).restarts, restarts)
        // What is taken back stays so.
        await thrice.dispose()
        await bad.dispose()
        const left = (await env.operators()).map(operator => operator.name)
        assert.ok(!left.includes('Thrice') && !left.includes('Plug'))
        await assert.rejects(env.createSession(custom('Plug')), { code: 'unsupported' })
      } finally {
        await env.dispose()
      }
    })
  }

  it('stops ten times in a row is back each time', { timeout: 10 * HANG }, async () => {
    const env = await createWorkerEnv()
    try {
      await env.registerOperator(spec('Plug'), script('for (;;);'))
      const session = await env.createSession(custom('Plug'))
      for (let i = 0; i < 10; i++) {
        await assert.rejects(session.run(feeds(7), { timeoutMs: 50 }), { code: 'timeout' })
        assert.deepEqual([...(await session.run(feeds(i + 8))).y.data], [2 * i + 16])
      }
      assert.equal((await env.status()).restarts, 10)
    } finally {
      await env.dispose()
    }
  })

  it('loops while it is loaded is ended, and nothing of it is left', { timeout: 4 * HANG }, async () => {
    const env = await createWorkerEnv()
    try {
      const neg = await env.createSession(custom('Neg', ''))
      await assert.rejects(env.registerOperator(spec('Plug'), 'for (;;);\nexport default {}', { timeoutMs: 200 }), { code: 'timeout' })
      assert.deepEqual([...(await neg.run(feeds(1))).y.data], [-1])
      await assert.rejects(env.createSession(custom('Plug')), { code: 'unsupported' })
    } finally {
      await env.dispose()
    }
  })

  it('loops while it is loaded, without a limit, is told after the second worker that was ended with it', { timeout: 4 * HANG }, async () => {
    const env = await createWorkerEnv()
    try {
      const neg = await env.createSession(custom('Neg', ''))
      const endless = env.registerOperator(spec('Plug'), 'for (;;);\nexport default {}')
      const told = assert.rejects(endless, { code: 'crashed', message: /registerOperator/ })
      const behind = neg.run(feeds(3))
      for (let i = 0; i < 2; i++) await assert.rejects(neg.run(feeds(2), { timeoutMs: 200 }), { code: 'timeout' })
      await told
      // What only waited behind it is answered.
      assert.deepEqual([...(await behind).y.data], [-3])
      assert.deepEqual([...(await neg.run(feeds(1))).y.data], [-1])
      assert.equal((await env.status()).restarts, 2)
      await assert.rejects(env.createSession(custom('Plug')), { code: 'unsupported' })
    } finally {
      await env.dispose()
    }
  })

  it('has a handle that was disposed of while it was away lets it go', { timeout: 4 * HANG }, async () => {
    const env = await createWorkerEnv()
    try {
      await env.registerOperator(spec('Plug'), script('for (;;);'))
      const gone = await env.registerOperator(spec('Gone'), script(''))
      const session = await env.createSession(custom('Plug'))
      const running = assert.rejects(session.run(feeds(7), { timeoutMs: 200 }), { code: 'timeout' })
      await gone.dispose()
      await running
      assert.deepEqual([...(await session.run(feeds(1))).y.data], [2])
      assert.equal((await env.operators()).some(({ name }) => name === 'Gone'), false)
      await assert.rejects(env.createSession(custom('Gone')), { code: 'unsupported' })
    } finally {
      await env.dispose()
    }
  })
})
