// The bundles that the page opens with: no errors in them, and their kernels pass their evidence.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'

const folder = new URL('../../specs/samples/', import.meta.url)

describe('the samples', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env?.dispose())

  for (const name of readdirSync(folder)) {
    const files = new Map(readdirSync(new URL(`${name}/`, folder)).map(file => [file, readFileSync(new URL(`${name}/${file}`, folder), 'utf8')]))

    it(`${name} has no errors`, () => {
      const others = new Map([...files].filter(([file]) => file !== `${name}.opspec.json`))
      const report = env.validateSpec(files.get(`${name}.opspec.json`), { files: others })
      assert.deepEqual(report.findings.filter(({ severity }) => severity === 'error'), [])
      assert.equal(report.complete, true)
    })

    it(`${name} passes its evidence`, async () => {
      const report = await env.test(files)
      assert.deepEqual(report.tests.filter(({ status }) => status !== 'passed'), [])
      assert.equal(report.tests.length, JSON.parse(files.get(`${name}.opspec.json`)).tests.length)
    })
  }
})
