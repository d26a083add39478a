// Fixes, over the corpus and over documents with many faults: once all are applied nothing is left to fix, and nothing else has
// changed, whatever the document's line ends, indentation and characters are.
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { applyFixes, createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'
import { evidence, spec } from './cases.js'
import { writings } from './writings.js'

const ROUNDS = 4 // a fix may uncover faults that could not be seen before, or wait for one that overlaps it

// Faults that have a fix, as changes of the specification.
const faults = [
  ['"type_parameter": "M"', '"type_parameter": "m"'], ['"type_parameter": "T", "description": "The result."', '"type_parameter": "TT", "description": "The result."'],
  ['"tensor(double)", "tensor(float)"', '"Tensor<double>", "tensor( float )"'], ['"tensor(bool)"]', '"tensor(bool)", "tensor(boolean)"]'],
  ['"tensor(bool)"]', '"map( string,int64)", "map(string, tensor(int64))", "tensor(bool)"]'], ['"M": {', '"N": { "allowed_types": ["tensor(fp16)"], "description": "Unused." },\n    "M": {'],
  ['"alpha": {', '"al-pha.1": {'], ['"default": null', '"default": 1'], ['[0, 1, 2]', '[ 2,\n 16,1 , 128, 0]'], ['["gate.py"]', '["gate.py", "adapter.py", "base.py"]'],
  ['Slope.', 'Slope of `aplha` for `msak`, `Z`.'], ['"`Y` has the shape of `X`."', '"`Y` has the shape of `X`.", "`Y` has the shape of `x`."'],
  ['"`mask` has the shape of `X`."', '"`mask` has the shape of `X`.", "`mask`  has the shape of `X`", "`mask` has the shape of `X`"'],
  ['"numpy": "2.0.1"', '"a_-b": "1", "numpy": "2.0.1"'], ['"one.json", "two.json"', '"one.json", "one", "two.json", "two.json"'], ['"op_type": "SoftGate"', '"op_type": "Söft-Gate"'],
  ['"cardinality": "single"', '"cardinalty": "single"'], ['"tests": [', '"test": ['], ['"two.json"]', '"two.json",]'], ['"state_effects": "None.",', '"state_effects": "None.",,'],
  ['"authority": "specification"', '"authority": "specificaton"'], ['"protocol_version": "1.0"', '"protocol_version": 1']
]

// Numbers from 0 to 1 by a seed, the same everywhere.
function generator(seed) {
  let state = seed
  return () => {
    state = state + 0x9e3779b9 | 0
    let t = Math.imul(state ^ state >>> 16, 0x21f0aaad)
    t = Math.imul(t ^ t >>> 15, 0x735a2d97)
    return ((t ^ t >>> 15) >>> 0) / 2 ** 32
  }
}

function faulty(seed) {
  const random = generator(seed)
  return faults.reduce((text, [from, to]) => random() < 0.3 ? text.replace(from, () => to) : text, spec)
}

// Members of two JSON values that differ, as pointers.
function differences(a, b, pointer = '') {
  if (a === b) return []
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return [pointer]
  const escape = key => key.replaceAll('~', '~0').replaceAll('/', '~1')
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].flatMap(key => Object.hasOwn(a, key) && Object.hasOwn(b, key) ? differences(a[key], b[key], `${pointer}/${escape(key)}`) : [`${pointer}/${escape(key)}`])
}

const parsed = bytes => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

describe('all fixes of a document', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  // One round: what applyFixes makes of it, compared with the edits done one by one from the end.
  function round(bytes, findings, context) {
    const { content, applied } = applyFixes(bytes, findings)
    const taken = []
    for (const { fix } of findings) {
      if (fix === undefined) continue
      for (const { byteStart, byteEnd } of fix.edits) {
        for (const at of [byteStart, byteEnd]) assert.ok((bytes[at] & 0xc0) !== 0x80 && !(bytes[at - 1] === 13 && bytes[at] === 10), `${context}: an edit splits a character`)
      }
      const free = fix.edits.every(edit => !taken.some(({ byteStart, byteEnd }) => edit.byteStart < byteEnd && byteStart < edit.byteEnd || (edit.byteStart === byteStart && edit.byteEnd === byteEnd)))
      if (free) taken.push(...fix.edits)
    }
    let expected = Buffer.from(bytes)
    for (const { byteStart, byteEnd, text } of taken.sort((a, b) => b.byteStart - a.byteStart)) expected = Buffer.concat([expected.subarray(0, byteStart), Buffer.from(text), expected.subarray(byteEnd)])
    assert.deepEqual(Buffer.from(content), expected, context)
    return { content, applied }
  }

  // Only what lies at or beside the place of a finding with a fix has changed.
  function changesNothingElse(before, after, findings, context) {
    const [a, b] = [parsed(before), parsed(after)]
    if (a === undefined || b === undefined) return
    const places = findings.filter(({ fix }) => fix !== undefined).map(({ pointer }) => (pointer ?? '').replace(/\/[^/]*$/, ''))
    for (const pointer of differences(a, b)) assert.ok(places.some(place => pointer.startsWith(place)), `${context}: ${pointer} has changed`)
  }

  function fixAll(bytes, check, context) {
    for (let n = 0; n < ROUNDS; n++) {
      const findings = check(bytes)
      if (!findings.some(({ fix }) => fix !== undefined)) return bytes
      const { content, applied } = round(bytes, findings, context)
      assert.ok(applied > 0, context)
      changesNothingElse(bytes, content, findings, context)
      bytes = content
    }
    const left = check(bytes).filter(({ fix }) => fix !== undefined).map(({ rule, pointer, fix }) => ({ rule, pointer, title: fix.title }))
    assert.deepEqual(left, [], `${context}: ${new TextDecoder().decode(bytes)}`)
    return bytes
  }

  const checkAs = as => bytes => env.check(bytes, { as }).findings
  const encoded = text => new TextEncoder().encode(text)

  for (const [name, writing] of Object.entries(writings)) {
    it(`with many faults, ${name}`, () => {
      const clean = encoded(writing(spec).replace('\uFEFF', ''))
      assert.deepEqual(Buffer.from(fixAll(encoded(writing(spec)), checkAs('spec'), 'no fault')), Buffer.from(clean))
      const rules = new Set()
      for (let seed = 1; seed <= 200; seed++) {
        const bytes = encoded(writing(faulty(seed)))
        for (const { rule, fix } of env.check(bytes, { as: 'spec' }).findings) if (fix) rules.add(rule)
        fixAll(bytes, checkAs('spec'), `seed ${seed}`)
      }
      assert.ok(rules.size > 12, [...rules].join(' '))
    })
    it(`safe ones alone bring no new fault but what they uncover, ${name}`, () => {
      for (let seed = 1; seed <= 200; seed++) {
        const bytes = encoded(writing(faulty(seed)))
        const { findings } = env.check(bytes, { as: 'spec' })
        if (findings.some(({ rule }) => rule === 'json.syntax')) continue
        const { content } = applyFixes(bytes, findings.filter(({ fix }) => fix?.safe))
        const had = new Set(findings.map(({ rule }) => rule))
        const brought = env.check(content, { as: 'spec' }).findings.filter(({ rule, severity, fix }) => !had.has(rule) && (severity === 'error' || !fix?.safe))
        assert.deepEqual(brought.map(({ rule, message }) => ({ rule, message })), [], `seed ${seed}`)
      }
    })
  }

  it('of evidence', () => {
    for (const [from, to] of [['"version": "1"', '"version": "2"'], ['tensor(float)', 'tensor(float32)'], ['"outputs"', '"outpts"'], [']\n}', ',]\n}'], ['"NaN"', 'NaN']]) {
      for (const [name, writing] of Object.entries(writings)) fixAll(encoded(writing(evidence.replace(from, () => to))), checkAs('evidence'), `${to}, ${name}`)
    }
  })

  const { folder, skip } = corpus('spec-documents')
  const documents = skip ? [] : ['valid', 'invalid', 'controls'].flatMap(part => filesBelow(join(folder, part)).filter(name => name.endsWith('.json')).map(name => `${part}/${name}`))
  it('of the corpus', { skip }, () => {
    assert.ok(documents.length > 100)
    for (const name of documents) {
      if (statSync(join(folder, name)).size > 100_000) continue // 100,000 arrays inside each other: nothing to fix
      const bytes = new Uint8Array(readFileSync(join(folder, name)))
      const { kind } = Env.sniff(env, bytes)
      fixAll(bytes, checkAs(kind === 'spec' || kind === 'evidence' ? kind : 'json'), name)
      if (name.includes('latin1')) continue
      for (const [how, writing] of Object.entries(writings)) fixAll(encoded(writing(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))), checkAs(kind === 'spec' || kind === 'evidence' ? kind : 'json'), `${name}, ${how}`)
    }
  })
})
