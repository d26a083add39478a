// One fault is told once: rules that build on what another rule found broken are silent.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { spec } from './cases.js'

const faults = {
  'inputs that are no list': [object => { object.inputs = 'x' }, 'schema.type /inputs'],
  'inputs that are missing': [object => { delete object.inputs }, 'schema.required '],
  'an input that is no object': [object => { object.inputs[0] = 5 }, 'schema.type /inputs/0'],
  'an input without a name': [object => { delete object.inputs[0].name }, 'schema.required /inputs/0'],
  'an input without a type parameter': [object => { delete object.inputs[0].type_parameter }, 'schema.required /inputs/0'],
  'an input with an empty type parameter': [object => { object.inputs[0].type_parameter = '' }, 'schema.pattern /inputs/0/type_parameter'],
  'an input whose type parameter is no label': [object => { object.inputs[0].type_parameter = '1T' }, 'schema.pattern /inputs/0/type_parameter'],
  'outputs that are no list': [object => { object.outputs = null }, 'schema.type /outputs'],
  'outputs that are missing': [object => { delete object.outputs }, 'schema.required '],
  'type parameters that are no object': [object => { object.type_parameters = [] }, 'schema.type /type_parameters'],
  'type parameters that are missing': [object => { delete object.type_parameters }, 'schema.required '],
  'attributes that are no object': [object => { object.attributes = 7 }, 'schema.type /attributes'],
  'attributes that are missing': [object => { delete object.attributes }, 'schema.required ']
}

describe('one fault, one finding', () => {
  let env, clean
  before(async () => {
    env = await createEnv()
    clean = JSON.parse(spec)
    clean.shape_rules = ['`Y` has the shape of `X`; `alpha` has no say, and `T` neither.']
  })
  after(() => env.dispose())

  for (const [what, [damage, finding]] of Object.entries(faults)) {
    it(what, () => {
      const object = structuredClone(clean)
      assert.deepEqual(env.validateSpec(JSON.stringify(object)).findings, [])
      damage(object)
      assert.deepEqual(env.validateSpec(JSON.stringify(object)).findings.map(({ rule, pointer }) => `${rule} ${pointer}`), [finding])
    })
  }
})
