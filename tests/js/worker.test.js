// createWorkerEnv: the same methods as promises, handles, what cannot cross, force where a worker does not answer.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const relu = onnx.model({ inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['x'], ['y'])] })
const custom = opType => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node(opType, ['x'], ['y'], {}, { domain })]
})
const spec = opType => customSpec({ domain, opType })
const endless = 'export default { compute () { for (;;); } }'
const feeds = { x: new Tensor('float32', [-1, 2]) }
const rejects = (promise, code, message = /./) => assert.rejects(promise, error => {
  assert.ok(error instanceof OpspecError, String(error.stack))
  assert.equal(error.code, code, error.message)
  assert.match(error.message, message)
  return true
})

describe('createWorkerEnv', () => {
  let remote
  let local
  before(async () => { [remote, local] = await Promise.all([createWorkerEnv(), createEnv()]) })
  after(async () => {
    await remote.dispose()
    local.dispose()
  })

  it('answers as an Env does', async () => {
    assert.deepEqual(await remote.check(relu), local.check(relu))
    assert.deepEqual(await remote.check('{"a":1,}'), local.check('{"a":1,}'))
    assert.deepEqual(await remote.validateSpec(spec('A')), local.validateSpec(spec('A')))
    assert.deepEqual(await remote.explain('model.node.ssa'), local.explain('model.node.ssa'))
    assert.deepEqual(await remote.decode(relu, 'ModelProto'), local.decode(relu, 'ModelProto'))
    assert.equal((await remote.operators()).length, local.operators().length)
  })

  it('carries values', async () => {
    for (const value of [new Tensor('int64', [1n, 2n]), new Tensor('string', ['a', 'ö']), new Tensor('bool', [true])]) {
      assert.deepEqual(await remote.readValue(await remote.writeValue(value, 'v'), 'tensor'), value)
    }
    const list = [new Tensor('float32', [1]), new Tensor('float32', [2, 3])]
    const back = await remote.readValue(await remote.writeValue(list, 'v'), 'sequence')
    assert.deepEqual(back, list)
    assert.ok(back[0] instanceof Tensor)
    const sparse = new SparseTensor('float32', new Tensor('float32', [1]), new Tensor('int64', [0]), [4])
    assert.deepEqual(await remote.writeValue(sparse, 's'), local.writeValue(sparse, 's'))
  })

  it('reads Blobs among files', async () => {
    const bytes = onnx.externalTensor('t', 'float32', [2], 'w.bin')
    const data = Float32Array.of(1, 2)
    for (const files of [{ 'w.bin': new Blob([data]) }, new Map([['w.bin', new Blob([data])]])]) {
      assert.deepEqual(await remote.readValue(bytes, 'tensor', { files }), new Tensor('float32', data, [2]))
      assert.equal((await remote.check(bytes, { files })).complete, true)
      assert.deepEqual((await remote.diff(bytes, bytes, { files: [files, files] })).changes, [])
    }
    const document = JSON.stringify({ ...JSON.parse(spec('A')), tests: ['a.json'] })
    const report = await remote.validateSpec(document, { files: { 'a.json': new Blob(['{}']) } })
    assert.deepEqual([report.complete, report.findings.filter(({ file }) => file === 'a.json').map(({ rule }) => rule)], [true, ['evidence.form']])
  })

  it('errors arrive as they are', async () => {
    await rejects(remote.loadModel(new Uint8Array([255])), 'malformed')
    const error = await remote.loadModel(new Uint8Array([255])).catch(e => e)
    assert.ok(error.findings.length > 0)
    await rejects(remote.check(5), 'invalid_argument', /^document/)
    await rejects(remote.explain('x.y'), 'invalid_argument')
  })

  it('handles work: models, sessions, registrations', async () => {
    const model = await remote.loadModel(relu)
    assert.deepEqual(model.inputs, [{ name: 'x', type: 'tensor(float)', shape: ['N'] }])
    assert.equal((await model.check()).ok, true)
    const session = await remote.createSession(model)
    assert.deepEqual(session.inputNames, ['x'])
    const { y } = await session.run(feeds)
    assert.ok(y instanceof Tensor)
    assert.deepEqual([...y.data], [0, 2])
    await session.dispose()
    await model.dispose()
    await rejects(session.run(feeds), 'invalid_argument')
  })

  it('registers a kernel given as text or URL', async () => {
    const kernel = 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v * 3) }] }'
    for (const form of [kernel, new URL(`data:text/javascript,${encodeURIComponent(kernel)}`)]) {
      const registration = await remote.registerOperator(spec('Thrice'), form)
      assert.deepEqual(registration.operators, ['org.test.Thrice'])
      const session = await remote.createSession(custom('Thrice'))
      assert.deepEqual([...(await session.run(feeds)).y.data], [-3, 6])
      await session.dispose()
      await registration.dispose()
    }
    await rejects(remote.registerOperator(spec('Bad'), 'export default {'), 'invalid_argument', /^kernel/)
  })

  it('runs a bundle', async () => {
    const evidence = JSON.stringify({ kind: 'opspec.evidence', version: '1', operator: { domain: '', op_type: 'Relu' }, inputs: [{ type: 'tensor(float)', shape: [1], data: [-1] }], outputs: [{ type: 'tensor(float)', shape: [1], data: [0] }] })
    assert.equal((await remote.test(new Map([['a.json', new Blob([evidence])]]))).ok, true)
  })

  it('says what cannot cross', async () => {
    await rejects(remote.check('{}', { files: () => null }), 'invalid_argument', /^files/)
    await rejects(remote.registerOperator(spec('F'), { compute () {} }), 'invalid_argument', /^kernel/)
    await rejects(createWorkerEnv({ isolate () {} }), 'invalid_argument', /^isolate/)
    await rejects(createWorkerEnv({ worker: 5 }), 'invalid_argument', /^worker/)
    await rejects(createWorkerEnv({ limits: { foo: 1 } }), 'invalid_argument', /^limits/)
  })

  it('a signal that has fired already', async () => {
    await rejects(remote.check('{}', { signal: AbortSignal.abort() }), 'aborted')
  })

  describe('when a kernel does not return', () => {
    let own
    let session
    let other
    const reasons = []
    before(async () => {
      own = await createWorkerEnv({ onRestart: reason => reasons.push(reason) })
      const model = await own.loadModel(relu)
      other = await own.createSession(model)
      await own.registerOperator(spec('Endless'), endless)
      session = await own.createSession(custom('Endless'))
    })
    after(() => own.dispose())

    it('a time limit ends it, and handles go on', async () => {
      await rejects(session.run(feeds, { timeoutMs: 50 }), 'timeout', /50 ms/)
      assert.deepEqual([...(await other.run(feeds)).y.data], [0, 2])
      assert.deepEqual(reasons, ['timeout'])
    })
    it('a signal ends it, and calls that were waiting are made again', async () => {
      const controller = new AbortController()
      const running = session.run(feeds, { signal: controller.signal })
      const waiting = [other.run(feeds), own.check(relu)]
      setTimeout(() => controller.abort(), 30)
      await rejects(running, 'aborted')
      assert.deepEqual([...(await waiting[0]).y.data], [0, 2])
      assert.equal((await waiting[1]).ok, true)
      assert.deepEqual(reasons, ['timeout', 'aborted'])
      assert.equal((await own.status()).restarts, 2)
    })
  })

  it('dispose ends what is under way', async () => {
    const own = await createWorkerEnv()
    await own.registerOperator(spec('Endless'), endless)
    const session = await own.createSession(custom('Endless'))
    const running = session.run(feeds)
    setTimeout(() => own.dispose(), 20)
    await rejects(running, 'aborted')
    await rejects(own.check('{}'), 'invalid_argument', /disposed/)
  })
})
