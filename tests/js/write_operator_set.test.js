// env.writeOperatorSet: of the registry, of registered operators and their functions, of specifications; what is written is clean.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import { message } from '../support/proto.js'

const spec = (op_type, version = '1', more = {}) => ({
  kind: 'runlocal.operator-extension', protocol_version: '1.0', name: op_type.toLowerCase(), version, authority: 'specification',
  operator: { domain: 'com.example', op_type, overload: '' },
  inputs: [{ name: 'X', cardinality: 'single', type_parameter: 'T', description: 'Values.' }],
  outputs: [{ name: 'Y', cardinality: 'single', type_parameter: 'T', description: 'Twice the values.' }],
  type_parameters: { T: { allowed_types: ['tensor(float)'], description: 'Element type.' } },
  attributes: {}, input_conditions: ['`X` is finite.'], shape_rules: ['`Y` has the shape of `X`.'],
  boundary_behavior: 'NaN stays NaN.', numerical_behavior: 'Exact.', nondeterminism: 'None.', state_effects: 'None.', reference: null, tests: [], ...more
})
const node = (op, input, output, more) => ({ op_type: op, input, output, ...more })
const body = op => message('FunctionProto', { name: op, domain: 'com.example', input: ['X'], output: ['Y'], opset_import: [{ version: 21 }], node: [node('Add', ['X', 'X'], ['Y'])] })
const float = name => ({ name, type: { tensor_type: { elem_type: 1, shape: { dim: [{ dim_param: 'N' }] } } } })
const bodyModel = (more, around) => message('ModelProto', {
  ir_version: 10, opset_import: [{ version: 21 }],
  graph: { name: 'g', node: [node('Mul', ['X', 'two'], ['Y'])], input: [float('X')], output: [float('Y')], initializer: [{ name: 'two', dims: [], data_type: 1, float_data: [2] }], ...more }, ...around
})

describe('writeOperatorSet', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const read = bytes => env.decode(bytes, 'OperatorSetProto')
  const clean = (bytes, more) => {
    const report = env.check(bytes, more)
    assert.deepEqual([report.kind, report.ok, report.findings.map(({ rule, path }) => `${rule} ${path}`)], ['operator-set', true, []])
    return read(bytes)
  }

  describe('of the standard', () => {
    for (const [domain, versions] of [['ai.onnx', [1, 7, 13, 21, 28]], ['ai.onnx.ml', [1, 3, 5]], ['ai.onnx.preview.training', [1]]]) {
      it(`${domain}, versions ${versions.join(', ')}`, () => {
        for (const version of versions) {
          const set = clean(env.writeOperatorSet({ domain, version }))
          assert.deepEqual([set.magic, set.domain, set.opsetVersion], ['ONNXOPSET', domain, BigInt(version)])
          const names = set.operator.map(({ opType }) => opType)
          assert.deepEqual(names, [...new Set(names)].sort())
          for (const { opType, sinceVersion, status } of set.operator) {
            assert.ok(sinceVersion <= BigInt(version) && status === 1)
            const known = env.operators().filter(o => o.name === opType && (o.domain || 'ai.onnx') === domain && o.sinceVersion <= version)
            assert.equal(Number(sinceVersion), Math.max(...known.map(o => o.sinceVersion)))
          }
        }
      })
    }
    it('the newest version when none is named, the empty domain', () => {
      const newest = Math.max(...env.operators().filter(({ domain }) => domain === '').map(o => o.sinceVersion))
      assert.equal(clean(env.writeOperatorSet({ domain: '' })).opsetVersion, BigInt(newest))
    })
    it('has no operator that is deprecated by then', () => {
      const names = version => read(env.writeOperatorSet({ domain: 'ai.onnx', version })).operator.map(({ opType }) => opType)
      assert.ok(names(6).includes('Upsample'))
      assert.ok(!names(10).includes('Upsample'))
      assert.deepEqual([names(17), names(18), names(21)].map(list => list.includes('GroupNormalization')), [false, false, true])
    })
    it('tells the signature as text', () => {
      const { docString } = read(env.writeOperatorSet({ domain: 'ai.onnx', version: 13 })).operator.find(({ opType }) => opType === 'Softmax')
      assert.match(docString, /^`Softmax\(input: T\) -> \(output: T\)`\n\nTypes:\n\n- `T`: tensor\(float\), tensor\(float16\)/)
      assert.match(docString, /Attributes:\n\n- `axis`: int, -1 when left out$/)
    })
    it('two versions differ as the standard says', () => {
      const { changes } = env.diff(env.writeOperatorSet({ domain: 'ai.onnx.ml', version: 2 }), env.writeOperatorSet({ domain: 'ai.onnx.ml', version: 3 }))
      assert.deepEqual(changes.map(({ message: text }) => text), [
        'TreeEnsembleClassifier since 1, stable, was replaced by TreeEnsembleClassifier since 3.',
        'TreeEnsembleRegressor since 1, stable, was replaced by TreeEnsembleRegressor since 3.',
        'The version was 2 and is 3.'
      ])
    })
  })

  describe('of what is registered', () => {
    it('operators and functions', async () => {
      const [plain, made, long] = [spec('Plain', '2'), spec('Double'), spec('Scale', '1', { attributes: { by: { kind: 'float', required: false, default: 2, allowed_values: null, description: 'Factor.' } } })]
      const scaled = message('FunctionProto', {
        name: 'Scale', domain: 'com.example', input: ['X'], output: ['Y'], opset_import: [{ version: 21 }], attribute_proto: [{ name: 'by', type: 1, f: 2 }],
        node: [node('Constant', [], ['by'], { attribute: [{ name: 'value_float', type: 1, ref_attr_name: 'by' }] }), node('Mul', ['X', 'by'], ['Y'])]
      })
      const registrations = [env.registerOperator(plain), env.registerOperator(made, body('Double')), env.registerOperator(long, scaled)]
      const set = clean(env.writeOperatorSet({ domain: 'com.example', docString: 'Mine.' }))
      assert.deepEqual([set.domain, set.opsetVersion, set.docString], ['com.example', 2n, 'Mine.'])
      assert.deepEqual(set.operator.map(({ opType, sinceVersion }) => [opType, sinceVersion]), [['Plain', 2n]])
      assert.deepEqual(set.functions.map(({ name, domain }) => [name, domain]), [['Double', 'com.example'], ['Scale', 'com.example']])
      const [, { attributeProto, node: nodes, input, output }] = set.functions
      assert.deepEqual([input, output, nodes.map(({ opType }) => opType), attributeProto], [['X'], ['Y'], ['Constant', 'Mul'], [{ name: 'by', f: 2, type: 1 }]])
      assert.deepEqual(read(env.writeOperatorSet({ domain: 'com.example', bodies: false })).operator.map(({ opType }) => opType), ['Double', 'Plain', 'Scale'])
      assert.deepEqual(read(env.writeOperatorSet({ domain: 'com.example', version: 1 })).operator, undefined)
      for (const registration of registrations) registration.dispose()
      assert.throws(() => env.writeOperatorSet({ domain: 'com.example' }), { code: 'invalid_argument' })
    })
    it('a function that was written does what the operator did', async () => {
      const registration = env.registerOperator(spec('Double'), bodyModel())
      const { functions } = read(env.writeOperatorSet({ domain: 'com.example' }))
      registration.dispose()
      const model = env.encode({
        irVersion: 10n, opsetImport: [{ domain: '', version: 21n }, { domain: 'com.example', version: 1n }], functions,
        graph: { name: 'g', node: [{ opType: 'Double', domain: 'com.example', input: ['X'], output: ['Y'] }], input: [float('X')], output: [float('Y')].map(() => ({ name: 'Y', type: { tensorType: { elemType: 1 } } })) }
      }, 'ModelProto')
      // The names of the .proto files are taken as well.
      const session = await env.createSession(model)
      const { Y } = await session.run({ X: new Tensor('float32', [1, 2.5], [2]) })
      assert.deepEqual([...Y.data], [2, 5])
      session.dispose()
    })
    it('a model with functions of its own stays an operator', () => {
      const registration = env.registerOperator(spec('Double'), bodyModel({}, { functions: [{ name: 'H', domain: 'd', input: ['x'], output: ['y'], opset_import: [{ version: 21 }], node: [node('Abs', ['x'], ['y'])] }] }))
      assert.deepEqual(read(env.writeOperatorSet({ domain: 'com.example' })).operator.map(({ opType }) => opType), ['Double'])
      registration.dispose()
    })
  })

  describe('of specifications', () => {
    it('one and several, as objects, texts and bytes', () => {
      const specs = [spec('Foo', '3'), JSON.stringify(spec('Bar', '1')), new TextEncoder().encode(JSON.stringify(spec('Qux', '1.5.0')))]
      const set = clean(env.writeOperatorSet({ specs }))
      assert.deepEqual([set.domain, set.opsetVersion, set.operator.map(({ opType, sinceVersion }) => [opType, sinceVersion])], ['com.example', 3n, [['Bar', 1n], ['Foo', 3n], ['Qux', 1n]]])
      assert.match(set.operator[0].docString, /^`Bar\(X: T\) -> \(Y: T\)`/)
      assert.match(set.operator[0].docString, /- `X`: Values\.\n- `Y`: Twice the values\.\n\nConditions:\n\n- `X` is finite\./)
      assert.equal(clean(env.writeOperatorSet({ specs: [spec('Foo')], version: 7 })).opsetVersion, 7n)
    })
    it('of two versions of one the newest there is', () => {
      const specs = [spec('Foo', '1'), spec('Foo', '3')]
      assert.deepEqual(read(env.writeOperatorSet({ specs })).operator.map(({ sinceVersion }) => sinceVersion), [3n])
      assert.deepEqual(read(env.writeOperatorSet({ specs, version: 2 })).operator.map(({ sinceVersion }) => sinceVersion), [1n])
    })
    it('with functions, experimental, of another IR version', () => {
      const set = clean(env.writeOperatorSet({ specs: [spec('Double'), spec('Foo')], functions: { Double: body('Double') }, status: 'experimental', irVersion: 10 }))
      assert.deepEqual([set.irVersion, set.operator.map(({ opType, status }) => [opType, status ?? 0]), set.functions.map(({ name }) => name)], [10n, [['Foo', 0]], ['Double']])
    })
    it('registers nothing', () => assert.ok(!env.operators().some(({ domain }) => domain === 'com.example')))
  })

  describe('refuses', () => {
    const refused = (what, options, code, pattern) => it(what, () => {
      assert.throws(() => env.writeOperatorSet(options), error => error instanceof OpspecError && error.code === code && pattern.test(error.message), what)
    })
    refused('neither domain nor specs', {}, 'invalid_argument', /^domain: /)
    refused('an unknown domain', { domain: 'org.nobody' }, 'invalid_argument', /known are ai\.onnx, /)
    refused('a version that is not published', { domain: 'ai.onnx.ml', version: 99 }, 'invalid_argument', /^version: the newest known version of ai\.onnx\.ml is 5/)
    refused('a version that is none', { domain: 'ai.onnx', version: 0 }, 'invalid_argument', /^version: /)
    refused('a version with nothing in it', { specs: [spec('Foo', '3')], version: 2 }, 'invalid_argument', /^version: no operator/)
    refused('specifications of two domains', { specs: [spec('Foo'), spec('Bar', '1', { operator: { domain: 'org.test', op_type: 'Bar', overload: '' } })] }, 'invalid_argument', /^specs\[1\]: /)
    refused('a specification that is wrong', { specs: [spec('Foo'), { ...spec('Bar'), inputs: 5 }] }, 'malformed', /^specs\[1\]: /)
    refused('a function of another signature', { specs: [spec('Double')], functions: { Double: message('FunctionProto', { name: 'Double', domain: 'com.example', input: ['A', 'B'], output: ['Y'], opset_import: [{ version: 21 }], node: [node('Add', ['A', 'B'], ['Y'])] }) } }, 'malformed', /2 inputs/)
    refused('a function that is no bytes', { specs: [spec('Double')], functions: { Double: 'x' } }, 'invalid_argument', /^functions\.Double: /)
    refused('a status that is none', { specs: [spec('Double')], status: 'new' }, 'invalid_argument', /^status: /)
  })

  it('in a worker', async () => {
    const remote = await createWorkerEnv()
    assert.deepEqual(await remote.writeOperatorSet({ specs: [spec('Foo')] }), env.writeOperatorSet({ specs: [spec('Foo')] }))
    await remote.dispose()
  })
})
