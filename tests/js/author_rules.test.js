// The rules of MLOperatorAuthor's registry through the package: a plug-in in its roles, and what stands in for each rule where
// the operator is a document with a JavaScript kernel. Through C: tests/c/author_test.c.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const inEnv = async act => {
  const env = await createEnv()
  try {
    return await act(env)
  } finally {
    env.dispose()
  }
}

const modelOf = (opType, version, { of = domain, shape = [3, 2] } = {}) => onnx.model({
  ir: 8, opsets: of === '' ? { '': version } : { '': 17, [of]: version },
  inputs: [onnx.value('x', 'float32', shape ?? undefined)], outputs: [onnx.value('y', 'float32')],
  initializers: [onnx.tensor('w', 'float32', [3, 2], Float32Array.of(1, 2, 3, 4, 5, 6))],
  nodes: [onnx.node(opType, ['x', 'w'], ['y'], {}, { domain: of })]
})
const six = new Tensor('float32', [1, 2, 3, 4, 5, 6], [3, 2])
const sums = { dims: [3, 2], data: [2, 4, 6, 8, 10, 12] }
const truncated = { dims: [2, 2], data: [2, 4, 6, 8] }

async function run (env, model) {
  const session = await env.createSession(model)
  try {
    const { y: { dims, data } } = await session.run({ x: six })
    return { dims, data: [...data] }
  } finally {
    session.dispose()
  }
}

const plus = (defines = {}) => buildPlugin('plus_roles.c', Object.entries(defines).map(([name, value]) => `-D${name}=${value}`))
// A plug-in that breaks a rule is refused whole, with the rule.
const refuses = (code, message) => inEnv(async env => {
  await assert.rejects(env.loadPlugin(plus({ BREAK: code })), { code: 'unsupported', message })
  assert.equal(env.operators().some(({ name }) => name === 'Plus'), false)
})
const works = (flags, expected, more = {}, model = modelOf('Plus', 7)) => inEnv(async env => {
  await env.loadPlugin(plus({ FLAGS: `"${flags}"`, ...more.defines }))
  assert.deepEqual(await run(env, model), expected)
})

// ---- A document and a JavaScript kernel --------------------------------------------------------------------------

function document (change = () => {}) {
  const out = JSON.parse(customSpec({ domain, opType: 'Plus', inputs: ['X', 'W'] }))
  out.attributes.count = { kind: 'int', required: false, default: 5, allowed_values: null, description: 'A number.' }
  change(out)
  return out
}
const add = rows => ([x, w], { count }) => {
  assert.equal(count, 5)
  return [new Tensor('float32', x.data.map((v, i) => v + w.data[i]).subarray(0, rows * 2), [rows, 2])]
}
const refusesDocument = (change, rule) => inEnv(env => {
  assert.throws(() => env.registerOperator(document(change), { compute: add(3) }), ({ code, findings }) => code === 'malformed' && findings.some(finding => finding.rule === rule))
  assert.equal(env.operators().some(({ name }) => name === 'Plus'), false)
})
const worksInJs = (kernel, expected, options) => inEnv(async env => {
  env.registerOperator(document(), { compute: add(expected.dims[0]), ...kernel }, options)
  assert.deepEqual(await run(env, modelOf('Plus', options?.sinceVersion ?? 1)), expected)
})

const value = (type, count, list) => `static MLOperatorAttributeNameValue v; v = (MLOperatorAttributeNameValue){"count", MLOperatorAttributeType_${type}, ${count}, {.ints = ${list}}}; kernel.defaultAttributes = &v; kernel.defaultAttributeCount = 1`
const edge = (options, format, label) => `static MLOperatorSchemaEdgeDescription e[2]; e[0] = e[1] = (MLOperatorSchemaEdgeDescription){MLOperatorParameterOptions_Single, MLOperatorSchemaEdgeTypeFormat_Label, {"T"}}; e[1] = (MLOperatorSchemaEdgeDescription){(MLOperatorParameterOptions)${options}, (MLOperatorSchemaEdgeTypeFormat)${format}, {"${label}"}}; schema.inputs = e`
const attribute = text => `static MLOperatorAttribute a; a = (MLOperatorAttribute)${text}; schema.attributes = &a; schema.defaultAttributes = defaults; schema.defaultAttributeCount = 1`

const rules = {
  '1. options are none or AllowDynamicInputShapes': {
    plugin: [() => refuses('kernel.options = (MLOperatorKernelOptions)2', /AllowDynamicInputShapes/), () => works('FTFFFF', sums, { defines: { OPTIONS: 'MLOperatorKernelOptions_AllowDynamicInputShapes' } })],
    js: [() => inEnv(env => { assert.throws(() => env.registerOperator(document(), { compute: add(3) }, { sinceVersion: 1.5 }), { code: 'invalid_argument', message: /^sinceVersion/ }) })]
  },
  '2. AllowDynamicInputShapes excludes a shape inferrer; without it shapes are known at creation': {
    plugin: [
      () => refuses('kernel.options = MLOperatorKernelOptions_AllowDynamicInputShapes; in_kernel = &shape_inferrer', /cannot have a shape inferrer/),
      () => works('FTFFTF', sums, {}, modelOf('Plus', 7, { shape: ['N', 2] })),
      () => works('FTFFFF', sums, { defines: { OPTIONS: 'MLOperatorKernelOptions_AllowDynamicInputShapes' } }, modelOf('Plus', 7, { shape: ['N', 2] }))
    ],
    js: [() => inEnv(async env => {
      env.registerOperator(document(), { compute: add(3) })
      assert.deepEqual(await run(env, modelOf('Plus', 1, { shape: ['N', 2] })), sums)
    })]
  },
  '3. no execution options; the type is CPU or the reserved D3D12': {
    plugin: [
      () => refuses('kernel.executionOptions = 1', /execution options/),
      () => refuses('kernel.executionType = (MLOperatorExecutionType)0', /CPU or the GPU/),
      () => refuses('kernel.executionType = (MLOperatorExecutionType)3', /CPU or the GPU/),
      () => inEnv(async env => {
        await env.loadPlugin(plus({ BREAK: 'kernel.executionType = MLOperatorExecutionType_D3D12' }))
        await assert.rejects(run(env, modelOf('Plus', 7)), { code: 'unsupported' })
      })
    ],
    js: [() => inEnv(env => { assert.throws(() => env.registerOperator(document(), { compute: 'on the GPU' }), { code: 'invalid_argument', message: /^kernel/ }) })]
  },
  '4. type constraints of a kernel name tensors only': {
    plugin: [() => refuses('static MLOperatorEdgeDescription s = {MLOperatorEdgeType_SequenceTensor, {1}}; static MLOperatorEdgeTypeConstraint c = {"T", &s, 1}; kernel.typeConstraints = &c; kernel.typeConstraintCount = 1', /must name tensors/)],
    js: [() => refusesDocument(spec => { spec.type_parameters.T.allowed_types = ['tensor(floats)'] }, 'spec.type.element')]
  },
  '5. a default of Int, Float or String has one value, an array any number, other types none': {
    plugin: [
      () => refuses(value('Int', 2, 'both'), /exactly one value/),
      () => refuses(value('Int', 0, 'both'), /exactly one value/),
      () => refuses(value('Undefined', 1, 'both'), /type/),
      () => inEnv(async env => { await env.loadPlugin(plus({ BREAK: 'static MLOperatorAttributeNameValue v[2]; v[0] = defaults[0]; v[1] = (MLOperatorAttributeNameValue){"more", MLOperatorAttributeType_IntArray, 2, {.ints = both}}; kernel.defaultAttributes = v; kernel.defaultAttributeCount = 2; static MLOperatorAttribute a[2]; a[0] = attributes[0]; a[1] = (MLOperatorAttribute){"more", MLOperatorAttributeType_IntArray, false}; schema.attributes = a; schema.attributeCount = 2' })) })
    ],
    js: [() => refusesDocument(spec => { spec.attributes.count.default = [5, 6] }, 'spec.attribute.default-type')]
  },
  '6. a default belongs to a declared attribute of its type that is not required': {
    plugin: [
      () => refuses(attribute('{"count", MLOperatorAttributeType_Int, true}'), /required attribute cannot/),
      () => refuses(attribute('{"count", MLOperatorAttributeType_Float, false}'), /not of its attribute's type/),
      () => refuses(attribute('{"other", MLOperatorAttributeType_Int, false}'), /names no attribute/),
      () => refuses('static MLOperatorAttributeNameValue v; v = (MLOperatorAttributeNameValue){"other", MLOperatorAttributeType_Int, 1, {.ints = both}}; kernel.defaultAttributes = &v', /kernel's default names no attribute/)
    ],
    js: [
      () => refusesDocument(spec => { spec.attributes.count.required = true }, 'spec.attribute.required-with-default'),
      () => refusesDocument(spec => { spec.attributes.count.default = 'five' }, 'spec.attribute.default-type')
    ]
  },
  '7. a parameter is single, optional or variadic, and its type a label or a description': {
    plugin: [() => refuses(edge(3, 1, 'T'), /single, optional or variadic/), () => refuses(edge(0, 2, 'T'), /label|description/), () => refuses(edge(0, 1, 'T9'), /no type constraint/)],
    js: [() => refusesDocument(spec => { spec.inputs[1].cardinality = 'twice' }, 'schema.enum'), () => refusesDocument(spec => { spec.inputs[1].type_parameter = 'T9' }, 'spec.parameter.type-parameter-unknown')]
  },
  '8. versions and domains stand side by side': {
    // A later version of the domain without a kernel is registered by each of these plug-ins.
    plugin: [
      () => works('FTFFFF', sums),
      () => refuses('schema.operatorSetVersionAtLastChange = 8', /between version/),
      () => refuses('kernel.minimumOperatorSetVersion = 99', /later version than any operator set/),
      () => refuses('static MLOperatorEdgeTypeConstraint c = {"T9", floats, 1}; kernel.typeConstraints = &c; kernel.typeConstraintCount = 1', /type label that its schema does not have/),
      () => refuses('if (MLRegisterOperatorKernel(registry, &kernel, &factory, NULL) != ML_OK) __builtin_trap()', /has a kernel of this version/),
      // The same operator between two baselines and a version.
      () => works('FTFFFF', sums, { defines: { BREAK: 'const MLOperatorSchemaDescription *again[] = {&schema}; if (MLRegisterOperatorSetSchema(registry, &set, 5, again, 1, of_types, in_schema) != ML_OK) __builtin_trap()' } }),
      () => inEnv(async env => {
        await env.loadPlugin(plus())
        await assert.rejects(run(env, modelOf('Plus', 9)), { code: 'unsupported' })
        await env.loadPlugin(plus({ DOMAIN: '"org.else"', FLAGS: '"TFFFTF"' }))
        assert.deepEqual(await run(env, modelOf('Plus', 7)), sums)
        assert.deepEqual(await run(env, modelOf('Plus', 7, { of: 'org.else' })), truncated)
      })
    ],
    js: [() => inEnv(async env => {
      env.registerOperator(document(), { compute: add(3) }, { sinceVersion: 7 })
      env.registerOperator(document(), { compute: add(2) }, { sinceVersion: 9 })
      env.registerOperator(document(spec => { spec.operator.domain = 'org.else' }), { compute: add(2) }, { sinceVersion: 7 })
      assert.deepEqual(await run(env, modelOf('Plus', 7)), sums)
      assert.deepEqual(await run(env, modelOf('Plus', 9)), truncated)
    })]
  },
  '9. a kernel may serve a built-in schema': {
    plugin: [() => inEnv(async env => {
      await env.loadPlugin(plus({ BREAK: 'kernel.domain = ""; kernel.name = "Mul"' }))
      assert.deepEqual(env.operators().filter(({ domain, name, sinceVersion }) => domain === '' && name === 'Mul' && sinceVersion === 7).map(({ source }) => source), ['onnx', 'plug-in'])
      assert.deepEqual(await run(env, modelOf('Mul', 7, { of: '' })), sums)
      assert.deepEqual((await run(env, modelOf('Mul', 14, { of: '' }))).data, [1, 4, 9, 16, 25, 36])
    })],
    js: [() => inEnv(async env => {
      // The standard's signature of Mul-7, in any form that says it.
      const mul = document(spec => {
        spec.operator = { domain: '', op_type: 'Mul', overload: '' }
        spec.version = '7'
        spec.attributes = {}
        for (const [i, name] of ['A', 'B'].entries()) spec.inputs[i].name = name
        spec.outputs[0].name = 'C'
        spec.shape_rules = ['`C` has the shape of `A` and `B`.']
        spec.type_parameters.T.allowed_types = ['uint32', 'uint64', 'int32', 'int64', 'float16', 'float', 'double'].map(type => `tensor(${type})`)
      })
      const registration = env.registerOperator(mul, { compute: ([a, b]) => [{ ...a, data: a.data.map((v, i) => v + b.data[i]) }] })
      assert.deepEqual(env.operators().filter(({ domain, name, sinceVersion }) => domain === '' && name === 'Mul' && sinceVersion === 7).map(({ source }) => source), ['onnx', 'js'])
      assert.deepEqual(await run(env, modelOf('Mul', 7, { of: '' })), sums)
      assert.deepEqual((await run(env, modelOf('Mul', 14, { of: '' }))).data, [1, 4, 9, 16, 25, 36])
      registration.dispose()
      assert.deepEqual((await run(env, modelOf('Mul', 7, { of: '' }))).data, [1, 4, 9, 16, 25, 36])
      // Another signature is not the built-in schema.
      mul.attributes = document().attributes
      assert.throws(() => env.registerOperator(mul, { compute: inputs => [inputs[0]] }), ({ code, findings }) => code === 'malformed' && findings.some(({ rule }) => rule === 'spec.operator.standard-mismatch'))
    })]
  },
  '10. types are inferred first, shapes after them; a context ends with its call': {
    plugin: [
      () => works('FTTFFT', sums), () => works('TTTTTT', truncated), () => works('TTTTTT', truncated, {}, modelOf('Plus', 7, { shape: ['N', 2] })),
      // When it is released, the kernel asks the context of its last call, and is refused; what it does not expect is a trap, after
      // which there would be no second run.
      () => inEnv(async env => {
        await env.loadPlugin(plus())
        for (let i = 0; i < 2; i++) assert.deepEqual(await run(env, modelOf('Plus', 7)), sums)
      })
    ],
    js: [() => inEnv(async env => {
      const kept = []
      env.registerOperator(document(), { compute: (inputs, attributes, context) => { kept.push([context, inputs[0]]); return add(3)(inputs, attributes) }, inferShapes: ([x], _, context) => { kept.push([context]); return [{ shape: x.shape }] } })
      assert.deepEqual(await run(env, modelOf('Plus', 1)), sums)
      const closed = { name: 'OpspecError', code: 'invalid_argument', message: /was lent for one call, which has ended/ }
      for (const [context, input] of kept) {
        assert.throws(() => context.fail('late'), closed)
        assert.throws(() => context.requested, closed)
        if (input !== undefined) assert.throws(() => input.data[0], closed)
      }
    }), () => inEnv(env => {
      const calls = []
      env.registerOperator(document(), { compute: add(3), inferTypes (types) { calls.push(['types', types]); return ['tensor(float)'] }, inferShapes (inputs) { calls.push(['shapes', inputs[0].type]); return [{ shape: inputs[0].shape }] } })
      env.check(modelOf('Plus', 1))
      assert.deepEqual(calls.slice(0, 2), [['types', ['tensor(float)', 'tensor(float)']], ['shapes', 'tensor(float)']])
    })]
  },
  '11. without shape inference an output has the shape that the kernel gives, with it the inferred one': {
    plugin: [() => works('FTFFFF', sums), () => works('FTFFTF', sums)],
    js: [
      () => worksInJs({}, sums),
      () => worksInJs({ inferShapes: ([x]) => [{ shape: x.shape }] }, sums),
      () => inEnv(async env => {
        env.registerOperator(document(), { compute: add(2), inferShapes: ([x]) => [{ shape: x.shape }] })
        await assert.rejects(run(env, modelOf('Plus', 1)), { code: 'operator_failed', message: /inference said/ })
      })
    ]
  },
  '12. shapes of tensors can be asked for where there are some': {
    plugin: [() => works('FTFFTF', sums), () => works('FTFFFF', sums, { defines: { OPTIONS: 'MLOperatorKernelOptions_AllowDynamicInputShapes' } })],
    js: [() => inEnv(env => {
      let shape
      env.registerOperator(document(), { compute: add(3), inferShapes (inputs) { shape = inputs[0].shape; return [{}] } })
      env.check(modelOf('Plus', 1, { shape: null }))
      assert.equal(shape, null)
    })]
  },
  '13. every combination of who says the type, the shape and the defaults': {
    plugin: [
      ...['FTFFFF', 'FFFFFF', 'FTTFFT', 'TFFFTF', 'TTTTTT'].map(flags => () => works(flags, flags[0] === 'T' ? truncated : sums)),
      // Also in ONNX's own domain, as in the registry itself.
      ...['FTFFFF', 'FTTFFT', 'TFFFTF', 'TTTTTT'].map(flags => () => works(flags, flags[0] === 'T' ? truncated : sums, { defines: { DOMAIN: '""' } }, modelOf('Plus', 7, { of: '' })))
    ],
    // A document may not: the rules of documents are stricter than the registry.
    js: [() => refusesDocument(spec => { spec.operator.domain = '' }, 'spec.operator.domain-reserved'), ...[false, true].flatMap(types => [false, true].flatMap(shapes => [2, 3].map(rows => () => worksInJs({
      ...types && { inferTypes: () => ['tensor(float)'] }, ...shapes && { inferShapes: ([{ shape: [, columns] }]) => [{ shape: [rows, columns] }] }
    }, rows === 2 ? truncated : sums))))]
  }
}

describe('the rules of the registry', () => {
  it('all 13 have cases in both ways', () => {
    const count = way => Object.entries(rules).filter(([name, ways], i) => name.startsWith(`${i + 1}. `) && ways[way].length > 0).length
    console.log(`rules of the registry: ${count('plugin')} of 13 by a plug-in in the roles, ${count('js')} of 13 by a document and a JavaScript kernel`)
    assert.deepEqual([count('plugin'), count('js')], [13, 13])
  })
  for (const [name, { plugin, js }] of Object.entries(rules)) {
    for (const [way, cases, cannot] of [['a plug-in in the roles', plugin, skip], ['a document and a JavaScript kernel', js, false]]) {
      if (cases.length > 0) it(`${name}: ${way}`, { skip: cannot }, async () => { for (const act of cases) await act() })
    }
  }
})
