// Memory stays flat: the module's own count of what is in use, and the size of its memory.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { Env } from '../../wasm/js/env.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const weights = new Float32Array(10_000).fill(0.5)
const net = onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N', 100])], outputs: [onnx.value('y', 'float32', ['N', 100])],
  initializers: [onnx.tensor('w', 'float32', [100, 100], weights)],
  nodes: [onnx.node('MatMul', ['x', 'w'], ['a']), onnx.node('Relu', ['a'], ['b']), onnx.node('Custom', ['b'], ['y'], {}, { domain })]
})
const kernel = { inferShapes: ([x]) => [{ shape: x.shape }], compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data }] }

async function flat (env, cycle, cycles = 1000, warm = 20) {
  for (let i = 0; i < warm; i++) await cycle(i)
  const before = Env.memoryUsed(env)
  for (let i = warm; i < cycles; i++) await cycle(i)
  assert.deepEqual(Env.memoryUsed(env), before)
}

describe('memory', () => {
  it('1,000 times: register, load, make a session, run, dispose of all', async () => {
    const env = await createEnv()
    await flat(env, async i => {
      const registration = env.registerOperator(customSpec({ domain, opType: 'Custom' }), kernel)
      const model = env.loadModel(net)
      const session = await env.createSession(model)
      const { y } = await session.run({ x: new Tensor('float32', new Float32Array(300).fill(1), [3, 100]) })
      assert.equal(y.data[299], 50)
      // In every order.
      const all = [registration, model, session]
      for (let k = 0; k < 3; k++) all[(i + k) % 3].dispose()
    })
    env.dispose()
  })
  for (const [name, make] of [['JavaScript kernels', () => kernel], ['plug-ins', () => new WebAssembly.Module(buildPlugin(plug('')))]]) {
    it(`10,000 times: register, run and take back ${name}`, { skip: name === 'plug-ins' && skip }, async () => {
      const env = await createEnv()
      const { kernels } = Env.inner(env).engine
      const module = make()
      const spec = customSpec({ domain, opType: 'Plug' })
      const model = onnx.model({
        opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Plug', ['x'], ['y'], {}, { domain })]
      })
      const listed = env.operators()
      const x = new Tensor('float32', [1, 2])
      await flat(env, async i => {
        const registration = env.registerOperator(spec, module)
        const session = await env.createSession(model)
        await session.run({ x })
        // Either may go first.
        for (const item of i % 2 === 0 ? [registration, session] : [session, registration]) item.dispose()
        assert.deepEqual([kernels.byNumber.size, kernels.instances.size, kernels.gone.length], [0, 0, 0])
      }, 10_000)
      assert.deepEqual(env.operators(), listed)
      env.dispose()
    })
  }
  it('runs that fail, with shapes that change', async () => {
    const env = await createEnv()
    env.registerOperator(customSpec({ domain, opType: 'Custom' }), { compute: ([x]) => { if (x.dims[0] % 2) throw new Error('odd'); return [x] } })
    const session = await env.createSession(net)
    const run = n => session.run({ x: new Tensor('float32', new Float32Array(100 * n), [n, 100]) })
    for (let n = 1; n <= 8; n++) await run(n).catch(() => {})
    await flat(env, async i => {
      await run(i % 8 + 1).catch(error => assert.match(error.message, /odd/))
      await assert.rejects(session.run({ x: new Tensor('float32', [1]) }))
    })
    env.dispose()
  })
  it('checks, values, decoding, errors', async () => {
    const env = await createEnv()
    const text = customSpec({ domain, opType: 'Foo', tests: ['a.json'] })
    await flat(env, async () => {
      env.check(net)
      env.check(text, { files: { 'a.json': '{}' } })
      env.check('{"a":1,}')
      env.decode(net, 'ModelProto')
      env.readValue(env.writeValue([new Tensor('string', ['a', 'b'])], 's'), 'sequence')
      assert.throws(() => env.loadModel(net.subarray(0, 100)))
      assert.throws(() => env.registerOperator('{}', kernel))
      assert.throws(() => env.writeValue([new Tensor('float32', [1]), 5], 's'))
    }, 300)
    env.dispose()
  })
  it('evidence', async () => {
    const env = await createEnv()
    const value = { type: 'tensor(float)', shape: [1], data: [1] }
    const evidence = JSON.stringify({ kind: 'opspec.evidence', version: '1', operator: { domain: '', op_type: 'Relu' }, inputs: [value], outputs: [value] })
    await flat(env, async () => { assert.equal((await env.test({ 'a.json': evidence })).ok, true) }, 60)
    env.dispose()
  })
})
