// The upper half of the module's memory: addresses there are as good as those below 2 GiB. Blocks that nobody writes into
// take no memory of the machine.
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'
import { tiltDocument, tiltEvidence, tiltFunction } from '../operators/ways.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'

const GIB = 2 ** 30
const domain = 'org.test'
const twice = { inferShapes: ([x]) => [{ shape: x.shape }], compute: ([x]) => [new Tensor('float32', Float32Array.from(x.data, v => 2 * v), x.dims)] }
const value = name => onnx.value(name, 'float32', ['N'])
const model = (op, own) => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [value('x')], outputs: [value('y')], nodes: [onnx.node(op, ['x'], ['y'], {}, { domain: own })]
})

/** An Env whose next blocks lie above 2 GiB, or why there is none. */
async function highEnv (more = 0) {
  const env = await createEnv({ limits: { memory: 2 ** 32 } })
  const { engine } = Env.inner(env)
  for (const size of [GIB, GIB, ...more > 0 ? [more] : []]) if (engine.exports.opspec_block(engine.port, size) === 0) return { why: 'this machine gives no 3 GB of addresses' }
  // Small holes below are used up first.
  while (engine.exports.opspec_block(engine.port, 65536) < 2 * GIB) if (engine.memory.buffer.byteLength > 3 * GIB) return { why: 'no address above 2 GiB' }
  for (let size = 4096; size >= 16; size >>>= 1) while (engine.exports.opspec_block(engine.port, size) < 2 * GIB);
  return { env, engine }
}

describe('an Env whose memory has passed 2 GiB', () => {
  let high
  before(async () => { high = await highEnv() })
  const test = (title, run, options = {}) => it(title, options, async t => high.why === undefined ? run(high) : t.skip(high.why))

  const doubles = async (env, op, own) => {
    const session = await env.createSession(model(op, own))
    for (const n of [1, 3, 1000]) {
      const { y } = await session.run({ x: new Tensor('float32', Float32Array.from({ length: n }, (_, i) => i)) })
      assert.deepEqual([...y.data], Array.from({ length: n }, (_, i) => own === '' ? i + i : 2 * i))
    }
    session.dispose()
  }

  test('its blocks have addresses above 2 GiB, which are no negative numbers', ({ engine }) => {
    const { address } = engine.block(new Uint8Array([1, 2, 3]))
    assert.ok(address > 2 * GIB, `${address}`)
    assert.deepEqual([...engine.u8.subarray(address, address + 3)], [1, 2, 3])
    engine.drop({ address })
  })
  test('runs built-in operators', async ({ env }) => {
    const session = await env.createSession(model('Neg', ''))
    assert.deepEqual([...(await session.run({ x: new Tensor('float32', [1, 2]) })).y.data], [-1, -2])
    session.dispose()
  })
  test('runs kernels in JavaScript, async ones too', async ({ env }) => {
    for (const [name, kernel] of [['Twice', twice], ['Later', { ...twice, compute: async inputs => twice.compute(inputs) }]]) {
      const registration = env.registerOperator(customSpec({ domain, opType: name }), kernel)
      await doubles(env, name, domain)
      registration.dispose()
    }
  })
  test('runs plug-ins', async ({ env }) => {
    const registration = env.registerOperator(customSpec({ domain, opType: 'Plug' }), buildPlugin(plug('')))
    await doubles(env, 'Plug', domain)
    registration.dispose()
  }, { skip })
  test('checks documents and says what it finds', ({ env }) => {
    assert.equal(env.check(model('Neg', '')).ok, true)
    assert.deepEqual(env.check('{"a": 1, "a": 2}').findings.map(({ rule }) => rule), ['json.duplicate-key'])
    assert.throws(() => env.registerOperator({}), { code: 'malformed' })
  })
  test('takes and gives values of every kind', ({ env }) => {
    const float = new Tensor('float32', [1.5, 2], [2])
    const values = {
      tensor: [float, 'tensor(float)'], text: [new Tensor('string', ['a', 'ö', '', 'x'.repeat(100)], [2, 2]), 'tensor(string)'],
      sequence: [[float, float], 'seq(tensor(float))'], map: [new Map([[1n, 2.5]]), 'map(int64,tensor(float))'], optional: [float, 'optional(tensor(float))'],
      'sparse-tensor': [new SparseTensor('float32', float, new Tensor('int64', [0n, 4n], [2]), [5]), 'sparse_tensor(float)']
    }
    for (const [name, [given, type]] of Object.entries(values)) {
      const bytes = env.writeValue(given, 'v', type)
      assert.deepEqual(env.writeValue(env.readValue(bytes, name === 'text' ? 'tensor' : name), 'v', type), bytes, name)
    }
  })
  test('decodes messages', ({ env }) => assert.equal(env.decode(model('Neg', ''), 'ModelProto').graph.node[0].opType, 'Neg'))
  test('runs evidence', async ({ env }) => {
    const document = JSON.stringify({ ...JSON.parse(tiltDocument), tests: ['case.json'] })
    const { summary } = await env.test({ 'tilt.opspec.json': document, 'kernel.onnx': tiltFunction, 'case.json': JSON.stringify(tiltEvidence[1]) })
    assert.deepEqual(summary, { passed: 1, failed: 0, skipped: 0, errors: 0 })
  })
})

it('at 4 GiB there is a limit error, and the Env goes on', async t => {
  const { env, engine, why } = await highEnv(GIB)
  if (why !== undefined) { t.skip(why); return }
  assert.throws(() => { for (let i = 0; i < 100; i++) engine.block(new Uint8Array(1 << 26)) }, error => error instanceof OpspecError && error.code === 'limit' && /bytes do not fit/.test(error.message))
  const session = await env.createSession(model('Neg', ''))
  assert.deepEqual([...(await session.run({ x: new Tensor('float32', [1, 2]) })).y.data], [-1, -2])
})
