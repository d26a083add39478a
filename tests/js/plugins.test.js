// Plug-ins, operators written in several ways, the roles of MLOperatorAuthor in a plug-in, and hostile ones.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Env } from '../../wasm/js/env.js'
import { createEnv, createWorkerEnv, Tensor } from '../../wasm/js/index.js'
import { pickDocument, pickKernel, runPick, runTilt, tiltDocument, tiltEvidence, tiltFunction, tiltKernel, tiltLine } from '../operators/ways.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'

const rows = join(process.env.OPSPEC_WASM_BUILD ?? fileURLToPath(new URL('../../build/wasm-tests', import.meta.url)), 'tests/opspec_rows.wasm')
const noRows = !existsSync(rows) && 'the module with linked rows is not built: npm test makes it'

async function withEnv (register, run, options) {
  const env = await createEnv(options)
  try {
    await register(env)
    return await run(env)
  } finally {
    env.dispose()
  }
}

describe('one operator written in all ways', () => {
  let expected
  before(async () => { expected = await withEnv(env => env.registerOperator(tiltDocument, tiltKernel), runTilt) })

  it('JavaScript gives what its evidence says', () => {
    tiltEvidence.forEach(({ outputs: [{ shape, data }] }, i) => {
      const bits = Array.from(new Uint32Array(Float32Array.from(data, Number).buffer))
      assert.deepEqual(expected[2 * i], { dims: shape, bits }, `case ${i}`)
    })
  })
  const same = async (register, options, asFunction) => assert.deepEqual(await withEnv(register, env => runTilt(env, asFunction), options), expected)
  it('a row linked into the build', { skip: noRows }, () => same(env => {
    env.registerOperator(tiltDocument)
    assert.equal(env.operators().find(({ name }) => name === 'Tilt').source, 'builtin')
  }, { wasm: rows }))
  it('the row in a plug-in', { skip }, () => same(env => env.registerOperator(tiltDocument, buildPlugin('tilt_plugin.c'))))
  it('the roles of MLOperatorAuthor', { skip }, () => same(env => env.loadPlugin(buildPlugin('tilt_roles.c'))))
  it('JavaScript for one element', () => same(env => env.registerOperator(tiltDocument, tiltLine)))
  it('a function', () => same(env => env.registerOperator(tiltDocument, tiltFunction)))
  it('a function of the model', () => same(() => {}, {}, true))

  it('as a bundle with a kernel.wasm passes its evidence', { skip }, async () => {
    const env = await createEnv()
    try {
      const document = JSON.parse(tiltDocument)
      document.tests = tiltEvidence.map((_, i) => `case-${i}.json`).sort()
      const files = { 'tilt.opspec.json': JSON.stringify(document), 'kernel.wasm': buildPlugin('tilt_plugin.c') }
      tiltEvidence.forEach((evidence, i) => { files[`case-${i}.json`] = JSON.stringify(evidence) })
      const { tests, summary } = await env.test(files)
      assert.deepEqual(summary, { passed: tiltEvidence.length, failed: 0, skipped: 0, errors: 0 }, JSON.stringify(tests))
      assert.ok(tests.every(({ backend }) => backend === 'wasm'))
    } finally {
      env.dispose()
    }
  })
})

describe('evidence that asks for an error', { skip }, () => {
  const asked = (kernel, ...errors) => {
    const files = { 'my.opspec.json': customSpec({ domain: 'org.test', opType: 'Plug', tests: errors.map((_, i) => `e${i}.json`) }), 'kernel.wasm': kernel }
    errors.forEach((error, i) => {
      files[`e${i}.json`] = JSON.stringify({ kind: 'opspec.evidence', version: '1', description: 'an error', inputs: [{ type: 'tensor(float)', shape: [1], data: [1] }], expect_error: error })
    })
    return withEnv(() => {}, async env => (await env.test(files)).tests.map(({ status }) => status))
  }
  it('gets one that a plug-in means', async () => {
    const kernel = buildPlugin(plug('return op_run_fail(ctx, "not today");'))
    assert.deepEqual(await asked(kernel, 'not today', { stage: 'run', contains: 'today' }, 'tomorrow'), ['passed', 'passed', 'failed'])
  })
  it('takes no trap for it, and no call after one', async () => {
    const run = buildPlugin(plug('__builtin_trap();'))
    assert.deepEqual(await asked(run, 'unreachable', 'unreachable', 'earlier call'), ['failed', 'failed', 'failed'])
    const infer = buildPlugin(plug('').replace('op_infer_copy(ctx, 0, 0);', '(void)ctx; __builtin_trap();'))
    assert.deepEqual(await asked(infer, { stage: 'infer', contains: 'unreachable' }, { stage: 'infer', contains: 'earlier call' }, 'unreachable'), ['failed', 'failed', 'failed'])
  })
})

describe('a kernel that cannot start', { skip }, () => {
  const tell = (kernel, given = { x }) => withEnv(env => env.registerOperator(document, kernel), async env => {
    const session = await env.createSession(model())
    const messages = []
    for (let i = 0; i < 2; i++) await session.run(given).catch(({ code, message }) => messages.push(`${code} ${message}`))
    return messages
  })
  const shaped = (dims, flags) => buildPlugin(plug('').replace('op_infer_copy(ctx, 0, 0);', `const int64_t dims[] = {${dims}}; op_infer_set_type(ctx, 0, op_infer_type(ctx, 0)); op_infer_set_shape(ctx, 0, ${dims.length}, dims);`), flags)
  it('as its output is too large: it is not called, and the size is told', async () => {
    const told = await tell(shaped([2 ** 40]))
    assert.equal(told.length, 2)
    for (const message of told) assert.match(message, /^limit Plug: there is no memory for output 0, tensor\(float\) \[1099511627776\]$/)
  })
  it('as the plug-in has no memory for it', async () => {
    const told = await tell(shaped([2 ** 22], ['-Wl,--max-memory=1048576']))
    assert.equal(told.length, 2)
    for (const message of told) assert.match(message, /^\w+ Plug: the plug-in has no memory for output 0, tensor\(float\) \[4194304\]$/)
  })
  it('as its create fails or traps: the operator is named', async () => {
    const create = body => buildPlugin(plug('', { before: `static os_status create(op_create *ctx, void *state) { (void)state; ${body} }` }).replace('.compute = compute', '.compute = compute, .create = create, .state_size = 8'))
    assert.deepEqual(await tell(create('return op_create_fail(ctx, "c");')), ['operator_failed Plug: c', 'operator_failed Plug: c'])
    assert.match((await tell(create('(void)ctx; __builtin_trap();')))[0], /^operator_failed Plug: .*unreachable/)
    assert.deepEqual(await tell({ create() { throw new Error('c') }, compute: ([x]) => [x] }), ['operator_failed Plug: c', 'operator_failed Plug: c'])
  })
})

describe('an awkward operator written three ways', () => {
  let expected
  before(async () => { expected = await withEnv(env => env.registerOperator(pickDocument, pickKernel), runPick) })
  it('JavaScript', () => {
    assert.deepEqual(expected.filter((_, i) => i % 2 === 0), [
      { kept: [['a', '']], counts: [2] },
      { kept: [['ö'], [], []], counts: [1] },
      { kept: [[''], []], counts: [1] },
      { code: 'operator_failed', why: true }
    ])
  })
  it('a row linked into the build', { skip: noRows }, async () => {
    assert.deepEqual(await withEnv(env => env.registerOperator(pickDocument), runPick, { wasm: rows }), expected)
  })
  it('the row in a plug-in', { skip }, async () => {
    assert.deepEqual(await withEnv(env => env.registerOperator(pickDocument, buildPlugin('pick_plugin.c')), runPick), expected)
  })
})

const document = customSpec({ domain: 'org.test', opType: 'Plug' })
const model = (version = 1) => onnx.model({
  opsets: { '': 21, 'org.test': version }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])],
  nodes: [onnx.node('Plug', ['x'], ['y'], {}, { domain: 'org.test' })]
})
const x = new Tensor('float32', [1, -2, 3])

async function runOnce (env, bytes = model()) {
  const session = await env.createSession(bytes)
  try {
    return [...(await session.run({ x })).y.data]
  } finally {
    session.dispose()
  }
}

describe('maps and sparse tensors in a row', { skip: noRows }, () => {
  const text = (name, cardinality, label) => ({ name, cardinality, type_parameter: label, description: name })
  const document = JSON.stringify({
    ...JSON.parse(customSpec({ domain: 'org.test', opType: 'Tally' })),
    inputs: [text('Words', 'single', 'S'), text('Known', 'optional', 'M')], outputs: [text('Counts', 'single', 'M'), text('Places', 'optional', 'P')],
    type_parameters: Object.fromEntries([['S', 'tensor(string)'], ['M', 'map(string, tensor(int64))'], ['P', 'sparse_tensor(int64)']].map(([label, type]) => [label, { allowed_types: [type], description: type }])),
    attributes: { descending: { kind: 'int', required: false, default: 0, allowed_values: null, description: 'Keys the wrong way round.' } }
  })
  const tally = (inputs, outputs, attributes = {}) => onnx.model({
    opsets: { '': 21, 'org.test': 1 }, inputs: [onnx.value('w', 'string', ['N'])], outputs: [], nodes: [...inputs, onnx.node('Tally', inputs.length === 0 ? ['w'] : ['w', 'known'], outputs, attributes, { domain: 'org.test' })]
  })
  const feeds = { w: new Tensor('string', ['bb', 'a', 'ccc', 'a']) }
  const run = (model, outputs, given = feeds) => withEnv(env => env.registerOperator(document), async env => (await env.createSession(model)).run(given, { outputs }), { wasm: rows })
  it('are made', async () => {
    const { c, p } = await run(tally([], ['c', 'p']), ['c', 'p'])
    assert.deepEqual([...c], [['a', 2n], ['bb', 1n], ['ccc', 1n]])
    assert.deepEqual([p.dims, [...p.values.data], [...p.indices.data]], [[1000], [2n, 1n, 1n], [1n, 2n, 3n]])
  })
  it('are read', async () => {
    const { c } = await run(tally([onnx.node('Tally', ['w'], ['known'], {}, { domain: 'org.test' })], ['c']), ['c'])
    assert.deepEqual([...c], [['a', 4n], ['bb', 2n], ['ccc', 2n]])
  })
  it('have keys that ascend', async () => {
    await assert.rejects(run(tally([], ['c'], { descending: 1n }), ['c']), { code: 'operator_failed', message: /keys of a map must ascend, each once/ })
    const { c } = await run(tally([], ['c']), ['c'], { w: new Tensor('string', []) })
    assert.equal(c.size, 0)
  })
})

describe('documents and operators', { skip }, () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  it('are matched by domain, name and since version, and the rest is listed', async () => {
    const plugin = buildPlugin(plug('', {
      register: 'static op_row more[4]; for (int i = 0; i < 4; i++) { more[i] = row; more[i].since = 3; }' +
        'more[1].op_type = "Bare"; more[2].op_type = "Mul"; more[2].domain = ""; more[2].since = 14; more[3].domain = "org.else";' +
        'op_plugin_add(registry, &row, NULL); for (int i = 0; i < 4; i++) op_plugin_add(registry, &more[i], NULL); return OS_OK;'
    }))
    const second = customSpec({ domain: 'org.test', opType: 'Plug' }).replace('"version":"1"', '"version":"2"')
    const registration = await env.loadPlugin(plugin, { documents: [document, second, customSpec({ domain: 'org.test', opType: 'Lost' })] })
    assert.deepEqual(registration.operators, ['org.test.Plug', 'org.test.Plug', 'Mul'])
    assert.deepEqual(registration.unmatched, {
      documents: ['org.test.Lost (version 1)'],
      operators: ['org.test.Plug (version 3)', 'org.test.Bare (version 3)', 'org.else.Plug (version 3)']
    })
    assert.deepEqual(await runOnce(env, model(2)), [2, -4, 6])
    registration.dispose()
    await assert.rejects(runOnce(env), { code: 'unsupported' })
    assert.throws(() => env.registerOperator(customSpec({ domain: 'org.test', opType: 'Lost' }), plugin), { code: 'invalid_argument', message: /no operator org\.test\.Lost.*it has org\.test\.Plug/ })
  })

  it('a refusal carries the rule that is broken', () => {
    const rulesOf = act => {
      try {
        act()
      } catch ({ findings = [] }) {
        return findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)
      }
    }
    const bytes = buildPlugin(plug(''))
    const first = env.registerOperator(document, bytes)
    assert.deepEqual(rulesOf(() => env.registerOperator(document, bytes)), ['spec.bundle.conflict'])
    first.dispose()
    env.registerOperator(document, bytes).dispose()
    assert.deepEqual(rulesOf(() => env.registerOperator([document, document], bytes)), ['spec.bundle.conflict'])
    assert.deepEqual(rulesOf(() => env.registerOperator('{', bytes)), ['json.syntax'])
    assert.ok(rulesOf(() => env.registerOperator({}, bytes)).includes('schema.required'))
    assert.ok(rulesOf(() => env.registerOperator(customSpec({ domain: 'org.test', opType: 'Plug', types: ['tensor(floats)'] }), bytes)).includes('spec.type.element'))
    assert.deepEqual(rulesOf(() => env.registerOperator(document, buildPlugin(plug('', { register: 'op_plugin_add(registry, &row, NULL); return op_plugin_add(registry, &row, NULL);' })))), ['spec.bundle.conflict'])
    assert.deepEqual(rulesOf(() => env.registerOperator(document, onnx.functionProto({ domain: 'org.test', name: 'Other', inputs: ['X', 'W'], outputs: ['Y'], opsets: { '': 21 }, nodes: [onnx.node('Add', ['X', 'W'], ['Y'])] }))), ['spec.bundle.function-signature'])
    env.registerOperator(document, bytes).dispose()
  })

  it('operators say what runs them', async () => {
    const named = opType => customSpec({ domain: 'org.test', opType })
    const body = name => onnx.functionProto({ domain: 'org.test', name, inputs: ['X'], outputs: ['Y'], opsets: { '': 21 }, nodes: [onnx.node('Neg', ['X'], ['Y'])] })
    const made = [
      env.registerOperator(document, buildPlugin(plug(''))), await env.loadPlugin(buildPlugin('tilt_roles.c')), env.registerOperator(named('Js'), { compute: inputs => inputs }),
      env.registerOperator(named('Body'), body('Body')), env.registerOperator(named('Bare'))
    ]
    const own = () => Object.fromEntries(env.operators().filter(({ domain }) => domain === 'org.test').map(({ name, source }) => [name, source]))
    assert.deepEqual(own(), { Plug: 'plug-in', Tilt: 'plug-in', Js: 'js', Body: 'function', Bare: 'spec' })
    assert.equal(env.operators().find(({ name }) => name === 'Neg').source, 'onnx')
    for (const registration of made) registration.dispose()
    assert.deepEqual(own(), {})
    // One after the other, in different ways.
    env.registerOperator(document, { compute: inputs => inputs }).dispose()
    const last = env.registerOperator(document)
    assert.deepEqual(own(), { Plug: 'spec' })
    last.dispose()
  })

  it('a plug-in may bring its documents, and --plugin finds them beside it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opspec-cli-'))
    const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
    const command = (...args) => execFileSync(process.execPath, [cli, ...args, '--format', 'json'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    try {
      writeFileSync(join(folder, 'beside.wasm'), buildPlugin(plug('')))
      writeFileSync(join(folder, 'plug.opspec.json'), document)
      writeFileSync(join(folder, 'model.onnx'), model())
      const { outputs } = JSON.parse(command('run', 'model.onnx', '--input', 'x=[1,2]', '--plugin', 'beside.wasm'))
      assert.deepEqual(outputs.y.data, [2, 4])
      rmSync(join(folder, 'plug.opspec.json'))
      const text = JSON.stringify(document)
      writeFileSync(join(folder, 'own.wasm'), buildPlugin(plug('', { register: `return op_plugin_add(registry, &row, ${text});` })))
      assert.equal(JSON.parse(command('check', 'model.onnx', '--plugin', 'own.wasm')).files[0].complete, true)
      assert.throws(() => command('run', 'model.onnx', '--input', 'x=[1,2]', '--plugin', 'beside.wasm'), error => error.status === 2 && /registers no operator/.test(error.stderr))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('plan, scratch, state, attributes of all kinds, symbolic shapes and constants reach a row', async () => {
    const body = `
      typedef struct state { int64_t k; size_t n; } state;
      static os_status create(op_create *ctx, void *memory) {
        state *s = memory; const op_node *node = op_create_node(ctx); size_t count, more;
        const int64_t *is = op_attr_ints(node, "is", &count); const float *fs = op_attr_floats(node, "fs", &more);
        if (count != 2 || is[1] != -5 || more != 1 || fs[0] != 1.5f) return op_create_fail(ctx, "lists: %zu %zu", count, more);
        const os_str *ss = op_attr_strings(node, "ss", &count);
        if (count != 1 || ss[0].len != 2) return op_create_fail(ctx, "strings: %zu", count);
        const op_tensor *t = op_attr_tensor(node, "t");
        if (t == NULL || t->count != 2 || ((const int64_t *)t->data)[1] != 9) return op_create_fail(ctx, "no tensor");
        if (op_attr_string(node, "s", "none").len != 4) return op_create_fail(ctx, "string %.*s", 3, "abcdef");
        s->k = op_attr_int(node, "i", 0); return OS_OK; }
      static os_status plan(op_plan *ctx) { ((state *)op_plan_state(ctx))->n++; op_plan_scratch(ctx, (size_t)op_plan_input(ctx, 0)->count * 4); return OS_OK; }
      static os_status shapes(op_infer *ctx) {
        op_dim dims[2]; size_t count; const op_dim *small = op_infer_small(ctx, 1, &count);
        if (count != 1 || small[0] != 2 || op_infer_value(ctx, 1) == NULL) return op_infer_fail(ctx, OP_FAULT_VALUE, "no constant: %zu", count);
        dims[0] = op_dim_mul(ctx, op_infer_dim(ctx, 0, 0), 1); dims[1] = op_dim_add(ctx, small[0], 1);
        op_infer_set_elem(ctx, 0, OP_FLOAT); op_infer_set_shape(ctx, 0, 2, dims); return OS_OK; }`
    const source = plug('', { before: body })
      .replace('y->count; i++) ((float *)y->data)[i] = 2 * ((const float *)x->data)[i];', 'y->count; i++) { float *s = op_run_scratch(ctx); s[i / 3] = ((const float *)x->data)[i / 3]; state *own = op_run_state(ctx); ((float *)y->data)[i] = s[i / 3] * (float)own->k + (float)own->n; }')
      .replace('.infer = infer,', '.infer = shapes, .create = create, .plan = plan, .state_size = sizeof(state),').replace('static os_status infer', 'os_status infer(op_infer *ctx); os_status infer')
    const spec = JSON.parse(customSpec({ domain: 'org.test', opType: 'Plug', inputs: ['X'] }))
    spec.inputs.push({ name: 'K', cardinality: 'single', type_parameter: 'I', description: 'Columns less one.' })
    spec.type_parameters.I = { allowed_types: ['tensor(int64)'], description: 'Numbers.' }
    for (const [name, kind, value] of [['i', 'int', 3], ['is', 'ints', null], ['fs', 'floats', [1.5]], ['s', 'string', 'four'], ['ss', 'strings', ['ö']], ['t', 'tensor', null]]) {
      spec.attributes[name] = { kind, required: value === null, default: value, allowed_values: null, description: 'One.' }
    }
    const registration = env.registerOperator(spec, buildPlugin(source))
    const bytes = onnx.model({
      opsets: { '': 21, 'org.test': 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N', 3])],
      initializers: [onnx.tensor('k', 'int64', [1], BigInt64Array.of(2n))],
      nodes: [onnx.node('Plug', ['x', 'k'], ['y'], { is: [4n, -5n], t: { tensor: onnx.tensor('', 'int64', [2], BigInt64Array.of(8n, 9n)) } }, { domain: 'org.test' })]
    })
    assert.deepEqual(env.check(bytes).findings.map(({ message }) => message), [])
    const session = await env.createSession(bytes)
    assert.deepEqual([...(await session.run({ x })).y.data], [4, 4, 4, -5, -5, -5, 10, 10, 10])
    assert.deepEqual([...(await session.run({ x })).y.data].slice(0, 2), [4, 4])
    assert.deepEqual([...(await session.run({ x: new Tensor('float32', [1]) })).y.data], [5, 5, 5])
    session.dispose()
    registration.dispose()
  })
})

describe('the registry of MLOperatorAuthor in a plug-in', { skip }, () => {
  it('serves a built-in schema of one version', async () => {
    const env = await createEnv()
    try {
      const registration = await env.loadPlugin(buildPlugin('tilt_roles.c', ['-DBREAK=kernel.domain = ""; kernel.name = "PRelu"; kernel.minimumOperatorSetVersion = 9; static MLOperatorAttributeNameValue v = {"softness", MLOperatorAttributeType_Float, 1, {.floats = &quarter}}; kernel.defaultAttributes = &v; kernel.defaultAttributeCount = 1']))
      assert.deepEqual(registration.operators, ['PRelu', 'org.test.Tilt'])
      const run = async version => {
        const bytes = onnx.model({ opsets: { '': version }, ir: 8, inputs: [onnx.value('x', 'float32', [3]), onnx.value('s', 'float32', [1])], outputs: [onnx.value('y', 'float32', [3])], nodes: [onnx.node('PRelu', ['x', 's'], ['y'])] })
        const session = await env.createSession(bytes)
        const { y } = await session.run({ x: new Tensor('float32', [-4, 0, 4]), s: new Tensor('float32', [2]) })
        session.dispose()
        return [...y.data]
      }
      assert.deepEqual(await run(9), [-4, 0, 4])
      assert.deepEqual(await run(16), [-8, 0, 4])
    } finally {
      env.dispose()
    }
  })
})

describe('hostile plug-ins', { skip }, () => {
  // What the caller sees, at registration or at the run.
  const hostile = {
    'traps': { source: plug('__builtin_trap();'), run: { code: 'operator_failed', message: /unreachable/ } },
    'traps when it is loaded': { source: plug('', { register: '__builtin_trap();' }), load: { code: 'unsupported', message: /unreachable/ } },
    'recurses without end': {
      source: plug('((float *)y->data)[0] = (float)down(1);', { before: 'static int down(int n) { volatile char room[64]; room[n & 63] = (char)n; return n == 0 ? 0 : down(n + 1) + room[n & 63]; }' }),
      run: { code: 'operator_failed' }
    },
    'grows memory to its limit': {
      source: plug('while (__builtin_wasm_memory_grow(0, 256) != SIZE_MAX) {} if (op_run_new_tensor(ctx, OP_UINT8, 1, &(int64_t){1 << 28}) != NULL) return OS_OK; return OS_OUT_OF_MEMORY;'),
      flags: ['-Wl,--max-memory=268435456'], run: { code: 'operator_failed', message: /no memory left/ }
    },
    'plans scratch beyond its memory': {
      source: plug('return op_run_scratch(ctx) == NULL ? OS_OK : op_run_fail(ctx, "got it");', { before: 'static os_status plan(op_plan *ctx) { op_plan_scratch(ctx, 0xfffffff0u); return OS_OK; }' }).replace('.compute = compute}', '.compute = compute, .plan = plan}'),
      run: { code: 'operator_failed', message: /no memory left/ }
    },
    'has a state beyond its memory': { source: plug('').replace('.compute = compute}', '.compute = compute, .state_size = 0xfffffff0u}'), run: { code: 'operator_failed', message: /no memory left for its state/ } },
    'answers data out of its memory': { source: plug('op_value *v = op_run_new_tensor(ctx, OP_FLOAT, 1, x->dims); op_value_edit(v)->data = (void *)0xfffffff0u; op_run_set_output(ctx, 0, v);'), run: { code: 'operator_failed', message: /outside of its memory/ } },
    'answers a value out of its memory': { source: plug('op_run_set_output(ctx, 0, NULL); ctx->outputs[0] = (op_value *)0x7ffffff0u;'), run: { code: 'operator_failed', message: /outside of its memory/ } },
    'answers no value': { source: plug('ctx->outputs[0] = NULL;'), run: { code: 'operator_failed', message: /gave no output 0/ } },
    'lies about the size of a tensor': { source: plug('op_value *v = op_run_new_tensor(ctx, OP_FLOAT, 1, x->dims); op_value_edit(v)->count = 1 << 30; op_run_set_output(ctx, 0, v);'), run: { code: 'operator_failed', message: /says that it has/ } },
    'answers another shape than it inferred': { source: plug('op_run_allocate(ctx, 0, OP_FLOAT, 1, &(int64_t){9});'), run: { code: 'operator_failed', message: /inference said/ } },
    'answers another type': { source: plug('op_run_allocate(ctx, 0, OP_INT64, 1, x->dims);'), run: { code: 'operator_failed', message: /inference said/ } },
    'answers a sequence that holds itself': { source: plug('op_value *s = op_run_new_sequence(ctx, OP_FLOAT); op_value_retain(s); op_sequence_insert(s, 0, s); op_run_set_output(ctx, 0, s);'), run: { code: 'operator_failed', message: /holds a seq\(tensor\(float\)\), and by its type a tensor\(float\)/ } },
    'answers a sequence of another type than its own': { source: plug('op_value *s = op_run_new_sequence(ctx, OP_FLOAT); op_sequence_insert(s, 0, op_run_new_tensor(ctx, OP_INT32, 1, x->dims)); op_run_set_output(ctx, 0, s);'), run: { code: 'operator_failed', message: /holds a tensor\(int32\)/ } },
    'answers a sequence of nothing where a tensor is meant': { source: plug('op_value *s = op_run_new_sequence(ctx, OP_FLOAT); op_run_set_output(ctx, 0, s);'), run: { code: 'operator_failed', message: /output 0 \(Y\) cannot be seq\(tensor\(float\)\)/ } },
    'answers an endless message': { source: plug('ctx->message = (op_plugin__answer){(const char *)16, 0xffffffffu}; return OS_OPERATOR_FAILED;'), run: { code: 'operator_failed' } },
    'infers a rank of a million': { source: plug('').replace('op_infer_copy(ctx, 0, 0);', 'op_infer_copy(ctx, 0, 0); ctx->outputs[0].rank = 1000000;'), session: { message: /rank of 1000000/ } },
    'registers a large text again and again': {
      source: plug('', {
        before: 'static char big[8000000], name[4];',
        register: 'for (int i = 0; i < 8000000; i++) big[i] = 32; for (int i = 0; i < 4000; i++) { name[0] = (char)(65 + i % 26); name[1] = (char)(65 + i / 26 % 26); name[2] = (char)(65 + i / 676); op_plugin__registration r = {.row = &row, .op_type = {name, 3}, .since = 1, .document = {big, 8000000}}; op_plugin__register(registry, &r); } return OS_OK;'
      }),
      load: { code: 'unsupported', message: /more than 33554432 bytes of text/ }
    },
    'answers one large string again and again': {
      source: plug('static char big[8000000]; int64_t n = 100000; op_value *v = op_run_new_tensor(ctx, OP_STRING, 1, &n); for (int64_t i = 0; i < n; i++) ((os_str *)op_value_edit(v)->data)[i] = (os_str){big, sizeof big}; op_value *s = op_run_new_sequence(ctx, OP_STRING); op_sequence_insert(s, 0, v); op_run_set_output(ctx, 0, s);'),
      run: { code: 'operator_failed', message: /more than 268435456 bytes of text/ }
    },
    'answers one large tensor again and again': {
      source: plug('int64_t n = 4000000; op_value *s = op_run_new_sequence(ctx, OP_FLOAT), *v = op_run_new_tensor(ctx, OP_FLOAT, 1, &n); for (int i = 0; i < 100000; i++) { op_value_retain(v); op_sequence_insert(s, (size_t)i, v); } op_run_set_output(ctx, 0, s);'),
      run: { code: 'operator_failed', message: /more than 268435456 bytes at once/ }
    },
    'registers 100,000 operators': { source: plug('', { register: 'static op_row all[100000]; for (int i = 0; i < 100000; i++) { all[i] = row; all[i].since = i + 1; op_plugin_add(registry, &all[i], NULL); } return OS_OK;' }), load: { code: 'unsupported', message: /more than 4096/ } },
    'registers one operator twice': { source: plug('', { register: 'op_plugin_add(registry, &row, NULL); return op_plugin_add(registry, &row, NULL);' }), load: { code: 'unsupported', message: /twice/ } },
    'has names out of its memory': { source: plug('', { register: 'op_plugin__registration r = {.row = &row, .op_type = {(const char *)16, 0x7fffffffu}, .since = 1}; op_plugin__register(registry, &r); return OS_OK;' }), load: { code: 'unsupported', message: /outside of its memory/ } },
    'registers when it is called later': { source: plug('if (op_plugin_add(NULL, &row, NULL) != OS_INVALID_ARGUMENT) __builtin_trap();'), run: null },
    'was built for another version': { source: plug(''), edit: ['OP_PLUGIN_ABI,', '99,'], load: { code: 'unsupported', message: /version 99 of the plug-in interface/ } },
    'has structs of another size': { source: plug(''), edit: ['sizeof(op_tensor),', '40,'], load: { code: 'unsupported', message: /struct tensor has 40 bytes/ } },
    'wants what a host does not have': { source: plug('wanted();', { before: '__attribute__((import_module("env"), import_name("system"))) void wanted(void);' }), load: { code: 'unsupported', message: /env\.system/ } },
    ...Object.fromEntries([['env', 'constructor'], ['opspec', 'hasOwnProperty'], ['wasi_snapshot_preview1', 'valueOf'], ['__proto__', 'toString'], ['constructor', 'freeze'], ['constructor', 'constructor']].map(([space, name]) => [
      `wants ${space}.${name}, which every object of JavaScript has`,
      { source: plug('wanted();', { before: `__attribute__((import_module("${space}"), import_name("${name}"))) void wanted(void);` }), load: { code: 'unsupported', message: new RegExp(`wants ${space}\\.${name}, which a host does not have`) } }
    ])),
    'makes types without end': {
      source: plug('for (int i = 0; i < 6000; i++) { op_type type = OP_FLOAT; for (int bit = 0; bit < 13; bit++) type = op_plugin__type(i >> bit & 1, type); if (type == 0) return op_run_fail(ctx, "no type after %d", i); }'),
      run: { code: 'operator_failed', message: /no type after \d+/ }
    }
  }
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  // `edit` changes a line of the headers, as another version of them would.
  function build ({ source, edit, flags = [] }) {
    if (edit === undefined) return buildPlugin(source, flags)
    const headers = ['plugin_memory.h', 'plugin_rows.h'].map(name => readFileSync(fileURLToPath(new URL(`../../core/include/opspec/${name}`, import.meta.url)), 'utf8')).join('\n')
    const changed = headers.replace('#include <opspec/plugin_memory.h>', '').replace(edit[0], edit[1])
    assert.notEqual(changed, headers)
    return buildPlugin(source.replace('#define OPSPEC_PLUGIN_IMPLEMENTATION', '').replace('#include <opspec/plugin.h>', `#include <opspec/plugin.h>\n${changed}`))
  }

  for (const [name, { load, session, run, ...how }] of Object.entries(hostile)) {
    it(`one that ${name}`, async () => {
      const bytes = build(how)
      const once = async () => {
        if (load !== undefined) return assert.throws(() => env.registerOperator(document, bytes), { name: 'OpspecError', ...load })
        const registration = env.registerOperator(document, bytes)
        try {
          await use()
        } finally {
          registration.dispose()
        }
      }
      const use = async () => {
        if (session !== undefined) {
          const report = env.check(model())
          assert.ok(report.findings.some(({ message }) => session.message.test(message)), JSON.stringify(report.findings))
        } else if (run === null) assert.deepEqual(await runOnce(env), [2, -4, 6])
        else {
          const opened = await env.createSession(model())
          await assert.rejects(opened.run({ x }), { name: 'OpspecError', ...run })
          await assert.rejects(opened.run({ x }), { name: 'OpspecError', code: 'operator_failed' })
          opened.dispose()
        }
      }
      await once()
      const { used } = Env.memoryUsed(env)
      await once()
      await once()
      assert.ok(Env.memoryUsed(env).used <= used, 'memory is back')
      // The Env lives: a good kernel runs.
      const good = env.registerOperator(document, { compute: ([a]) => [{ ...a, data: a.data.map(v => -v) }] })
      assert.deepEqual(await runOnce(env), [-1, 2, -3])
      good.dispose()
    })
  }

  it('a session goes on after its plug-in was taken back, and ends with the Env', async () => {
    const other = await createEnv()
    const registration = other.registerOperator(document, buildPlugin(plug('')))
    const session = await other.createSession(model())
    registration.dispose()
    assert.deepEqual([...(await session.run({ x })).y.data], [2, -4, 6])
    other.dispose()
    await assert.rejects(session.run({ x }), { code: 'invalid_argument' })
  })

  it('one that never returns is ended in a worker, which goes on with what was registered', async () => {
    const worker = await createWorkerEnv()
    try {
      const registration = await worker.registerOperator(document, buildPlugin(plug('while (((const volatile float *)x->data)[0] == 7) {}')))
      assert.deepEqual(registration.operators, ['org.test.Plug'])
      const session = await worker.createSession(model())
      const start = performance.now()
      await assert.rejects(session.run({ x: new Tensor('float32', [7]) }, { timeoutMs: 300 }), { code: 'timeout' })
      assert.ok(performance.now() - start < 5000)
      assert.deepEqual([...(await session.run({ x })).y.data], [2, -4, 6])
      assert.equal((await worker.status()).restarts, 1)
    } finally {
      await worker.dispose()
    }
  })
})
