// Schemas and documents that are made to take long or to crash: each ends with a report, and the Env lives on.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError } from '../../wasm/js/index.js'

describe('hostile schemas and documents', () => {
  let env
  before(async () => { env = await createEnv({ limits: { depth: 200_000 } }) })
  after(() => {
    assert.equal(env.validateJson('1', '{"type":"integer"}').valid, true)
    env.dispose()
  })

  it('a document 100,000 deep', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    for (const schema of ['{"items":{"$ref":"#"}}', '{"$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}}', '{"items":{"$ref":"#"},"unevaluatedItems":false}']) {
      assert.equal(env.validateJson(deep, schema).valid, true, schema)
    }
    assert.equal(env.validateJson(deep, '{"enum":[[[]]]}').valid, false)
    assert.equal(env.validateJson(deep, '{"items":{"$ref":"#"},"maxItems":0}').counts.error, 99_999)
  })

  it('a schema 100,000 deep', () => {
    const deep = '{"items":'.repeat(100_000) + 'false' + '}'.repeat(100_000)
    assert.equal(env.validateJson('[[]]', deep).valid, true)
    const not = '{"not":'.repeat(100_000) + 'false' + '}'.repeat(100_000)
    assert.equal(env.validateJson('1', not).valid, false)
  })

  it('a string of 50 MB', () => {
    const text = JSON.stringify('ab'.repeat(25_000_000))
    const report = env.validateJson(text, '{"minLength":1,"maxLength":10,"pattern":"^a","format":"email"}', { format: 'assertion' })
    assert.deepEqual(report.findings.map(({ rule }) => rule).sort(), ['schema.format', 'schema.maxLength'])
    assert.ok(JSON.stringify(report).length < 10_000)
  })

  it('a pattern that runs away', () => {
    for (const schema of ['{"pattern":"^(a+)+$"}', '{"patternProperties":{"^(a|a)*$":false}}']) {
      const key = 'a'.repeat(60) + '!'
      const report = env.validateJson(schema.includes('Properties') ? JSON.stringify({ [key]: 1 }) : JSON.stringify(key), schema, { output: 'basic' })
      assert.deepEqual([report.ok, report.valid, report.complete], [false, false, false])
      assert.match(report.incomplete[0], /pattern/)
    }
  })

  it('references that go in circles', () => {
    for (const schema of [
      '{"$ref":"#"}', '{"allOf":[{"$ref":"#"}]}', '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}',
      '{"$dynamicAnchor":"x","$dynamicRef":"#x"}', '{"not":{"$ref":"#"}}', '{"unevaluatedProperties":false,"anyOf":[{"$ref":"#"},true]}'
    ]) {
      const report = env.validateJson('{"a":1}', schema, { output: 'verbose' })
      assert.equal(report.ok, false, schema)
    }
  })

  it('a schema that asks the same again and again', () => {
    const defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]))
    const report = env.validateJson('1', JSON.stringify({ $ref: '#/$defs/d0', $defs: { ...defs, d40: { type: 'integer' } } }))
    assert.deepEqual([report.ok, report.complete], [false, false])
  })

  it('a million findings, cut at the limit', () => {
    const text = `[${'1,'.repeat(999_999)}1]`
    const report = env.validateJson(text, '{"items":{"type":"string"}}', { output: 'basic' })
    assert.ok(report.counts.error >= 100_000 && report.counts.error < 1_000_000)
    assert.ok(report.output.errors.length > 1000)
    assert.equal(report.findings.length, 1000)
    assert.equal(report.complete, false)
  })

  it('references one behind the other, and a wide schema', () => {
    const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]))
    const report = env.validateJson('1', JSON.stringify({ $ref: '#/$defs/d0', $defs: { ...chain, d20000: { type: 'string' } } }))
    assert.deepEqual(report.findings.map(({ rule }) => rule), ['schema.type'])
    const names = Array.from({ length: 50_000 }, (_, i) => `p${i}`)
    const wide = JSON.stringify({ properties: Object.fromEntries(names.map(name => [name, { type: 'integer' }])), required: names, additionalProperties: false })
    assert.equal(env.validateJson(`{${names.map(name => `"${name}":1`).join(',')}}`, wide).valid, true)
  })

  it('long lists of values', () => {
    const values = Array.from({ length: 50_000 }, (_, i) => `${'p'.repeat(50)}${i}`)
    const schema = JSON.stringify({ uniqueItems: true, items: { enum: values } })
    assert.equal(env.validateJson(JSON.stringify(values), schema).valid, true)
    assert.equal(env.validateJson(JSON.stringify([...values, values[7]]), schema).valid, false)
    assert.equal(env.validateJson(JSON.stringify(values.map(value => value.replace('p', 'q'))), schema).valid, false)
    const mixed = JSON.stringify({ enum: [...values.slice(0, 20), 1.0, { a: [1], b: null }, null] })
    for (const text of ['1e0', '{"b":null,"a":[1]}', 'null']) assert.equal(env.validateJson(text, mixed).valid, true, text)
    for (const text of ['2', '{"b":null}', 'false']) assert.equal(env.validateJson(text, mixed).valid, false, text)
  })

  it('numbers without measure', () => {
    const cases = [['1e1000000000', '{"multipleOf":7}', false], ['7e1000000000', '{"multipleOf":7}', true], ['1e1000000000', '{"multipleOf":1e-1000000000}', true],
      ['1e-1000000000', '{"minimum":1e1000000000}', false], ['"a"', '{"minLength":1e400}', false], ['[]', '{"minItems":1e1000000000}', false], ['{}', '{"maxProperties":1e1000000000}', true]]
    for (const [text, schema, valid] of cases) assert.equal(env.validateJson(text, schema).valid, valid, schema)
    assert.equal(env.validateJson('9'.repeat(100_000), '{"multipleOf":3,"type":"integer"}').valid, true)
  })

  it('names that make no sense', () => {
    for (const schema of ['{"$id":"http://[::"}', '{"$ref":"#/%zz"}', '{"$ref":"../../../../x#y"}', '{"$id":"..","$defs":{"a":{"$id":"../..//.."}}}', '{"$schema":"","type":"null"}']) {
      try {
        env.validateJson('{}', schema)
      } catch (error) {
        assert.ok(error instanceof OpspecError && error.code !== 'crashed', schema)
      }
    }
  })
})
