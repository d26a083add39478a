// The cases of rules of JSON Schema: a schema, a document, and what validateJson gets beside them.
const given = (schema, document, options = {}) => ({ schema: typeof schema === 'string' ? schema : JSON.stringify(schema), text: typeof document === 'string' ? document : JSON.stringify(document), options })
// Documents that do not pass a schema, and some that do.
const of = (schema, fires, silent, more = {}) => ({ fires: fires.map(text => given(schema, text)), silent: silent.map(text => given(schema, text)), ...more })

const asserted = { format: 'assertion' }
const dialect = required => ({ schemas: { 'https://example.com/dialect': JSON.stringify({ $vocabulary: { 'https://json-schema.org/draft/2020-12/vocab/core': true, 'https://example.com/units': required } }) } })
const parts = { allOf: [{ properties: { b: true } }], properties: { name: true }, unevaluatedProperties: false }
const forms = [{ type: 'object', properties: { kind: { const: 'cat' } }, required: ['kind'] }, { type: 'object', properties: { kind: { const: 'dog' } }, required: ['kind'] }]

/** As in cases.js. */
export const schemaCases = {
  'schema.type': of({ type: ['integer', 'null'] }, ['"1"', '1.5', '{}'], ['1', '1.0', '1e3', 'null']),
  'schema.enum': of({ enum: ['single', 1, null, [1]] }, ['"many"', '2', 'false', '[2]'], ['"single"', '1.0', 'null', '[1.0]']),
  'schema.enum (misspelt)': of({ enum: ['single', 'optional'] }, ['"Single"', '"optinal"'], ['"single"'], { fixed: true }),
  'schema.enum (long)': of({ enum: Array.from({ length: 20 }, (_, i) => `${'abcdefghijklmnopqrst'[i].repeat(9)}`) }, ['"ttttttttx"'], ['"ttttttttt"'], { fixed: true }),
  'schema.const': of('{"const": {"a": 9007199254740993}}', ['{"a": 9007199254740992}', '{}', '[]'], ['{"a": 9007199254740993}'], { fixed: true }),
  'schema.required': of({ required: ['a', 'b'] }, ['{}', '{"a": 1}'], ['{"a": 1, "b": 2}', '[]']),
  'schema.additionalProperties': of({ properties: { name: true }, additionalProperties: false }, ['{"x": 1}', '{"name": 1, "": 2}'], ['{"name": 1}', '{}']),
  'schema.additionalProperties (misspelt)': of({ properties: { name: true }, additionalProperties: false }, ['{"nmae": 1}', '{"names": 1}'], ['{"name": 1}'], { fixed: true }),
  'schema.pattern': of({ pattern: '^\\p{L}+$' }, ['"1"', '""', '"a b"'], ['"äß"', '1']),
  'schema.minLength': of({ minLength: 2 }, ['""', '"😀"'], ['"ab"', '"😀😀"', '1']),
  'schema.maxLength': of({ maxLength: 2 }, ['"abc"', '"😀😀😀"'], ['"ab"', '"😀😀"', '[1, 2, 3]']),
  'schema.minItems': of({ minItems: 1 }, ['[]'], ['[1]', '{}']),
  'schema.maxItems': of({ maxItems: 1 }, ['[1, 2]'], ['[1]', '"ab"']),
  'schema.uniqueItems': of({ uniqueItems: true }, ['[1, 1.0]', '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', '["a", "\\u0061"]'], ['[1, true, "1"]', '[0, false]', '[9007199254740992, 9007199254740993]'], { fixed: true }),
  'schema.minimum': of({ minimum: 0 }, ['-1', '-1e-400'], ['0', '-0', '1e400']),
  'schema.maximum': of('{"maximum": 9007199254740992}', ['9007199254740993', '1e400'], ['9007199254740992', '-1e400']),
  'schema.exclusiveMinimum': of({ exclusiveMinimum: 0 }, ['0', '-1'], ['1e-400']),
  'schema.exclusiveMaximum': of({ exclusiveMaximum: 1 }, ['1', '1.0'], ['0.99999999999999999999']),
  'schema.multipleOf': of('{"multipleOf": 0.01}', ['4.355', '1e-3'], ['4.35', '0', '1e400']),
  'schema.minProperties': of({ minProperties: 1 }, ['{}'], ['{"a": 1}', '[]']),
  'schema.maxProperties': of({ maxProperties: 1 }, ['{"a": 1, "b": 2}'], ['{"a": 1}']),
  'schema.propertyNames': of({ propertyNames: { pattern: '^[a-z]' } }, ['{"2D": 1}', '{"a": 1, "": 2}'], ['{"a2": 1}']),
  'schema.dependentRequired': of({ dependentRequired: { offset: ['length'] } }, ['{"offset": 0}'], ['{"offset": 0, "length": 8}', '{}']),
  'schema.contains': of({ contains: { type: 'string' }, minContains: 1, maxContains: 2 }, ['[]', '[1]', '["a", "b", "c"]'], ['[1, "a"]', '{}']),
  'schema.anyOf': of({ anyOf: [{ type: 'string' }, { type: 'null' }] }, ['1', '[]'], ['"a"', 'null']),
  'schema.oneOf': {
    fires: [given({ oneOf: [{ minimum: 0 }, { maximum: 9 }] }, '5'), given({ oneOf: forms }, '{"kind": "cow"}'), given({ oneOf: forms }, '{}')],
    silent: [given({ oneOf: [{ minimum: 0 }, { maximum: 9 }] }, '10'), given({ oneOf: forms }, '{"kind": "dog"}')]
  },
  'schema.oneOf (misspelt)': of({ oneOf: forms }, ['{"kind": "dgo"}', '{"kind": "CAT"}', '{"knid": "cat"}', '{"Kind": "dog"}'], ['{"kind": "cat"}'], { fixed: true }),
  'schema.oneOf (far off)': of({ oneOf: forms }, ['{"kind": "cow"}', '{"kind": 1}', '{"name": "cat"}', '[]'].slice(0, 3), ['{"kind": "cat"}'], { fixed: false }),
  'schema.not': of({ not: { type: 'string' } }, ['"1"'], ['1']),
  'schema.false': of({ properties: { a: false } }, ['{"a": 1}'], ['{}', '{"b": 1}']),
  'schema.depth': {
    fires: [given({ $ref: '#' }, '1'), given({ allOf: [{ $ref: '#' }] }, '1'), given({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, '1')],
    silent: [given({ items: { $ref: '#' } }, '[[[]]]'), given({ anyOf: [{ type: 'string' }, { items: { $ref: '#' } }] }, '[["a"]]')]
  },
  'schema.invalid': {
    fires: [given('[]', '1'), given({ $ref: '#/x', x: 3 }, '1'), given(`{"multipleOf": 1.${'1'.repeat(700)}}`, '1')],
    silent: [given('true', '1'), given({ $ref: '#/x', x: {} }, '1'), given(`{"multipleOf": 1.${'1'.repeat(500)}}`, '0')]
  },
  'schema.ref': {
    fires: [given({ $ref: '#/$defs/Nmae', $defs: { Name: true } }, '1'), given({ $ref: '#name' }, '1'), given({ $ref: 'https://example.com/other' }, '1')],
    silent: [given({ $ref: '#/$defs/a~1b', $defs: { 'a/b': true } }, '1'), given({ $ref: '#name', $defs: { a: { $anchor: 'name' } } }, '1'), given({ $ref: 'https://example.com/other' }, '1', { schemas: { 'https://example.com/other': '{}' } })]
  },
  'schema.pattern-syntax': {
    fires: [given({ pattern: '^[a-z+$' }, '1'), given({ patternProperties: { '(': true } }, '1'), given({ pattern: '\\a' }, '1')],
    silent: [given({ pattern: '^[a-z]+$' }, '1'), given({ pattern: '(?<=a)\\p{Lu}' }, '1')]
  },
  'schema.format': {
    fires: [given({ format: 'date' }, '"2026-02-30"', asserted), given({ format: 'uuid' }, '"1"', asserted), given({ format: 'regex' }, '"("', asserted)],
    silent: [given({ format: 'date' }, '"2026-02-30"'), given({ format: 'date' }, '"2028-02-29"', asserted), given({ format: 'date' }, '1', asserted), given({ format: 'colour' }, '"?"', asserted)]
  },
  'schema.set': of({ 'x-runlocal-set': true }, ['["b", "a"]', '[1, 1]', '[2, 16]'], ['["a", "b"]', '[16, 2]', '[]', '{}']),
  'schema.unevaluatedProperties': of(parts, ['{"x": 1}', '{"name": 1, "b": 2, "c": 3}'], ['{"name": 1, "b": 2}']),
  'schema.unevaluatedProperties (misspelt)': of(parts, ['{"nmae": 1}'], ['{"name": 1}'], { fixed: true }),
  'schema.unevaluatedItems': of({ prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false }, ['[1, "a", 2]'], ['[1, "a"]', '["a"]']),
  'schema.vocabulary': {
    fires: [given({ $schema: 'https://example.com/dialect' }, '1', dialect(true))],
    silent: [given({ $schema: 'https://example.com/dialect' }, '1', dialect(false)), given({ $schema: 'https://json-schema.org/draft/2020-12/schema' }, '1')]
  },
  'schema.dialect': {
    fires: [given({ $schema: 'http://json-schema.org/draft-07/schema#' }, '1'), given({ $schema: 'https://example.com/dialect' }, '1'), given({ $defs: { a: { $id: 'a', $schema: 'https://json-schema.org/draft/2019-09/schema' } } }, '1')],
    silent: [given({ $schema: 'https://json-schema.org/draft/2020-12/schema#' }, '1'), given({ $schema: 'https://example.com/dialect' }, '1', dialect(false)), given({ properties: { $schema: { const: 'a' } } }, '1')]
  },
  'schema.id': {
    fires: [given({ $defs: { a: { $id: 'a', type: 'null' }, b: { $id: 'a' } } }, '1'), given({ $id: 'https://example.com/a', $defs: { a: { $id: 'a' } } }, '1'), given({ $defs: { a: { $anchor: 'a', type: 'null' }, b: { $dynamicAnchor: 'a' } } }, '1')],
    silent: [given({ $defs: { a: { $id: 'a' }, b: { $id: 'b' }, c: { enum: [{ $id: 'a', type: 'null' }] } } }, '1'), given({ $defs: { a: { $id: 'a', type: 'null' }, b: { type: 'null', $id: 'a' } } }, '1'), given({ $anchor: 'a', $dynamicAnchor: 'a' }, '1')]
  }
}
