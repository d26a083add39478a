// JSON Schema through the package: what findings say, exact numbers, formats, other schemas, outputs, faults of the schema.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { applyFixes, createEnv, createWorkerEnv, OpspecError } from '../../wasm/js/index.js'

describe('JSON Schema', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const validate = (schema, instance, options) => env.validateJson(instance, typeof schema === 'string' ? schema : JSON.stringify(schema), options)
  const rules = report => report.findings.map(({ rule }) => rule)

  it('is compiled once and validates many', () => {
    const schema = env.compileSchema('{"type":"array","items":{"type":"integer"}}')
    assert.equal(schema.validate('[1, 2.0, 3e2]').valid, true)
    const report = schema.validate('[1, "2"]')
    assert.deepEqual([report.valid, report.ok, report.kind], [false, false, 'json'])
    assert.deepEqual(rules(report), ['schema.type'])
    assert.deepEqual([report.findings[0].pointer, report.findings[0].range.start.column], ['/1', 5])
    assert.equal(schema.validate(new TextEncoder().encode('[]')).valid, true)
    schema.dispose()
    schema.dispose()
    assert.throws(() => schema.validate('[]'), { code: 'invalid_argument' })
  })

  it('refuses what is no text', () => {
    assert.throws(() => env.validateJson({}, '{}'), { code: 'invalid_argument' })
    assert.throws(() => env.compileSchema({}), { code: 'invalid_argument' })
    assert.throws(() => env.compileSchema('{}', { format: 'yes' }), { code: 'invalid_argument' })
    assert.throws(() => env.validateJson('1', '{}', { output: 'list' }), { code: 'invalid_argument' })
  })

  it('tells what is wrong with a text that is no JSON', () => {
    const report = validate({}, '{"a": tru}')
    assert.deepEqual([report.valid, rules(report)], [false, ['json.syntax']])
  })

  it('compares numbers exactly', () => {
    const valid = [
      ['{"maximum":9007199254740993}', '9007199254740993'], ['{"maximum":1e400}', '1e399'], ['{"minimum":-1e400}', '-1e400'],
      ['{"multipleOf":0.01}', '0.1'], ['{"multipleOf":0.01}', '4.35'], ['{"multipleOf":1e-400}', '1e400'], ['{"type":"integer"}', '1.0'],
      ['{"type":"integer"}', '1e400'], ['{"const":0}', '-0'], ['{"enum":[1]}', '1.00'], ['{"minimum":0}', '-0.0'], ['{"uniqueItems":true}', '[9007199254740992, 9007199254740993]']
    ]
    for (const [schema, text] of valid) assert.equal(validate(schema, text).valid, true, `${schema} ${text}`)
    const invalid = [
      ['{"maximum":9007199254740992}', '9007199254740993'], ['{"exclusiveMaximum":1e400}', '1e400'], ['{"multipleOf":0.01}', '0.105'],
      ['{"type":"integer"}', '1.5e0'], ['{"const":9007199254740992}', '9007199254740993'], ['{"uniqueItems":true}', '[1, 1.0]'], ['{"uniqueItems":true}', '[0, -0]'],
      ['{"enum":[1e400]}', '1e401']
    ]
    for (const [schema, text] of invalid) assert.equal(validate(schema, text).valid, false, `${schema} ${text}`)
  })

  it('proposes the nearest name that is allowed', () => {
    const report = validate({ properties: { cardinality: true, name: true }, additionalProperties: false }, '{"cardinallity": 1}')
    assert.match(report.findings[0].message, /did you mean "cardinality"/)
    assert.equal(applyFixes('{"cardinallity": 1}', report.findings).content, '{"cardinality": 1}')
    const other = validate({ allOf: [{ properties: { b: true } }], properties: { name: true }, unevaluatedProperties: false }, '{"nmae": 1, "b": 2}')
    assert.deepEqual(rules(other), ['schema.unevaluatedProperties'])
    assert.match(other.findings[0].message, /did you mean "name"/)
  })

  it('shows the values of enum and const', () => {
    const report = validate({ properties: { a: { enum: ['single', 'optional'] }, b: { const: 3 } } }, '{"a": "Single", "b": 4}')
    assert.deepEqual(report.findings.map(({ expected, actual }) => [expected, actual]), [['"single" or "optional"', '"Single"'], ['3', '4']])
  })

  it('speaks of the closest alternative and folds the others under it', () => {
    const schema = {
      oneOf: [
        { type: 'object', required: ['a', 'b', 'c'], properties: { a: { type: 'string' } } },
        { type: 'object', required: ['x'], properties: { x: { type: 'integer' } } }
      ]
    }
    const report = validate(schema, '{"x": "1"}')
    assert.deepEqual(report.findings.map(({ rule, pointer }) => [rule, pointer]), [['schema.type', '/x']])
    assert.equal(report.findings[0].related.length, 1)
    assert.match(report.findings[0].related[0].message, /^Alternative 1 of 2: The member "a" is missing/)
  })

  it('lets a discriminator choose', () => {
    const branch = (kind, more) => ({ properties: { kind: { const: kind }, ...more }, required: ['kind', ...Object.keys(more)] })
    const schema = {
      discriminator: { propertyName: 'kind' },
      oneOf: [branch('cat', { claws: { type: 'integer' }, tail: true, fur: true }), branch('dog', { bark: true })]
    }
    const report = validate(schema, '{"kind": "cat", "claws": "ten"}')
    assert.deepEqual(report.findings.map(({ rule, pointer, expected }) => [rule, pointer, expected]),
      [['schema.required', '', '"tail"'], ['schema.required', '', '"fur"'], ['schema.type', '/claws', 'integer']])
  })

  it('keeps evaluated members apart from the others', () => {
    const schema = {
      properties: { a: { type: 'integer' } },
      anyOf: [{ properties: { b: true }, required: ['b'] }, { properties: { c: true }, required: ['c'] }],
      unevaluatedProperties: false
    }
    assert.equal(validate(schema, '{"a": 1, "b": 2, "c": 3}').valid, true)
    assert.deepEqual(validate(schema, '{"a": "1", "b": 2, "d": 3}').findings.map(({ pointer }) => pointer), ['/a', '/d'])
    const items = { prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: { type: 'null' } }
    assert.equal(validate(items, '[1, "a", null]').valid, true)
    assert.deepEqual(validate(items, '[1, "a", 2]').findings.map(({ pointer }) => pointer), ['/2'])
  })

  it('asserts formats when asked to', () => {
    const schema = { format: 'date' }
    assert.equal(validate(schema, '"2026-02-30"').valid, true)
    const report = validate(schema, '"2026-02-30"', { format: 'assertion' })
    assert.deepEqual(rules(report), ['schema.format'])
    assert.match(report.findings[0].message, /date, such as "2026-11-30"/)
    assert.equal(validate({ format: 'date-time' }, '"1990-12-31T15:59:60-08:00"', { format: 'assertion' }).valid, true)
    assert.equal(validate({ format: 'date-time' }, '"1990-12-31T15:59:60-07:00"', { format: 'assertion' }).valid, false)
  })

  it('finds other schemas by URI, and only those that were given', () => {
    const schemas = { 'https://example.com/b.json': '{"$defs":{"n":{"type":"integer"}}}', 'c.json': '{"$ref":"https://example.com/b.json#/$defs/n"}' }
    assert.equal(validate({ $ref: 'c.json' }, '1', { schemas }).valid, true)
    assert.equal(validate({ $ref: 'c.json' }, '"1"', { schemas }).valid, false)
    const report = validate({ $ref: 'https://example.com/b.json' }, '1')
    assert.deepEqual(report.findings.map(({ rule, file }) => [rule, file]), [['schema.ref', 'schema']])
    const broken = validate({ $ref: 'd.json' }, '1', { schemas: { 'd.json': '{"type":"text"}' } })
    assert.deepEqual(broken.findings.map(({ rule, file }) => [rule, file]), [['schema.invalid', 'd.json']])
  })

  it('asks the meta-schema', () => {
    for (const schema of ['{"type":"text"}', '{"minItems":-1}', '{"properties":{"a":{"required":"a"}}}', '{"$defs":{"a":{"allOf":[]}}}', '3', '{"$anchor":"1"}']) {
      const report = validate(schema, '1')
      assert.equal(report.valid, false, schema)
      assert.ok(report.findings.length >= 1 && report.findings.every(({ file }) => file === 'schema'), schema)
      assert.throws(() => env.compileSchema(schema), error => error instanceof OpspecError && error.code === 'malformed' && error.findings.length > 0)
    }
    const own = { $id: 'https://example.com/meta', $dynamicAnchor: 'meta', $ref: 'https://json-schema.org/draft/2020-12/schema', required: ['title'] }
    const schemas = { 'https://example.com/meta': JSON.stringify(own) }
    const schema = { $schema: 'https://example.com/meta', title: 'x', properties: { a: { title: 'y' } } }
    assert.equal(validate(schema, '1', { schemas }).valid, true)
    assert.deepEqual(rules(validate({ ...schema, properties: { a: {} } }, '1', { schemas })), ['schema.required'])
    const unknown = { $vocabulary: { 'https://example.com/units': true } }
    assert.deepEqual(rules(validate({ $schema: 'm.json' }, '1', { schemas: { 'm.json': JSON.stringify(unknown) } })), ['schema.vocabulary'])
  })

  it('says once what each part of the meta-schema asks for', () => {
    const report = validate({ items: [true], not: 1 }, '1')
    assert.deepEqual(report.findings.map(({ rule, pointer }) => [rule, pointer]), [['schema.type', '/items'], ['schema.type', '/not']])
  })

  it('warns of the text of a schema, and goes on', () => {
    const text = '\ufeff{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","type":"number"}'
    const report = validate(text, '1')
    assert.deepEqual(report.findings.map(({ rule, severity, file }) => [rule, severity, file]), ['json.bom', 'schema.dialect', 'json.duplicate-key'].map(rule => [rule, 'warning', 'schema']))
    assert.deepEqual([report.valid, report.ok, report.counts.warning], [true, true, 3])
    const schema = env.compileSchema(text)
    assert.deepEqual([rules(schema), rules(schema.validate('1'))], [rules(report), []])
    schema.dispose()
    assert.deepEqual(env.compileSchema('{}').findings, [])
  })

  it('takes relative pointers that move along a list', () => {
    const of = text => validate({ format: 'relative-json-pointer' }, JSON.stringify(text), { format: 'assertion' }).valid
    assert.deepEqual(['0+1', '1-2/a', '2+0#', '0', '+1', '0+', '0+01', '0++1', '0+1x'].map(of), [true, true, true, true, false, false, false, false, false])
  })

  it('finds what is out of order in sets of x-runlocal-set', () => {
    const schema = { 'x-runlocal-set': true }
    assert.equal(validate(schema, '["a", "b", 1]').valid, true)
    for (const text of ['["b", 10, "a"]', '["a", "b", "b"]', '[9, 10]']) assert.deepEqual(rules(validate(schema, text)), ['schema.set'], text)
  })

  it('writes the outputs of the standard', () => {
    const schema = { $id: 'https://example.com/s', title: 'T', properties: { a: { $ref: '#/$defs/n' }, b: true }, $defs: { n: { type: 'integer', title: 'N' } } }
    const output = (text, form) => validate(schema, text, { output: form }).output
    assert.deepEqual(output('{"a":1}', 'flag'), { valid: true })
    const unit = (keywordLocation, absolute, instanceLocation, more) =>
      ({ valid: !('error' in more), keywordLocation, absoluteKeywordLocation: `https://example.com/s${absolute}`, instanceLocation, ...more })
    assert.deepEqual(output('{"a":1}', 'basic'), {
      valid: true,
      annotations: [
        unit('/properties', '#/properties', '', { annotation: ['a'] }),
        unit('/properties/a/$ref/title', '#/$defs/n/title', '/a', { annotation: 'N' }),
        unit('/title', '#/title', '', { annotation: 'T' })
      ]
    })
    const basic = output('{"a":"1"}', 'basic')
    assert.deepEqual([basic.valid, basic.errors.length, basic.annotations], [false, 6, undefined])
    assert.deepEqual(output('{"a":"1"}', 'detailed'), unit('/properties/a/$ref/type', '#/$defs/n/type', '/a', { error: 'Expected integer here, found string "1".' }))
    const verbose = output('{"a":1}', 'verbose')
    assert.deepEqual(verbose.annotations.map(({ keywordLocation }) => keywordLocation), ['/properties', '/title'])
    const failed = env.validateJson('[1, 2, 3]', '{"prefixItems":[true,{"title":"two"}],"items":{"type":"string"},"contains":true,"title":"all"}', { output: 'verbose' }).output
    assert.equal(failed.valid, false)
    assert.deepEqual(failed.errors.map(({ keywordLocation, valid }) => [keywordLocation, valid]), [['/prefixItems', true], ['/items', false], ['/contains', true]])
    assert.ok(!JSON.stringify(failed).includes('"annotation":'), JSON.stringify(failed))
    assert.equal(verbose.annotations[0].annotations[0].annotations[0].annotations[0].annotations.length, 2)
  })

  it('serves the worker client', async () => {
    const worker = await createWorkerEnv()
    try {
      const schema = await worker.compileSchema('{"type":"null"}')
      assert.equal((await schema.validate('null')).valid, true)
      assert.equal((await worker.validateJson('1', '{"type":"null"}')).valid, false)
      await schema.dispose()
    } finally {
      await worker.dispose()
    }
  })

  it('leaves no memory behind', () => {
    const once = () => {
      env.validateJson('{"a": [1, 1]}', '{"properties":{"a":{"uniqueItems":true}}}', { output: 'verbose' })
      env.validateJson('1', '{"$ref":"x"}', { schemas: { x: '{"type":"string"}' } })
      env.validateJson('1', '{"type":3}')
    }
    for (let i = 0; i < 5; i++) once()
    const used = () => env.constructor.memoryUsed(env).used
    const before = used()
    for (let i = 0; i < 20; i++) once()
    assert.equal(used(), before)
  })
})
