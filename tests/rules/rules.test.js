// Every rule of JSON texts, JSON Schema, specifications and evidence has its cases: it speaks, it is silent, its fix makes the document clean.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { applyFixes, createEnv } from '../../wasm/js/index.js'
import { cases, spec } from './cases.js'

const families = /^(json|schema|spec|evidence)\./
const ruleOf = title => title.replace(/ \(.*\)$/, '')

describe('rules', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  async function findingsOf({ text, as, files, run, canonical, schema, options }) {
    if (schema !== undefined) return env.validateJson(text, schema, options).findings
    if (run) return (await env.test(files)).tests.flatMap(test => test.findings ?? [])
    if (files !== undefined) return Env.checkFiles(env, new Map(Object.entries(files)), {}).findings
    if (!canonical) return env.check(text, { as }).findings
    try {
      env.format(text, as, 'canonical')
      return []
    } catch (error) {
      return error.findings
    }
  }

  // The case with the fixes of one rule applied, whichever files they are in.
  function repaired(item, fixes) {
    if (item.files === undefined) return { ...item, text: applyFixes(item.text, fixes).content }
    const files = { ...item.files }
    for (const { file, fix } of fixes) files[file] = applyFixes(files[file], [{ fix: { ...fix, edits: fix.edits.map(edit => ({ ...edit, file: undefined })) } }]).content
    return { ...item, files }
  }

  it('each has cases', () => {
    const known = env.rules().filter(rule => families.test(rule))
    const covered = new Set(Object.keys(cases).map(ruleOf))
    assert.deepEqual(known.filter(rule => !covered.has(rule)), [], 'rules without cases')
    assert.deepEqual([...covered].filter(rule => !known.includes(rule)), [], 'cases of no rule')
    for (const [title, { fires, silent }] of Object.entries(cases)) assert.ok(fires.length > 0 && silent.length > 0, title)
  })

  it('the document that they change has no finding', async () => {
    assert.deepEqual(await findingsOf({ text: spec, as: 'spec' }), [])
  })

  it('strict makes errors of warnings, and changes nothing else', () => {
    let warnings = 0
    for (const { text, as, canonical, schema } of Object.values(cases).flatMap(({ fires }) => fires)) {
      if (text === undefined || canonical || schema !== undefined) continue
      const [usual, strict] = [false, true].map(strict => env.check(text, { as, strict }))
      warnings += usual.counts.warning
      const made = usual.findings.map(finding => finding.severity === 'warning' ? { ...finding, severity: 'error' } : finding)
      assert.deepEqual(strict.findings, made)
      assert.deepEqual(strict.counts, { error: usual.counts.error + usual.counts.warning, warning: 0, info: usual.counts.info })
      assert.equal(strict.ok, strict.complete && strict.counts.error === 0)
    }
    assert.ok(warnings > 50)
  })

  it('each explains itself', () => {
    const rules = env.rules()
    assert.equal(new Set(rules).size, rules.length)
    for (const rule of rules) {
      const told = env.explain(rule)
      assert.equal(told.rule, rule)
      assert.match(told.severity, /^(error|warning|info)$/)
      for (const key of ['title', 'why', 'good', 'bad', 'source']) assert.ok(told[key].trim().length > 0, `${rule}: ${key}`)
      assert.notEqual(told.good, told.bad, rule)
    }
  })

  for (const [title, { fires, silent, fixed = false }] of Object.entries(cases)) {
    const rule = ruleOf(title)
    it(`${title} speaks`, async () => {
      for (const [index, item] of fires.entries()) {
        const all = await findingsOf(item)
        const found = all.filter(finding => finding.rule === rule)
        const context = `case ${index}: ${JSON.stringify(all.map(({ rule, pointer, message }) => ({ rule, pointer, message })), null, 1)}`
        assert.ok(found.length > 0, context)
        const fixes = found.filter(({ fix }) => fix !== undefined)
        assert.equal(fixes.length > 0, fixed, `has a fix: ${context}`)
        if (!fixed) continue
        const rest = await findingsOf(repaired(item, fixes))
        assert.deepEqual(rest.filter(finding => finding.rule === rule).map(({ message }) => message), [], `after the fix: ${context}`)
        assert.deepEqual(rest.filter(({ rule }) => rule === 'json.syntax'), [], `after the fix: ${context}`)
      }
    })
    it(`${title} is silent`, async () => {
      for (const [index, item] of silent.entries()) {
        const found = (await findingsOf(item)).filter(finding => finding.rule === rule)
        assert.deepEqual(found.map(({ pointer, message }) => ({ pointer, message })), [], `case ${index}`)
      }
    })
  }
})
