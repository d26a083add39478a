// Evidence is strong: of every faulty kernel that differs from the sample's own on what the document allows, the evidence says so.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { mutants } from './mutants.js'

const samples = new URL('../../specs/samples/', import.meta.url)

describe('mutants of the samples', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  it('every sample with a kernel has twelve or more', () => {
    const named = readdirSync(samples).filter(name => readdirSync(new URL(`${name}/`, samples)).includes('kernel.js'))
    assert.deepEqual(Object.keys(mutants).sort(), named.sort())
    for (const [name, list] of Object.entries(mutants)) assert.ok(Object.keys(list).length >= 12, name)
  })

  for (const [name, list] of Object.entries(mutants)) {
    it(name, async t => {
      const folder = new URL(`${name}/`, samples)
      const files = new Map(readdirSync(folder).map(file => [file, readFileSync(new URL(file, folder), 'utf8')]))
      const kernel = files.get('kernel.js')
      const survivors = []
      for (const [fault, mutate] of Object.entries(list)) {
        const source = mutate(kernel)
        assert.notEqual(source, kernel, fault)
        const { tests } = await env.test(new Map([...files, ['kernel.js', source]]))
        assert.ok(tests.length > 0, fault)
        // A kernel that cannot be loaded proves nothing about evidence.
        assert.ok(!tests.some(({ message }) => /SyntaxError|^kernel\.js/.test(message ?? '')), `${fault}: ${tests[0].message}`)
        if (tests.every(({ status }) => status === 'passed')) survivors.push(fault)
      }
      const all = Object.keys(list).length
      t.diagnostic(`${name}: evidence turns red for ${all - survivors.length} of ${all} mutants`)
      assert.deepEqual(survivors, [])
    })
  }
})
