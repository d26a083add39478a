// Models that are right: no rule has an error about the public test models and their data, with inference and without.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { fetchModel, modelNames } from '../models.js'
import { corpus, filesBelow } from '../support/corpora.js'

describe('models that are right', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const errors = (bytes, options) => env.check(bytes, options).findings.filter(({ severity }) => severity === 'error').map(({ rule, path, message }) => `${rule} ${path}: ${message}`)

  const { folder, skip } = corpus('onnx-tests-1.22')
  const kinds = { models: [/\.onnx$/, [{ as: 'model', full: false }, { as: 'model', full: true }]], data: [/\.pb$/, [{}]] }
  for (const [kind, [ending, ways]] of Object.entries(kinds)) {
    it(`ONNX's own ${kind}`, { skip }, t => {
      const names = filesBelow(folder).filter(name => ending.test(name))
      const found = names.flatMap(name => {
        const bytes = readFileSync(join(folder, name))
        return ways.flatMap(options => errors(bytes, options).map(text => `${name}: ${text}`))
      })
      assert.deepEqual(found, [])
      assert.ok(names.length > 1000)
      t.diagnostic(`${names.length} ${kind} without an error`)
    })
  }
  for (const name of modelNames) {
    it(name, async t => {
      const path = await fetchModel(name)
      if (path === null) {
        t.skip(`the model ${name} cannot be had`)
        return
      }
      for (const full of [false, true]) assert.deepEqual(errors(readFileSync(path), { full }), [])
    })
  }
})
