// A verdict on a document from its text, against ajv and JSON.parse alone: npm run bench -- spec
import Ajv2020 from 'ajv/dist/2020.js'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createEnv } from '../../wasm/js/index.js'
import { interleave, machine, ms, startTimes, table } from './timing.js'

const schema = JSON.parse(await readFile(new URL('../../specs/operator-extension.schema.json', import.meta.url), 'utf8'))

function document (attributes) {
  const description = 'A number that scales the result; it is multiplied with each element, one after the other, in the order of their names.'
  return JSON.stringify({
    kind: 'runlocal.operator-extension',
    protocol_version: '1.0',
    name: 'scale',
    version: '1.0.0',
    authority: 'specification',
    operator: { domain: 'com.example', op_type: 'Scale', overload: '' },
    inputs: [{ name: 'X', cardinality: 'single', type_parameter: 'T', description: 'Values.' }],
    outputs: [{ name: 'Y', cardinality: 'single', type_parameter: 'T', description: 'Scaled values.' }],
    type_parameters: { T: { allowed_types: ['tensor(float)'], description: 'Element type.' } },
    attributes: Object.fromEntries(Array.from({ length: attributes }, (_, i) => [`factor_${i}`, {
      kind: 'float', required: false, default: i / 8, allowed_values: null, description
    }])),
    input_conditions: [],
    shape_rules: ['`Y` has the shape of `X`.'],
    boundary_behavior: 'NaN stays NaN.',
    numerical_behavior: 'One multiplication a factor, rounded to the element type.',
    nondeterminism: 'None.',
    state_effects: 'None.',
    reference: null,
    tests: ['one.json']
  }, null, 2)
}

machine()
const env = await createEnv()
const ajv = new Ajv2020({ strict: false, allErrors: true })
const validate = ajv.compile(schema)
const rows = []
for (const [attributes, wrong] of [[11, false], [11, true], [20_000, false], [40_000, false]]) {
  const right = document(attributes)
  const text = wrong ? right.replace('"float"', '"flot"') : right
  const bytes = new TextEncoder().encode(text)
  const errors = env.validateSpec(text).counts.error
  if (errors > 0 !== wrong || validate(JSON.parse(text)) === wrong) throw new Error('the document of the benchmark is not what it should be')
  const t = await interleave({
    text: () => env.validateSpec(text),
    bytes: () => env.validateSpec(bytes),
    ajv: () => validate(JSON.parse(text)),
    parse: () => JSON.parse(text)
  }, { rounds: 9, slice: 60 })
  rows.push([`${attributes} attributes, ${(text.length / 1e3).toFixed(0)} kB${wrong ? ', one error' : ''}`, ms(t.text), ms(t.bytes), ms(t.ajv), ms(t.parse),
    `${(t.ajv / t.text).toFixed(2)}x`, `${(t.text / t.parse).toFixed(2)}x`])
}
table(['text to verdict', 'opspec (string)', 'opspec (bytes)', 'ajv', 'JSON.parse alone', 'ajv / opspec', 'opspec / JSON.parse'], rows)

// What twice the size takes, one after the other all along: a machine's speed changes more from minute to minute.
const [once, twice] = [20_000, 40_000].map(document)
const parse = text => JSON.parse(text)
const growth = await interleave(Object.fromEntries([['opspec', text => env.validateSpec(text)], ['ajv', text => validate(parse(text))], ['JSON.parse alone', parse]]
  .flatMap(([name, run]) => [[`${name} 1`, () => run(once)], [`${name} 2`, () => run(twice)]])), { rounds: 15, slice: 60 })
table(['twice the size', 'times the time'], ['opspec', 'ajv', 'JSON.parse alone'].map(name => [name, (growth[`${name} 2`] / growth[`${name} 1`]).toFixed(2)]))
env.dispose()

// The first verdict of a new process, on the small document.
const entry = name => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)))
const text = JSON.stringify(document(11))
const cold = startTimes({
  opspec: `import { createEnv } from ${entry('../../wasm/js/index.js')}
    const env = await createEnv(); if (!env.validateSpec(${text}).ok) throw new Error(); process.exit(0)`,
  ajv: `import Ajv2020 from ${JSON.stringify(import.meta.resolve('ajv/dist/2020.js'))}; import { readFileSync } from 'node:fs'
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(JSON.parse(readFileSync(${entry('../../specs/operator-extension.schema.json')}, 'utf8')))
    if (!validate(JSON.parse(${text}))) throw new Error(); process.exit(0)`
})
table(['cold start, first verdict', 'median'], [
  ['node alone', ms(cold.empty)], ['opspec', ms(cold.opspec)], ['ajv', ms(cold.ajv)], ['ajv / opspec', `${(cold.ajv / cold.opspec).toFixed(1)}x`]
])
