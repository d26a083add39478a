// Every demand of the standard's text has its cases: a rule speaks where it is broken and is silent where it is kept. What
// onnx.checker refuses is an error; the rest is a warning, and an error when the check is strict.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { demands } from './must-cases.js'

const all = { A: 58, B: 20, C: 9, D: 14 }
const names = Object.entries(all).flatMap(([letter, count]) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`))

describe('demands of the standard', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const told = findings => JSON.stringify(findings.map(({ rule, severity, path, message }) => ({ rule, severity, path, message })), null, 1)

  function speaks({ rule, severity, as, path, full = false, files = {} }, bytes, index) {
    const { findings, counts } = env.check(bytes, { as, full, files })
    const found = findings.filter(finding => finding.rule === rule && finding.severity === severity)
    assert.ok(found.length > 0, `case ${index}: ${told(findings)}`)
    if (path !== undefined) assert.ok(found.some(finding => finding.path === path), `case ${index}, ${path}: ${told(findings)}`)
    for (const finding of found) assert.ok(finding.path !== undefined && finding.message.length > 0, told([finding]))
    if (severity !== 'error') assert.equal(counts.error, 0, `case ${index}: ${told(findings)}`)
    const strict = env.check(bytes, { as, full, files, strict: true })
    assert.ok(strict.findings.some(finding => finding.rule === rule && finding.severity === (severity === 'info' ? 'info' : 'error')), told(strict.findings))
    assert.equal(strict.ok, severity === 'info')
  }

  function isSilent({ rule, as, full = false, files = {} }, bytes, index) {
    const { findings, counts } = env.check(bytes, { as, full, files })
    assert.deepEqual(findings.filter(finding => finding.rule === rule).map(({ path, message }) => ({ path, message })), [], `case ${index}`)
    assert.equal(counts.error, 0, `case ${index}: ${told(findings)}`)
  }

  async function runs({ model, inputs, outputs, fails }) {
    const session = await env.createSession(model)
    try {
      const feeds = Object.fromEntries(inputs.map(([name, size]) => [name, new Tensor('float32', new Float32Array(size), [size])]))
      if (fails !== undefined) await assert.rejects(session.run(feeds), fails)
      else assert.deepEqual(Object.keys(await session.run(feeds)), outputs)
    } finally {
      session.dispose()
    }
  }

  it('all have cases', t => {
    assert.deepEqual(Object.keys(demands), names)
    const known = new Set(env.rules())
    for (const [name, [says, parts]] of Object.entries(demands)) {
      assert.ok(says.length > 0 && parts.length > 0, name)
      for (const { run, rule, fires, silent } of parts) assert.ok(run || (known.has(rule) && fires.length > 0 && silent.length > 0), `${name}: ${rule}`)
    }
    t.diagnostic(`${Object.keys(demands).length} of ${names.length} rules have cases`)
  })

  for (const [name, [says, parts]] of Object.entries(demands)) {
    it(`${name}: ${says}`, async () => {
      for (const part of parts) {
        if (part.run) {
          await runs(part)
          continue
        }
        part.fires.forEach((bytes, index) => { speaks(part, bytes, index) })
        part.silent.forEach((bytes, index) => { isSilent(part, bytes, index) })
      }
    })
  }
})
