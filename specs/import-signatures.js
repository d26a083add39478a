// Makes onnx-signatures.json from a dump of onnx's schema registry: node specs/import-signatures.js DUMP.json
//
// The dump is { onnx_version, ir_version, domain_versions, schemas: [{ domain, name, since, deprecated, function, infer,
// min_in, max_in, min_out, max_out, inputs, outputs, types, attrs }] } as onnx.defs answers them.

import { readFileSync, writeFileSync } from 'node:fs'

// Names that early exporters wrote and that onnx.checker lets pass without a schema.
const legacy = ['ATen', 'Affine', 'ConstantFill', 'Crop', 'DynamicSlice', 'GRUUnit', 'GivenTensorFill', 'ImageScaler',
  'ParametricSoftplus', 'Scale', 'ScaledTanh']
const UNBOUNDED = 2147483647
const elements = new Set(readFileSync(new URL('../core/include/opspec/element_types.def', import.meta.url), 'utf8')
  .split('\n').filter(line => line.startsWith('OPSPEC_ELEMENT(')).map(line => line.split('"')[1]))

const elementNames = type => type.match(/[a-z]+[a-z0-9]*(?=[),])|(?<=, )[a-z0-9]+/g)
// Element types that onnx.proto has not numbered yet stand in some signatures already.
const known = type => elementNames(type).every(name => elements.has(name) || name === 'tensor')

const typeSets = []
const typeSetOf = types => {
  const text = types.filter(known).sort().join(' | ')
  const at = typeSets.indexOf(text)
  return at >= 0 ? at : typeSets.push(text) - 1
}

// "X: T", "B?: T" optional, "xs*: T" variadic, "xs**: V" variadic of any mixture, "xs*0: T" variadic that may be empty
const parameterOf = ({ name, opt, type, homog, min_arity }) =>
  `${name}${['', '?', homog ? '*' : '**'][opt]}${opt === 2 && min_arity === 0 ? '0' : ''}: ${type}`

const attributeOf = ({ type, required, default: fallback }) =>
  [type + (required ? '!' : ''), ...(fallback === undefined ? [] : [fallback])]

const byteOrder = (a, b) => a < b ? -1 : a > b ? 1 : 0
const bound = n => n === UNBOUNDED ? null : n

const dump = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const operators = new Map()
for (const schema of dump.schemas) {
  const key = `${schema.domain} ${schema.name}`
  if (!operators.has(key)) operators.set(key, { domain: schema.domain, name: schema.name, versions: [] })
  const literal = [...schema.inputs, ...schema.outputs].map(({ type }) => type).filter(type => !(type in schema.types))
  const types = { ...schema.types, ...Object.fromEntries(literal.map(type => [type, [type]])) }
  operators.get(key).versions.push({
    since: schema.since,
    ...(schema.deprecated && { deprecated: true }),
    ...((schema.function || schema.cd_function) && { function: true }),
    arity: [schema.min_in, bound(schema.max_in), schema.min_out, bound(schema.max_out)],
    inputs: schema.inputs.map(parameterOf),
    outputs: schema.outputs.map(parameterOf),
    types: Object.fromEntries(Object.keys(types).sort(byteOrder).map(label => [label, typeSetOf(types[label])])),
    attributes: Object.fromEntries(Object.keys(schema.attrs).sort(byteOrder).map(name => [name, attributeOf(schema.attrs[name])]))
  })
}

const sorted = [...operators.values()].sort((a, b) => byteOrder(a.domain, b.domain) || byteOrder(a.name, b.name))
for (const operator of sorted) operator.versions.sort((a, b) => a.since - b.since)

const lines = list => list.map(item => JSON.stringify(item)).join(',\n')
const versions = Object.fromEntries(Object.entries(dump.domain_versions).map(([domain, [, newest]]) => [domain, newest]))
writeFileSync(new URL('onnx-signatures.json', import.meta.url), `{
"onnx": ${JSON.stringify(dump.onnx_version)},
"ir_version": ${dump.ir_version},
"domains": ${JSON.stringify(versions)},
"legacy": ${JSON.stringify(legacy)},
"typeSets": [
${lines(typeSets)}
],
"operators": [
${sorted.map(({ versions, ...operator }) => `{${JSON.stringify(operator).slice(1, -1)},"versions":[\n${lines(versions)}]}`).join(',\n')}
]
}
`)
