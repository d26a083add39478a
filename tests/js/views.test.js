// What hosts that show documents ask: what a file is, its structure without its data, what is known of its values.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv } from '../../wasm/js/index.js'
import { model, node, tensor, value } from '../support/onnx.js'
import { message } from '../support/proto.js'

const weights = new Float32Array(1000)
const bytes = model({
  nodes: [node('Mul', ['x', 'w'], ['p']), node('Shape', ['p'], ['s']), node('Unknown', ['p'], ['q'], {}, { domain: 'org.test' }), node('Relu', ['q'], ['y'])], opsets: { '': 21, 'org.test': 1 },
  initializers: [tensor('w', 'float32', [1000], weights)], inputs: [value('x', 'float32', ['N', 1000])], outputs: [value('y', 'float32')]
})
const complete = model({ nodes: [node('Relu', ['x'], ['h']), node('Neg', ['h'], ['y'])], inputs: [value('x', 'float32', [null, 3])], outputs: [value('y', 'float32', [null, 3])] })

for (const [name, create] of [['an Env', createEnv], ['a worker', createWorkerEnv]]) {
  describe(`what is shown of documents, in ${name}`, () => {
    let env
    before(async () => { env = await create() })
    after(() => env.dispose())

    it('says what a file is, and why', async () => {
      assert.deepEqual(await env.identify(bytes), { kind: 'model', evidence: 'its fields are those of ModelProto', candidates: '' })
      assert.equal((await env.identify(message('OperatorSetProto', { magic: 'ONNXOPSET', opset_version: 1 }))).evidence, 'it begins with the magic ONNXOPSET')
      assert.equal((await env.identify('{ "kind": "runlocal.operator-extension" }')).kind, 'spec')
      assert.equal((await env.identify('ir_version: 7')).kind, 'text')
      assert.equal((await env.identify(new Uint8Array(0))).kind, 'unknown')
    })

    it('gives the structure of a model, and where the rest is', async () => {
      const opened = await env.open(new Blob([bytes]))
      const structure = await opened.structure()
      const { offset, length } = structure.graph.initializer[0].rawData
      assert.equal(length, 4000)
      assert.deepEqual(bytes.subarray(offset, offset + length), new Uint8Array(weights.buffer))
      const whole = await env.decode(bytes, 'ModelProto')
      structure.graph.initializer[0].rawData = whole.graph.initializer[0].rawData
      assert.deepEqual(structure, whole)
      await opened.dispose()
    })

    it('infers what is known of the values of the main graph', async () => {
      for (const opened of [await env.open(new Blob([bytes])), await env.loadModel(bytes)]) {
        const { values, complete: all } = await opened.infer()
        assert.deepEqual(values.get('p'), { type: 'tensor(float)', shape: ['N', 1000] })
        assert.deepEqual(values.get('s'), { type: 'tensor(int64)', shape: [2] })
        assert.deepEqual(values.get('w'), { type: 'tensor(float)', shape: [1000] })
        assert.equal(values.has('q'), false)
        assert.equal(all, false)
        await opened.dispose()
      }
      const opened = await env.loadModel(complete)
      const { values, complete: all } = await opened.infer({ timeoutMs: 10_000 })
      assert.deepEqual(values.get('h'), { type: 'tensor(float)', shape: [null, 3] })
      assert.equal(all, true)
      await opened.dispose()
    })
  })
}
