// Operator-extension documents: valid bundles, faulty documents and controls, each with the findings that it deserves.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'

const { folder, skip } = corpus('spec-documents')
const lines = path => folder === null ? [] : readFileSync(join(folder, path), 'utf8').trim().split('\n').map(line => JSON.parse(line))

// Rules that take a run of the kernel.
const RUN = new Set(['evidence.value', 'evidence.error', 'evidence.nondeterministic'])
const pointersOf = c => [...('pointer' in c ? [c.pointer] : []), ...(c.pointers ?? [])]
const inShort = ({ rule, severity, pointer }) => ({ rule, severity, pointer })
const told = findings => findings.map(({ rule, severity, file, pointer, message }) => ({ rule, severity, file, pointer, message }))

describe('spec documents', { skip }, () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const filesOf = path => new Map(filesBelow(path).map(name => [name, readFileSync(join(path, name))]))
  const load = path => {
    if (!statSync(path).isDirectory()) return env.validateSpec(readFileSync(path))
    return Env.checkFiles(env, filesOf(path), {})
  }

  for (const { bundle, findings } of lines('valid/expected.jsonl')) {
    it(`valid: ${bundle}`, () => {
      const report = load(join(folder, 'valid', bundle))
      assert.deepEqual(report.findings.map(inShort), findings, JSON.stringify(told(report.findings), null, 1))
      assert.equal(report.complete, true)
    })
  }

  it('has the cases that it says', () => {
    assert.deepEqual([lines('valid/expected.jsonl').length, lines('invalid/cases.jsonl').length], [12, 80])
  })

  // The same through the public call, which gets the document as a text beside its files.
  for (const { bundle, findings } of lines('valid/expected.jsonl')) {
    it(`valid, as a text with files: ${bundle}`, () => {
      const path = join(folder, 'valid', bundle)
      const report = env.validateSpec(readFileSync(join(path, `${bundle}.json`), 'utf8'), { files: filesOf(path) })
      assert.deepEqual(report.findings.map(inShort), findings, JSON.stringify(told(report.findings), null, 1))
      assert.equal(report.complete, true)
    })
  }

  it('finds a conflict with a document among the files', () => {
    const files = filesOf(join(folder, 'invalid', 'bundle-conflict'))
    const report = env.validateSpec(files.get('two/two.json'), { files })
    assert.deepEqual(report.findings.map(({ rule }) => rule), ['spec.bundle.conflict'])
    assert.equal(report.findings[0].pointer, '/operator')
    assert.match(report.findings[0].related[0].file, /^(one\/one|two\/two)\.json$/)
  })

  for (const { file, findings } of lines('controls/controls.jsonl')) {
    it(`control: ${file}`, () => {
      const report = load(join(folder, 'controls', file))
      assert.deepEqual(report.findings.map(inShort), findings, JSON.stringify(told(report.findings), null, 1))
    })
  }

  // The one finding of the case at its place, and nothing else at level error.
  function judge (c, findings) {
    const context = JSON.stringify(told(findings), null, 1)
    const pointers = pointersOf(c)
    const found = findings.filter(finding => finding.rule === c.rule && finding.severity === c.severity &&
      (pointers.length === 0 || pointers.includes(finding.pointer ?? '')) &&
      (c.in === undefined || finding.file === c.in.slice(c.file.length + 1)))
    assert.equal(found.length, 1, `${c.rule} at ${c.pointer ?? `${c.line}:${c.column}`}: ${context}`)
    if (c.line !== undefined && (c.pointer === undefined || found[0].pointer === c.pointer)) {
      const { line, column } = found[0].range.start
      assert.deepEqual({ line, column }, { line: c.line, column: c.column })
    }
    const others = findings.filter(({ rule, severity }) => severity === 'error' && rule !== c.rule && !c.also.includes(rule))
    assert.deepEqual(told(others), [])
  }

  for (const c of lines('invalid/cases.jsonl')) {
    it(`invalid: ${c.file}`, async () => {
      const path = join(folder, 'invalid', c.file)
      const { findings } = load(path)
      if (!RUN.has(c.rule)) return judge(c, findings)
      assert.deepEqual(told(findings.filter(({ severity }) => severity === 'error')), [])
      const { tests } = await env.test(filesOf(path))
      judge(c, tests.flatMap(test => test.findings ?? []))
    })
  }
})
