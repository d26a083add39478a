// Very many small things, wherever a message may have them: every call answers, with memory that grows as the document does
// (npm run bench -- documents says how soon).
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { denseDocuments } from '../support/dense.js'

const COUNT = 20_000
const LEAST = 48 << 20 // of the module, its tables and a small document
const TIMES = 400 // of the document: a struct of a few hundred bytes may take two in the file

const codes = ['malformed', 'limit', 'unsupported']
function attempt (job) {
  try {
    return job()
  } catch (error) {
    if (!codes.includes(error.code)) throw error
    return null
  }
}

describe(`${COUNT} small things`, () => {
  for (const [name, make] of denseDocuments()) {
    it(name, async () => {
      const bytes = make(COUNT)
      const env = await createEnv()
      const { findings, counts } = env.check(bytes, { as: 'model' })
      assert.ok(findings.length <= 1000 && counts.error + counts.warning + counts.info <= 40 * COUNT)
      const model = attempt(() => env.loadModel(bytes))
      if (model !== null) {
        assert.deepEqual(Buffer.compare(model.toBytes(), bytes), 0)
        model.dispose()
      }
      const opened = await env.open(new Blob([bytes]))
      opened.check()
      opened.dispose()
      const decoded = attempt(() => env.decode(bytes, 'ModelProto'))
      if (decoded !== null) env.encode(decoded, 'ModelProto')
      const plain = attempt(() => env.parse(env.format(bytes, 'ModelProto', 'textproto'), 'ModelProto', 'textproto'))
      for (const form of ['json', 'onnxtxt']) {
        const text = attempt(() => env.format(bytes, 'ModelProto', form, { lossy: true }))
        if (text === null) continue
        const again = env.parse(text, 'ModelProto', form)
        if (form === 'onnxtxt') assert.equal(Buffer.compare(again, plain), 0)
      }
      const { memory } = Env.memoryUsed(env)
      assert.ok(memory < LEAST + TIMES * bytes.length, `${memory} bytes of memory for ${bytes.length}`)
      env.dispose()
    })
  }
})
