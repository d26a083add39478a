// Specifications that are made to take long, or to make reports grow: each ends with a report, and the Env lives on.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { spec } from '../rules/cases.js'

describe('hostile specifications', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => {
    assert.equal(env.validateSpec(spec).ok, true)
    env.dispose()
  })

  const list = (count, of) => Array.from({ length: count }, (_, i) => of(i))
  const object = (count, of) => Object.fromEntries(list(count, of))
  const changed = change => {
    const document = JSON.parse(spec)
    change(document)
    return JSON.stringify(document)
  }

  it('lists that are too long are looked at so far, and it says so', () => {
    const long = {
      'allowed types': document => { document.type_parameters.T.allowed_types = list(100_001, i => `opaque(a,t${i})`) },
      'inputs or outputs': document => { document.inputs = list(100_001, i => ({ ...document.inputs[0], name: `x${i}` })) },
      'members of a set': document => { document.attributes.mode.allowed_values = list(100_001, i => 100_001 - i) },
      tests: document => { document.tests = list(100_001, i => `t${i}`) }
    }
    for (const [what, change] of Object.entries(long)) {
      const { complete, incomplete } = env.validateSpec(changed(change))
      assert.deepEqual([complete, incomplete], [false, [`more than 100000 ${what}; those behind were not looked at`]])
    }
  })

  it('a hundred thousand type parameters that nothing uses', () => {
    const type = { allowed_types: ['tensor(float)'], description: 'Unused.' }
    const { counts, findings } = env.validateSpec(changed(document => { Object.assign(document.type_parameters, object(100_000, i => [`Q${i}`, type])) }))
    assert.deepEqual([counts.warning, findings.length], [100_000, 1000])
  })

  it('names in texts by the million', () => {
    const report = env.validateSpec(changed(document => { document.boundary_behavior = '`w` '.repeat(1_000_000) }))
    assert.equal(report.complete, false)
    assert.match(report.incomplete.join(), /too many findings/)
  })

  it('long texts give short reports', () => {
    const long = 'q'.repeat(1_000_000)
    for (const change of [
      document => { document.type_parameters.T.allowed_types = [`tensor(${long})`] }, document => { document.inputs[0].type_parameter = long },
      document => { document.inputs[0].name = document.inputs[1].name = long }, document => { document.operator.domain = `a ${long}` },
      document => { document.operator.op_type = `-${long}` }, document => { document.version = `-${long}` }, document => { document.tests = [`${long}.`] },
      document => { document.attributes[`-${long}`] = document.attributes.mode }, document => { document.reference.entry_class = `-${long}` },
      document => { document.reference.adapter = long }, document => { document.reference.environment.python = long },
      document => { document.reference.environment.packages[`a--${long}`] = long }, document => { document.attributes.mode.default = long }
    ]) {
      const report = env.validateSpec(changed(change))
      assert.ok(report.findings.length > 0, String(change))
      for (const finding of report.findings) assert.ok(JSON.stringify({ ...finding, fix: undefined }).replaceAll(long, '').length < 10_000 && finding.message.length < 2000, `${change}: ${finding.rule}`)
    }
  })
})
