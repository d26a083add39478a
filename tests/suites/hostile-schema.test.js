// Schemas and documents that are made to take long or to crash: each ends with a report, and the Env lives on.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError } from '../../wasm/js/index.js'

describe('hostile schemas and documents', () => {
  let env
  before(async () => { env = await createEnv({ limits: { depth: 200_000 } }) })
  const pick = ({ valid, complete }) => ({ valid, complete })
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
    for (const schema of ['{"pattern":"^(.+)+a$"}', '{"patternProperties":{"^(.|a)*a$":false}}']) {
      const key = 'a'.repeat(60) + '!'
      const report = env.validateJson(schema.includes('Properties') ? JSON.stringify({ [key]: 1 }) : JSON.stringify(key), schema, { output: 'basic' })
      assert.deepEqual([report.ok, report.valid, report.complete], [false, false, false])
      assert.match(report.incomplete[0], /pattern/)
    }
  })

  it('host names that could be read in many ways', () => {
    const names = [`${'a-'.repeat(30)}a.`.repeat(4) + '&', `${'a.'.repeat(120)}&`, 'xn-38qn-89.289.208qp.bxn--9t4b11y&i5a', 'a'.repeat(63) + '&']
    const list = JSON.stringify(Array.from({ length: 2000 }, (_, i) => names[i % names.length]))
    const report = env.validateJson(list, '{"items":{"not":{"format":"idn-hostname"}}}', { format: 'assertion' })
    assert.deepEqual(pick(report), { valid: true, complete: true })
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

  // Forty schemas, each of which asks the next one several times.
  const tower = (level, last) => JSON.stringify({
    $ref: '#/$defs/d0',
    $defs: { ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, level({ $ref: `#/$defs/d${i + 1}` })])), d40: last }
  })

  it('a schema that asks the same again and again', () => {
    for (const level of [next => ({ allOf: [next, next] }), next => ({ anyOf: [{ allOf: [next, true] }, next] }), next => ({ if: next, then: next, else: next }), next => ({ oneOf: [{ allOf: [next, false] }, next] })]) {
      assert.deepEqual(pick(env.validateJson('1', tower(level, { type: 'integer' }))), { valid: true, complete: true }, tower(level))
      assert.equal(env.validateJson('"1"', tower(level, { type: 'integer' })).valid, false)
    }
  })

  it('the same where answers cannot be kept: the check ends and says so', () => {
    const level = next => ({ allOf: [next, next] })
    const report = env.validateJson('{"a":1}', tower(level, { properties: { a: true } }).replace('{', '{"unevaluatedProperties":false,'))
    assert.deepEqual(pick(report), { valid: false, complete: false })
    assert.match(report.incomplete[0], /takes too long/)
    assert.deepEqual(pick(env.validateJson('{"a":1}', tower(level, { type: 'object' }), { output: 'basic' })), { valid: true, complete: false })
  })

  it('levels of alternatives, 100,000 deep, that all fail', () => {
    for (const keyword of ['anyOf', 'oneOf']) {
      const report = env.validateJson('1', `{"${keyword}":[{"type":"string"},`.repeat(100_000) + 'false' + ']}'.repeat(100_000))
      assert.deepEqual(pick(report), { valid: false, complete: true }, keyword)
      const deep = env.validateJson('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000), `{"${keyword}":[{"type":"string"},{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}]}`)
      assert.deepEqual(pick(deep), { valid: false, complete: true }, keyword)
      const cut = env.validateJson('{"a":'.repeat(100_000) + '"x"' + '}'.repeat(100_000), `{"${keyword}":[{"type":"object","properties":{"a":{"$ref":"#"}},"required":["b"]},{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}]}`)
      assert.deepEqual([cut.ok, cut.complete, cut.findings.map(({ rule, pointer }) => [rule, pointer])], [false, false, [[`schema.${keyword}`, '']]])
    }
  })

  it('patterns that take long on many strings, or to be read', () => {
    const strings = JSON.stringify(Array.from({ length: 100_000 }, () => 'a'.repeat(90)))
    const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, 1])))
    const many = (count, pattern) => Object.fromEntries(Array.from({ length: count }, (_, i) => [pattern(i), {}]))
    const hostile = [
      [strings, { items: { not: { anyOf: Object.keys(many(100, i => `a*b${i}`)).map(pattern => ({ pattern })) } } }],
      [keys, { patternProperties: many(1000, i => `x${i}y`) }],
      [JSON.stringify('a'.repeat(5000)), { pattern: '(a+)\\1b' }],
      [JSON.stringify('a'.repeat(1_000_000)), { pattern: 'a'.repeat(100_000) + 'b' }],
      [JSON.stringify('ab'.repeat(25_000_000)), { pattern: '^(?:a.)+$' }],
      ['"a"', { pattern: 'a|'.repeat(200_000) }],
      ['"a"', { pattern: `[${Array.from({ length: 100_000 }, (_, i) => String.fromCodePoint(0x10000 + 2 * i)).join('')}]` }],
      ['{}', { patternProperties: many(20_000, i => `[\\P{L}\\p{Lu}]${i}`) }],
      [JSON.stringify(Array.from({ length: 20_000 }, (_, i) => `[\\P{L}\\p{Lu}]${i}`)), { items: { format: 'regex' } }]
    ]
    for (const [text, schema] of hostile) {
      const report = env.validateJson(text, JSON.stringify(schema), { format: 'assertion' })
      assert.equal(report.complete, false, JSON.stringify(schema).slice(0, 100))
      assert.match(report.incomplete.join(), /too long/)
    }
  })

  it('values that take long to compare', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const long = '1'.repeat(1_000_000)
    const numbers = `[${Array.from({ length: 100_000 }, (_, i) => i).join()}]`
    const again = (schema, count = 1000) => `{"allOf":[${Array.from({ length: count }, () => '{"$ref":"#/$defs/a"}').join()}],"$defs":{"a":${schema}}}`
    for (const [text, schema] of [
      [deep, `{"items":{"$ref":"#"},"not":{"const":${deep}}}`], [long, again('{"minimum":1}')], [long, again('{"multipleOf":3}')],
      [numbers, again('{"uniqueItems":true}')], [numbers, again(`{"not":{"const":${numbers.replace('99999]', '0]')}}}`)],
      [JSON.stringify('é'.repeat(1_000_000)), again('{"minLength":900000}', 10_000)]
    ]) {
      const report = env.validateJson(text, schema)
      assert.equal(report.complete, false, schema.slice(0, 100))
    }
  })

  it('schemas of very many parts', () => {
    const list = (count, of) => Array.from({ length: count }, (_, i) => of(i))
    const object = (count, of) => Object.fromEntries(list(count, of))
    const chain = (count, of) => object(count, i => [`d${i}`, i + 1 < count ? of(`#/$defs/d${i + 1}`, i) : { type: 'integer' }])
    const right = [
      { properties: object(300_000, i => [`p${i}`, true]) }, { prefixItems: list(300_000, () => true) },
      { $defs: object(100_000, i => [`d${i}`, { $id: `https://example.com/${i}`, type: 'string' }]) },
      { $id: `https://example.com/${'x'.repeat(2000)}`, $defs: object(100_000, i => [`d${i}`, { $anchor: `a${i}` }]), $ref: '#a99999' },
      { $ref: '#/$defs/d0', $defs: chain(100_000, $ref => ({ allOf: [{ $ref }] })) },
      { $ref: '#/$defs/d0', $defs: chain(100_000, $ref => ({ $ref })) },
      { anyOf: list(100_000, i => ({ const: i })) }, { discriminator: { propertyName: 'k' }, oneOf: [true, ...list(100_000, i => ({ required: ['k'], type: 'object', properties: { k: { const: `${i}` } } }))] },
      { allOf: list(50_000, i => ({ $ref: `#/$defs/d${49_999 - i}` })), $defs: chain(50_000, $ref => ({ maximum: 1, allOf: [{ $ref }] })) }
    ]
    for (const schema of right) assert.deepEqual(pick(env.validateJson('1', JSON.stringify(schema))), { valid: true, complete: true }, JSON.stringify(schema).slice(0, 100))
    const ids = '{"$id":"a/","allOf":['.repeat(20_000) + 'true' + ']}'.repeat(20_000)
    assert.match(env.validateJson('1', ids).incomplete[0], /too long/)
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
