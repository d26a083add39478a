// Every operator of the standard, in every version, as a specification: it agrees with the standard, and each change of its
// signature is said.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'

const RULE = 'spec.operator.standard-mismatch'
const copy = value => JSON.parse(JSON.stringify(value))

// A default as documents write it: operators() tells of int64 beyond 2^53 as text.
function specOf({ domain, name, sinceVersion, inputs, outputs, attributes }) {
  const types = {}
  const names = new Map()
  const parameter = ({ name: label, option, typeParameter, types: allowed }) => {
    if (!names.has(typeParameter)) names.set(typeParameter, /^\w+$/.test(typeParameter) ? typeParameter : `Fixed${names.size}`)
    types[names.get(typeParameter)] = { allowed_types: [...allowed], description: 'Types.' }
    return { name: label, cardinality: option, type_parameter: names.get(typeParameter), description: 'A value.' }
  }
  return {
    kind: 'runlocal.operator-extension', protocol_version: '1.0', name: name.toLowerCase().replace(/\W+/g, '-'), version: String(sinceVersion), authority: 'specification',
    operator: { domain, op_type: name, overload: '' }, inputs: inputs.map(parameter), outputs: outputs.map(parameter), type_parameters: types,
    attributes: Object.fromEntries(Object.entries(attributes).map(([key, { kind, required, default: fallback = null }]) => [key, { kind, required, default: fallback, allowed_values: null, description: 'A setting.' }])),
    input_conditions: [], shape_rules: ['As the standard says.'], boundary_behavior: 'As the standard says.', numerical_behavior: 'As the standard says.', nondeterminism: 'As the standard says.', state_effects: 'None.', reference: null, tests: ['a.json']
  }
}

const scalars = { int: [7, '7'], float: [0.375, 1], string: ['other', 'o'], ints: [[7, 7], 7], floats: [[0.375], 1], strings: [['other'], 'o'] }

// Changes of a specification that make another operator of it; each answers false where it has nothing to change.
const changes = {
  'another name of an input': ({ inputs }) => inputs.length > 0 && (inputs[0].name += '_'),
  'another name of an output': ({ outputs }) => outputs.length > 0 && (outputs[outputs.length - 1].name += '_'),
  'one input more': ({ inputs }) => inputs.every(({ cardinality }) => cardinality !== 'variadic') && inputs.push({ name: 'more', cardinality: 'optional', type_parameter: null, description: 'More.' }),
  'one input less': ({ inputs }) => inputs.pop() !== undefined,
  'one output less': ({ outputs }) => outputs.length > 1 && outputs.pop(),
  'inputs in another order': ({ inputs }) => inputs.length > 1 && inputs.reverse(),
  'another cardinality': ({ inputs }) => inputs.length > 0 && (inputs.at(-1).cardinality = inputs.at(-1).cardinality === 'single' ? 'optional' : 'single'),
  'a type less': ({ type_parameters: types }) => Object.values(types).some(({ allowed_types: list }) => list.length > 1 && list.pop()),
  'a type more': ({ type_parameters: types }) => Object.values(types).some(({ allowed_types: list }) => !list.includes('opaque(a,b)') && list.push('opaque(a,b)')),
  'one attribute more': ({ attributes }) => { attributes.no_such_attribute = { kind: 'int', required: false, default: 1, allowed_values: null, description: 'More.' } },
  'one attribute less': ({ attributes }) => Object.keys(attributes).length > 0 && delete attributes[Object.keys(attributes)[0]],
  'another kind': ({ attributes }) => Object.values(attributes).slice(0, 1).some(attribute => { Object.assign(attribute, { kind: attribute.kind === 'int' ? 'float' : 'int', default: null }); return true }),
  'required or not': ({ attributes }) => Object.values(attributes).slice(0, 1).some(attribute => { Object.assign(attribute, { required: !attribute.required, default: null }); return true }),
  'another default': ({ attributes }) => Object.values(attributes).some(attribute => attribute.default !== null && scalars[attribute.kind] !== undefined && (attribute.default = scalars[attribute.kind][0])),
  'a default where there is none': ({ attributes }) => Object.values(attributes).some(attribute => attribute.default === null && !attribute.required && scalars[attribute.kind] !== undefined && (attribute.default = scalars[attribute.kind][0])),
  'no default where there is one': ({ attributes }) => Object.values(attributes).some(attribute => { if (attribute.default === null) return false; attribute.default = null; return true })
}

describe('operators of the standard as specifications', () => {
  let env, all
  before(async () => {
    env = await createEnv()
    all = env.operators().filter(({ source, overload }) => source === 'onnx' && !overload)
  })
  after(() => env.dispose())

  const errorsOf = document => env.validateSpec(JSON.stringify(document)).findings.filter(({ severity }) => severity === 'error')

  it('agree with the standard', () => {
    assert.ok(all.length > 500)
    for (const operator of all) {
      const errors = errorsOf(specOf(operator))
      assert.deepEqual(errors.map(({ rule, pointer, message }) => ({ rule, pointer, message })), [], `${operator.domain} ${operator.name} ${operator.sinceVersion}`)
    }
  })

  for (const [what, change] of Object.entries(changes)) {
    it(`${what} is said`, () => {
      let tried = 0
      for (const operator of all) {
        const document = copy(specOf(operator))
        if (change(document) === false) continue
        tried++
        const errors = errorsOf(document)
        assert.ok(errors.some(({ rule }) => rule === RULE), `${operator.domain} ${operator.name} ${operator.sinceVersion}: ${JSON.stringify(errors.map(({ rule, message }) => [rule, message]))}`)
      }
      assert.ok(tried > 20, `${tried}`)
    })
  }

  it('names that the standard does not have are refused in its domains', () => {
    for (const domain of new Set(all.map(operator => operator.domain))) {
      const document = { ...specOf(all[0]), operator: { domain, op_type: 'NoSuchOperator', overload: '' } }
      assert.deepEqual(errorsOf(document).map(({ rule }) => rule), ['spec.operator.domain-reserved'], domain)
    }
  })
})
