// env.diff of specifications: every rule fires in its case and in no other; order, pointers, exactness, refusals; the command.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, createWorkerEnv, OpspecError } from '../../wasm/js/index.js'
import { documentRows } from '../../wasm/src/diff-document-rules.js'
import { diffRules } from '../../wasm/src/diff-rules.js'

const parameter = (name, type_parameter, cardinality = 'single') => ({ name, cardinality, type_parameter, description: `Value ${name}.` })
const types = (...allowed_types) => ({ allowed_types, description: 'Types.' })
const attribute = (kind, value, more) => ({ kind, required: false, default: value, allowed_values: null, description: 'An attribute.', ...more })
const base = () => ({
  kind: 'runlocal.operator-extension',
  protocol_version: '1.0',
  name: 'mix',
  version: '2',
  authority: 'specification',
  operator: { domain: 'org.test', op_type: 'Mix', overload: '' },
  inputs: [parameter('x', 'T'), parameter('w', 'W'), parameter('bias', 'T', 'optional')],
  outputs: [parameter('y', 'T'), parameter('mask', 'B', 'optional')],
  type_parameters: { T: types('tensor(float)', 'tensor(double)'), W: types('tensor(float)', 'tensor(int8)'), B: types('tensor(bool)') },
  attributes: {
    'alpha': attribute('float', 0.5),
    'mode': attribute('string', 'a', { allowed_values: ['a', 'b'] }),
    'size': attribute('int', null, { required: true }),
    'a.b': attribute('ints', [1, 2])
  },
  input_conditions: ['`size` is above 0.'],
  shape_rules: ['`y` has the shape of `x`.'],
  boundary_behavior: 'A NaN stays NaN.',
  numerical_behavior: 'Exact.',
  nondeterminism: 'None.',
  state_effects: 'None.',
  reference: null,
  tests: ['one.json']
})
const reference = { kind: 'onnx.reference_python', interface_version: '1', adapter: 'adapter.py', class_name: 'Mix', implementation: [], environment: { kind: 'python', python: '3.12.1', packages: { numpy: '2.1.0', onnx: '1.17.0' } } }

// what, change, rules there, rules back
const cases = [
  ['nothing', () => {}, [], []],
  ['another type', s => { s.operator.op_type = 'Mixed' }, ['diff.operator.identity'], ['diff.operator.identity']],
  ['another domain and overload', s => { Object.assign(s.operator, { domain: 'org.other', overload: 'v' }) }, ['diff.operator.identity', 'diff.operator.identity'], ['diff.operator.identity', 'diff.operator.identity']],
  ['a since version', s => { s.version = '10' }, ['diff.version.since-raised'], ['diff.version.since-lowered']],
  ['a version that is no integer', s => { s.version = '1.5.0' }, ['diff.version.since-lowered'], ['diff.version.since-raised']],
  ['an input less', s => { s.inputs.pop() }, ['diff.input.removed'], ['diff.input.optional-added']],
  ['an input less in the middle', s => { s.inputs.splice(1, 1); delete s.type_parameters.W }, ['diff.input.removed'], ['diff.input.required-added']],
  ['a variadic input more', s => { s.inputs.push(parameter('more', 'W', 'variadic')) }, ['diff.input.optional-added'], ['diff.input.removed']],
  ['an optional input between others', s => { s.inputs.splice(1, 0, parameter('new', 'B', 'optional')) }, ['diff.input.moved', 'diff.input.moved', 'diff.input.optional-added'], ['diff.input.removed']],
  ['inputs change places', s => { s.inputs = [s.inputs[1], s.inputs[0], s.inputs[2]] }, ['diff.input.moved', 'diff.input.moved'], ['diff.input.moved', 'diff.input.moved']],
  ['an input has to be given', s => { s.inputs[2].cardinality = 'single' }, ['diff.input.cardinality-narrowed'], ['diff.input.cardinality-widened']],
  ['an input becomes variadic', s => { s.inputs[2].cardinality = 'variadic' }, ['diff.input.cardinality-widened'], ['diff.input.cardinality-narrowed']],
  ['an input is called otherwise', s => { s.inputs[1].name = 'weight' }, ['diff.input.renamed'], ['diff.input.renamed']],
  ['an output less', s => { s.outputs.pop() }, ['diff.output.removed'], ['diff.output.optional-added']],
  ['an output more', s => { s.outputs.push(parameter('count', 'B')) }, ['diff.output.required-added'], ['diff.output.removed']],
  ['outputs change places', s => { s.outputs.reverse() }, ['diff.output.moved', 'diff.output.moved'], ['diff.output.moved', 'diff.output.moved']],
  ['an output may be left out', s => { s.outputs[0].cardinality = 'optional' }, ['diff.output.cardinality-widened'], ['diff.output.cardinality-narrowed']],
  ['an output is called otherwise', s => { s.outputs[1].name = 'kept' }, ['diff.output.renamed'], ['diff.output.renamed']],
  ['a type less', s => { s.type_parameters.T = types('tensor(float)') }, ['diff.type.narrowed'], ['diff.type.widened']],
  ['another type in a set', s => { s.type_parameters.B = types('tensor(uint8)') }, ['diff.type.narrowed', 'diff.type.widened'], ['diff.type.narrowed', 'diff.type.widened']],
  ['types in other order and spelling', s => { s.type_parameters.T = types('tensor( double )', 'tensor(float)') }, [], []],
  ['any type', s => { s.outputs[1].type_parameter = null; delete s.type_parameters.B }, ['diff.type.widened'], ['diff.type.narrowed']],
  ['a type parameter is called otherwise', s => { s.outputs[1].type_parameter = 'Mask'; s.type_parameters = { T: s.type_parameters.T, W: s.type_parameters.W, Mask: s.type_parameters.B } }, ['diff.type.renamed'], ['diff.type.renamed']],
  ['inputs of one type', s => { s.type_parameters.W = s.type_parameters.T }, ['diff.type.narrowed', 'diff.type.widened'], ['diff.type.narrowed', 'diff.type.widened']],
  ['an input of a type of its own', s => { s.inputs[2].type_parameter = 'U'; s.type_parameters.U = s.type_parameters.T }, ['diff.type.separated'], ['diff.type.joined']],
  ['an output of a type of its own', s => { s.outputs[0].type_parameter = 'U'; s.type_parameters.U = s.type_parameters.T }, ['diff.type.output-rule'], ['diff.type.output-rule']],
  ['an attribute less', s => { delete s.attributes.alpha }, ['diff.attribute.removed'], ['diff.attribute.optional-added']],
  ['an attribute more', s => { s.attributes.axis = attribute('int', null, { required: true }) }, ['diff.attribute.required-added'], ['diff.attribute.removed']],
  ['an attribute of another kind', s => { s.attributes.size.kind = 'float' }, ['diff.attribute.kind'], ['diff.attribute.kind']],
  ['an attribute may be left out', s => { Object.assign(s.attributes.size, { required: false, default: 1 }) }, ['diff.attribute.made-optional'], ['diff.attribute.made-required']],
  ['another default', s => { s.attributes['a.b'].default = [1, 3] }, ['diff.attribute.default'], ['diff.attribute.default']],
  ['no default', s => { s.attributes.alpha.default = null }, ['diff.attribute.default'], ['diff.attribute.default']],
  ['a value more', s => { s.attributes.mode.allowed_values.push('c') }, ['diff.attribute.values-widened'], ['diff.attribute.values-narrowed']],
  ['any value', s => { s.attributes.mode.allowed_values = null }, ['diff.attribute.values-widened'], ['diff.attribute.values-narrowed']],
  ['the reference decides', s => { Object.assign(s, { authority: 'reference_implementation', reference }) }, ['diff.authority.changed', 'diff.reference.changed'], ['diff.authority.changed', 'diff.reference.changed']],
  ['a condition more', s => { s.input_conditions.push('`x` is finite.') }, ['diff.text.condition'], ['diff.text.condition']],
  ['a shape rule in other words', s => { s.shape_rules = ['`y` is as large as `x`.'] }, ['diff.text.condition', 'diff.text.condition'], ['diff.text.condition', 'diff.text.condition']],
  ['other behaviour', s => { s.state_effects = 'None at all.' }, ['diff.text.behavior'], ['diff.text.behavior']],
  ['another name and descriptions', s => { s.name = 'mixer'; s.inputs[0].description += '.'; s.attributes.alpha.description += '.'; s.type_parameters.T.description += '.' }, Array(4).fill('diff.text.description'), Array(4).fill('diff.text.description')],
  ['more evidence', s => { s.tests.push('two.json') }, ['diff.tests.changed'], ['diff.tests.changed']]
]

const resolve = (document, pointer) => pointer.split('/').slice(1).reduce((value, token) => value[token.replaceAll('~1', '/').replaceAll('~0', '~')], document)

describe('diff', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const compare = (a, b) => env.diff(JSON.stringify(a), JSON.stringify(b))
  const refusal = (...args) => {
    try {
      env.diff(...args)
    } catch (error) {
      assert.ok(error instanceof OpspecError)
      return error
    }
    return assert.fail('was taken')
  }

  for (const [what, change, there, back] of cases) {
    it(what, () => {
      const [a, b] = [base(), base()]
      change(b)
      for (const [from, to, rules] of [[a, b, there], [b, a, back]]) {
        const { changes, breaking } = compare(from, to)
        assert.deepEqual(changes.map(({ rule }) => rule), rules)
        assert.equal(breaking, changes.some(item => item.breaking))
        for (const { rule, breaking: breaks, message, pointer } of changes) {
          assert.equal(breaks, diffRules.get(rule).breaking)
          assert.match(message, /\.$/)
          assert.notEqual(resolve(to, pointer), undefined, pointer)
        }
      }
    })
  }
  it('takes ai.onnx and the empty domain as one', () => {
    const of = domain => JSON.stringify({ ...base(), operator: { ...base().operator, domain } })
    assert.deepEqual(env.diff(of(''), of('ai.onnx')).changes, [])
    assert.equal(env.diff(of('ai.onnx'), of('org.test')).breaking, true)
  })

  it('two versions that are no since versions', () => {
    const [a, b] = [{ ...base(), version: '1.0.0' }, { ...base(), version: '1.1.0' }]
    assert.deepEqual(compare(a, b).changes.map(({ rule }) => rule), ['diff.version.changed'])
  })
  it('every rule has its case, and explain knows it', () => {
    const seen = new Set([...cases.flatMap(([, , there, back]) => [...there, ...back]), 'diff.version.changed'])
    const others = documentRows.map(({ rule }) => rule) // diff_documents.test.js
    assert.deepEqual([...diffRules.keys()].filter(rule => !seen.has(rule) && !others.includes(rule)), [])
    for (const rule of diffRules.keys()) {
      const told = env.explain(rule)
      assert.equal(told.rule, rule)
      for (const key of ['severity', 'title', 'why', 'good', 'bad', 'source']) assert.ok(told[key].length > 0, `${rule} ${key}`)
    }
  })
  it('lists breaking changes first', () => {
    const b = base()
    const together = ['other behaviour', 'a type less', 'more evidence', 'an input is called otherwise', 'an attribute more', 'any value', 'another default', 'a since version', 'a condition more', 'an output less']
    for (const [what, change] of cases) {
      if (together.includes(what)) change(b)
    }
    const { changes } = compare(base(), b)
    const order = changes.map(item => item.breaking)
    assert.deepEqual(order, [...order].sort((x, y) => y - x))
    assert.ok(changes.length >= together.length && order.includes(true) && order.includes(false))
  })
  it('takes values as attributes of their kind have them', () => {
    const text = (kind, value) => JSON.stringify({ ...base(), attributes: { v: attribute(kind, '@') } }).replace('"@"', value)
    const equal = [['int', '1', '1.0'], ['int', '100', '1e2'], ['float', '0.1', '0.10'], ['float', '0.1', '0.1000000001'], ['ints', '[1,2]', '[1.0, 20e-1]'], ['string', '"a"', '"\\u0061"'], ['int', '0', '-0']]
    const different = [['int', '9007199254740992', '9007199254740993'], ['int', '9223372036854775807', '9223372036854775806'], ['float', '0.1', '0.1001'], ['float', '0', '-0.1'], ['ints', '[1,2]', '[2,1]'], ['string', '"1"', '"1 "'], ['string', '"1.0"', '"1"'], ['string', '"{\\"$number\\":\\"1\\"}"', '"1"']]
    for (const [kind, a, b] of equal) assert.deepEqual(env.diff(text(kind, a), text(kind, b)).changes, [], `${a} ${b}`)
    for (const [kind, a, b] of different) assert.deepEqual(env.diff(text(kind, a), text(kind, b)).changes.map(({ rule }) => rule), ['diff.attribute.default'], `${a} ${b}`)
    const [{ message }] = env.diff(text('int', '9007199254740992'), text('int', '9007199254740993')).changes
    assert.equal(message, 'The default of "v" was 9007199254740992 and is 9007199254740993.')
  })
  it('looks through white space, order of keys, a byte-order mark', () => {
    const a = base()
    const b = `\ufeff${JSON.stringify(Object.fromEntries(Object.entries(a).reverse()), null, '\t')}\r\n`
    assert.deepEqual(env.diff(new TextEncoder().encode(JSON.stringify(a)), b), { changes: [], breaking: false })
  })
  it('names that objects of JavaScript know', () => {
    const b = base()
    b.attributes.constructor = attribute('int', 1)
    b.type_parameters.toString = types('tensor(float)')
    b.inputs[1].type_parameter = 'toString'
    assert.deepEqual(compare(base(), b).changes.map(({ rule }) => rule), ['diff.type.narrowed', 'diff.attribute.optional-added'])
  })
  it('refuses what it cannot compare', () => {
    const text = JSON.stringify(base())
    assert.equal(refusal(text, 5).code, 'invalid_argument')
    assert.equal(refusal(text, text, { as: 'tensor' }).code, 'invalid_argument')
    assert.equal(refusal(text, text, { as: 'model' }).code, 'invalid_argument')
    assert.equal(refusal('{}', text).code, 'unsupported')
    const syntax = refusal(text, text.slice(0, -1), { as: 'spec' })
    assert.deepEqual([syntax.code, syntax.findings[0].rule, syntax.message.slice(0, 3)], ['malformed', 'json.syntax', 'b: '])
    assert.deepEqual(refusal(JSON.stringify({ ...base(), inputs: 5 }), text).findings.map(({ rule, pointer }) => [rule, pointer]), [['schema.type', '/inputs']])
  })
  it('in a worker', async () => {
    const worker = await createWorkerEnv()
    try {
      assert.deepEqual(await worker.diff(JSON.stringify(base()), JSON.stringify({ ...base(), version: '3' })), compare(base(), { ...base(), version: '3' }))
    } finally {
      await worker.dispose()
    }
  })

  describe('opspec diff', () => {
    const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
    const folder = mkdtempSync(join(tmpdir(), 'opspec-diff-'))
    after(() => rmSync(folder, { recursive: true }))
    const run = (...args) => spawnSync(process.execPath, [cli, 'diff', ...args], { cwd: folder, encoding: 'utf8' })
    before(() => {
      const changed = base()
      changed.inputs.pop()
      changed.attributes.axis = attribute('int', 1)
      for (const [name, spec] of [['a', base()], ['b', changed]]) {
        mkdirSync(join(folder, name))
        writeFileSync(join(folder, name, 'mix.opspec.json'), JSON.stringify(spec))
      }
      mkdirSync(join(folder, 'empty'))
      writeFileSync(join(folder, 'broken.json'), '{ "kind": "runlocal.operator-extension",, }')
    })
    it('prints breaking changes first and ends with 1', () => {
      const { status, stdout } = run('a', 'b/mix.opspec.json')
      assert.equal(status, 1)
      assert.equal(stdout, 'breaking /inputs: The input "bias" was removed. [diff.input.removed]\nchange   /attributes/axis: The attribute "axis" is new; it may be left out. [diff.attribute.optional-added]\n2 changes, 1 breaking\n')
    })
    it('ends with 0 where nothing breaks', () => {
      const { status, stdout } = run('b', 'a', '--format', 'json')
      const { changes, breaking, summary, kind, a, b } = JSON.parse(stdout)
      assert.deepEqual([status, breaking, kind, a, b], [1, true, 'spec', 'b', 'a'])
      assert.deepEqual(summary, { breaking: changes.filter(item => item.breaking).length, others: changes.filter(item => !item.breaking).length })
      assert.deepEqual([run('a', 'a').status, run('a', 'a').stdout], [0, 'no change\n'])
    })
    it('ends with 2 where it cannot be done', () => {
      const broken = run('a', 'broken.json')
      assert.equal(broken.status, 2)
      assert.match(broken.stderr, /^opspec: broken\.json:1:41: .+ \[json\.syntax\]$/m)
      for (const args of [['a'], ['a', 'empty'], ['a', 'nowhere'], ['a', 'b', 'c'], []]) assert.equal(run(...args).status, 2)
    })
  })
})
