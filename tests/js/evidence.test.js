// env.test: bundles with kernels of their own, built-in operators, data sets, expected errors, isolation.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'
const floats = (...data) => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = more => JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats(-1, 2)], outputs: [floats(0, 2)], ...more })
const relu = 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] }'

function bundle (tests, { kernel = relu, attributes = {}, types, change = () => {} } = {}) {
  const document = JSON.parse(customSpec({ domain, opType: 'MyRelu', tests: Object.keys(tests), attributes, types }))
  change(document)
  return { 'my.opspec.json': JSON.stringify(document), ...kernel !== null && { 'kernel.js': kernel }, ...tests }
}

describe('env.test', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const statuses = report => report.tests.map(({ status }) => status)
  const single = async (more, options) => (await env.test(bundle({ 'a.json': evidence(more) }, options))).tests[0]

  it('passes and fails', async () => {
    const report = await env.test(bundle({ 'good.json': evidence(), 'bad.json': evidence({ outputs: [floats(0, 3)] }) }))
    assert.deepEqual(statuses(report), ['passed', 'failed'])
    assert.deepEqual(report.summary, { passed: 1, failed: 1, skipped: 0, errors: 0 })
    assert.equal(report.ok, false)
    const [good, bad] = report.tests
    assert.deepEqual([good.path, good.name, good.backend], ['good.json', 'good.json', 'js'])
    assert.ok(good.ms >= 0)
    const [finding] = bad.findings
    assert.equal(finding.rule, 'evidence.value')
    assert.deepEqual([finding.file, finding.pointer, finding.expected, finding.actual], ['bad.json', '/outputs/0/data/1', '3', '2'])
    assert.match(finding.message, /element \[1\] is 2, expected 3; 1 of 2 differ/)
    assert.equal(finding.range.start.line, 1)
  })

  describe('comparison', () => {
    it('types and shapes', async () => {
      assert.match((await single({ outputs: [{ type: 'tensor(float)', shape: [2, 1], data: [0, 2] }] })).message, /shape \[2\], expected \[2, 1\]/)
      const ints = { type: 'tensor(int64)', shape: [2], data: [0, 2] }
      const { status, message } = await single({ outputs: [ints] }, { types: ['tensor(float)', 'tensor(int64)'] })
      assert.notEqual(status, 'passed', message)
    })
    it('booleans by their truth, whatever byte they are', async () => {
      const bool = data => ({ type: 'tensor(bool)', shape: [2], data })
      const same = { kernel: 'export default { compute: ([x]) => [x] }', types: ['tensor(bool)'] }
      const inputs = [bool({ base64: Buffer.of(2, 0).toString('base64') })]
      assert.equal((await single({ inputs, outputs: [bool([true, false])] }, same)).status, 'passed')
      assert.match((await single({ inputs, outputs: [bool([true, true])] }, same)).message, /element \[1\] is false, expected true/)
    })
    it('tolerances: default, own, ULP', async () => {
      assert.equal((await single({ outputs: [floats(0, 2.00001)] })).status, 'passed')
      assert.equal((await single({ outputs: [floats(0, 2.001)] })).status, 'failed')
      assert.equal((await single({ outputs: [floats(0, 2.001)], tolerance: { rtol: 1e-3 } })).status, 'passed')
      assert.equal((await single({ outputs: [floats(0, 2.001)], tolerance: [{ atol: 0.01 }] })).status, 'passed')
      assert.equal((await single({ outputs: [floats(0, 2.0000002384185791)], tolerance: { ulp: 1 } })).status, 'passed')
      assert.equal((await single({ outputs: [floats(0, 2.000000476837158)], tolerance: { ulp: 1 } })).status, 'failed')
    })
    it('NaN, infinities, signed zero', async () => {
      const kernel = 'export default { compute: ([x]) => [x] }'
      const io = data => ({ inputs: [floats(...data)], outputs: [floats(...data)] })
      assert.equal((await single(io(['NaN', 'Infinity', '-Infinity', -0]), { kernel })).status, 'passed')
      const zeros = { inputs: [{ ...floats(0), data: [0] }], outputs: [{ ...floats(0), data: [0] }] }
      const text = JSON.stringify({ kind: 'opspec.evidence', version: '1', ...zeros }).replace(/"data":\[0\]\}\]\}$/, '"data":[-0.0]}]}')
      assert.equal((await env.test(bundle({ 'a.json': text }, { kernel }))).tests[0].status, 'failed')
    })
    it('by shape only', async () => {
      assert.equal((await single({ outputs: [floats(7, 8)], compare: 'shape' })).status, 'passed')
      assert.equal((await single({ outputs: [floats(7)], compare: 'shape' })).status, 'failed')
    })
    it('strings, bools, int64 beyond 2^53, base64', async () => {
      const kernel = 'export default { compute: ([x]) => [x] }'
      const types = ['tensor(string)', 'tensor(bool)', 'tensor(int64)', 'tensor(float)', 'tensor(int4)']
      const values = [
        { type: 'tensor(string)', shape: [2], data: ['ä', ''] }, { type: 'tensor(bool)', shape: [2], data: [true, false] },
        { type: 'tensor(int64)', shape: [2], data: ['9223372036854775807', -5] },
        { type: 'tensor(float)', shape: [1], data: { base64: Buffer.from(Float32Array.of(1.5).buffer).toString('base64') } },
        { type: 'tensor(int4)', shape: [3], data: { base64: Buffer.from([0xf1, 0x08]).toString('base64') } }
      ]
      for (const value of values) {
        const { status, message } = await single({ inputs: [value], outputs: [value] }, { kernel, types })
        assert.equal(status, 'passed', `${value.type}: ${message}`)
      }
      const off = { type: 'tensor(int64)', shape: [2], data: ['9223372036854775806', -5] }
      assert.equal((await single({ inputs: [values[2]], outputs: [off] }, { kernel, types })).status, 'failed')
    })
    it('sequences and optionals', async () => {
      const kernel = 'export default { compute: ([x]) => [x] }'
      const sequence = { type: 'seq(tensor(float))', items: [floats(1), floats(2, 3)] }
      assert.equal((await single({ inputs: [sequence], outputs: [sequence] }, { kernel, types: ['seq(tensor(float))'] })).status, 'passed')
      const optional = { type: 'optional(tensor(float))', value: floats(1, 2) }
      for (const types of [['optional(tensor(float))'], ['tensor(float)', 'optional(tensor(float))']]) {
        assert.equal((await single({ inputs: [optional], outputs: [optional] }, { kernel, types })).status, 'passed', types.join())
      }
      const other = { type: 'seq(tensor(float))', items: [floats(1), floats(2, 4)] }
      assert.match((await single({ inputs: [sequence], outputs: [other] }, { kernel, types: ['seq(tensor(float))'] })).message, /item \[1\]/)
    })
  })

  describe('expected errors', () => {
    const failing = 'export default { compute: (_, __, context) => context.fail("axis 7 is out of range") }'
    const expecting = expect_error => ({ outputs: undefined, expect_error })
    it('of the run', async () => {
      assert.equal((await single(expecting('out of range'), { kernel: failing })).status, 'passed')
      assert.equal((await single(expecting({ stage: 'run', contains: 'axis 7' }), { kernel: failing })).status, 'passed')
      assert.equal((await single(expecting({ stage: 'check', contains: 'axis 7' }), { kernel: failing })).status, 'failed')
      const other = await single(expecting('rank'), { kernel: failing })
      assert.equal(other.status, 'failed')
      assert.equal(other.findings[0].rule, 'evidence.error')
    })
    it('of inference', async () => {
      const kernel = 'export default { inferShapes: (_, __, context) => context.fail("no such rank"), compute: ([x]) => [x] }'
      assert.equal((await single(expecting({ stage: 'infer', contains: 'no such rank' }), { kernel })).status, 'passed')
    })
    it('never a wrong answer of the kernel', async () => {
      for (const answer of ['null', '[]', '[x, x]', '["text"]', '[{ type: "float32", dims: [7], data: new Float32Array(7) }]', '[{ type: "int64", dims: [1], data: new BigInt64Array(1) }]', '[{ type: "float32", dims: [3], data: [1] }]', '5']) {
        const { status, message } = await single(expecting({ stage: 'run', contains: '' }), { kernel: `export default { inferShapes: ([x]) => [x], compute: ([x]) => (${answer}) }` })
        assert.equal(status, 'failed', answer)
        assert.match(message, /by a fault of the kernel/, answer)
      }
      const { status } = await single(expecting({ stage: 'infer', contains: '' }), { kernel: 'export default { inferShapes: () => 5, compute: ([x]) => [x] }' })
      assert.equal(status, 'failed')
    })
    it('of the check: the evidence may break the signature', async () => {
      const { status, message } = await single({ inputs: [floats(1), floats(2)], ...expecting({ stage: 'check', contains: '' }) })
      assert.equal(status, 'passed', message)
    })
    it('what is no form of evidence is said where it stands, whatever error it expects', async () => {
      const tolerance = { tolerance: { rtol: -1 }, ...expecting('out of range') }
      for (const [evidence, place] of [[expecting({ stage: 'chek' }), '/expect_error/stage'], [expecting({ stage: 'run', contain: 'axis' }), '/expect_error/contain'], [expecting({ contains: 'axis' }), '/expect_error'], [expecting(5), '/expect_error'], [tolerance, '/tolerance/rtol'], [{ inpust: [], ...expecting({ stage: 'check' }) }, '/inpust']]) {
        const { status, message } = await single(evidence, { kernel: failing })
        assert.deepEqual([status, / At (\S+)$/.exec(message)?.[1]], ['error', place], message)
      }
    })
    it('a value in place of an error is a failure', async () => {
      const { status, findings } = await single(expecting('anything'))
      assert.equal(status, 'failed')
      assert.deepEqual([findings[0].rule, findings[0].pointer], ['evidence.error', '/expect_error'])
    })
    it('an error in place of a value is a failure', async () => {
      const { status, findings } = await single({}, { kernel: failing })
      assert.equal(status, 'failed')
      assert.equal(findings[0].rule, 'evidence.error')
      assert.match(findings[0].message, /axis 7/)
    })
    it('a fault of the kernel never counts', async () => {
      const kernel = 'export default { compute: () => undefined.axis }'
      const { status, message } = await single(expecting(''), { kernel })
      assert.equal(status, 'failed')
      assert.match(message, /fault of the kernel/)
    })
  })

  it('attributes and their defaults', async () => {
    const attributes = { scale: { kind: 'float', required: false, default: 2, allowed_values: null, description: 'Factor.' } }
    const kernel = 'export default { compute: ([x], { scale }) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v * scale) }] }'
    assert.equal((await single({ outputs: [floats(-2, 4)] }, { attributes, kernel })).status, 'passed')
    assert.equal((await single({ attributes: { scale: 3 }, outputs: [floats(-3, 6)] }, { attributes, kernel })).status, 'passed')
    assert.equal((await single({ attributes: { other: 3 } }, { attributes, kernel })).status, 'error')
  })

  it('a kernel that differs from run to run is warned of', async () => {
    const kernel = 'let n = 0; export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v + 1e-6 * n++ : 0) }] }'
    const { status, findings } = await single({}, { kernel })
    assert.equal(status, 'passed')
    assert.deepEqual(findings.map(({ rule, severity }) => [rule, severity]), [['evidence.nondeterministic', 'warning']])
    const honest = await single({}, { kernel, change: document => { document.nondeterminism = 'Sums may vary.' } })
    assert.equal(honest.findings, undefined)
  })

  it('asynchronous kernels', async () => {
    const kernel = 'export default { compute: async ([x]) => { await null; return [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] } }'
    assert.equal((await single({}, { kernel })).status, 'passed')
  })

  describe('isolation', () => {
    const tries = async body => (await single({}, { kernel: `export default { compute ([x]) { ${body}; return [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] } }` }))
    it('nothing of Node is there', async () => {
      for (const name of ['process', 'require', 'fetch', 'Buffer', 'global', 'WebSocket', 'navigator']) {
        assert.equal((await tries(`if (typeof ${name} !== 'undefined') throw new Error('${name} is there')`)).status, 'passed', name)
      }
    })
    it('no code from strings, from neither side', async () => {
      for (const code of ['eval("1")', 'new Function("return 1")()', 'x.data.constructor.constructor("return process")()', 'setTimeout.constructor("return process")()', 'TextDecoder.constructor("return process")()']) {
        assert.notEqual((await tries(code)).status, 'passed', code)
      }
    })
    it('no import', async () => {
      const fixed = await single({}, { kernel: `import fs from 'node:fs'\n${relu}` })
      assert.equal(fixed.status, 'error')
      assert.match(fixed.message, /cannot import "node:fs"/)
      const dynamic = await single({}, { kernel: 'export default { compute: async ([x]) => { await import("node:fs"); return [x] } }' })
      assert.notEqual(dynamic.status, 'passed')
    })
    it('an endless loop is one error; the other tests run', async () => {
      const kernel = 'export default { compute ([x]) { while (x.data[0] === 5); return [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] } }'
      const files = bundle({ 'a.json': evidence(), 'b.json': evidence({ inputs: [floats(5, 2)] }), 'c.json': evidence() }, { kernel })
      const report = await env.test(files, { timeoutMs: 1500 })
      assert.deepEqual(statuses(report), ['passed', 'error', 'passed'])
      assert.match(report.tests[1].message, /time limit/)
    })
    it('a signal ends it', async () => {
      const kernel = 'export default { compute () { for (;;); } }'
      const controller = new AbortController()
      setTimeout(() => controller.abort(), 300)
      await assert.rejects(env.test(bundle({ 'a.json': evidence() }, { kernel }), { signal: controller.signal }), { code: 'aborted' })
    })
    it('a kernel that does not load is an error of each test', async () => {
      const { status, message } = await single({}, { kernel: 'export default {' })
      assert.equal(status, 'error')
      assert.match(message, /^kernel\.js/)
      assert.match((await single({}, { kernel: 'export const x = 1' })).message, /default export/)
    })
    it('what the host does, when it brings its own', async () => {
      const jobs = []
      const own = await createEnv({ isolate: async (job, limits) => { jobs.push([job, limits]); return [{ path: 'a.json', name: 'a.json', backend: 'js', status: 'passed', ms: 1 }] } })
      const report = await own.test(bundle({ 'a.json': evidence() }), { timeoutMs: 77 })
      assert.equal(report.ok, true)
      const [[job, limits]] = jobs
      assert.equal(job.version, 1)
      assert.deepEqual(job.files.map(([name]) => name).sort(), ['a.json', 'kernel.js', 'my.opspec.json'])
      assert.equal(limits.timeoutMs, 77)
      own.dispose()
    })
  })

  describe('without a kernel of its own', () => {
    it('skips an operator that nothing runs', async () => {
      const report = await env.test(bundle({ 'a.json': evidence() }, { kernel: null }))
      assert.deepEqual(statuses(report), ['skipped'])
      assert.equal(report.ok, false)
    })
    it('runs an operator of the standard', async () => {
      const report = await env.test({ 'a.json': evidence({ operator: { domain: '', op_type: 'Relu' } }) })
      assert.deepEqual(report.tests.map(({ status, backend, message }) => [status, backend, message]), [['passed', 'builtin', undefined]])
      assert.equal(report.ok, true)
    })
    it('runs ONNX data sets with their model', async () => {
      const model = onnx.model({ inputs: [onnx.value('x', 'float32', [2])], outputs: [onnx.value('y', 'float32', [2])], nodes: [onnx.node('Relu', ['x'], ['y'])] })
      const set = (input, output) => [env.writeValue(new Tensor('float32', input), 'x'), env.writeValue(new Tensor('float32', output), 'y')]
      const [good, bad] = [set([-1, 2], [0, 2]), set([-1, 2], [0, 3])]
      const files = {
        'model.onnx': model, 'test_data_set_0/input_0.pb': good[0], 'test_data_set_0/output_0.pb': good[1], 'test_data_set_1/input_0.pb': bad[0], 'test_data_set_1/output_0.pb': bad[1]
      }
      const report = await env.test(files)
      assert.deepEqual(report.tests.map(({ name, status }) => [name, status]), [['test_data_set_0', 'passed'], ['test_data_set_1', 'failed']])
    })
  })

  it('evidence that is missing or faulty is an error', async () => {
    const files = bundle({ 'a.json': '{ "kind": "opspec.evidence" }', 'b.json': evidence() })
    delete files['b.json']
    const report = await env.test(files)
    assert.deepEqual(statuses(report), ['error', 'error'])
  })

  it('a faulty document is an error of each test', async () => {
    const report = await env.test(bundle({ 'a.json': evidence() }, { change: document => { delete document.outputs } }))
    assert.equal(report.ok, false)
    assert.ok(report.tests.every(({ status }) => status === 'error') && report.tests.length <= 1)
  })

  it('takes a Map, an object, Blobs', async () => {
    const files = bundle({ 'a.json': evidence() })
    const blobs = new Map(Object.entries(files).map(([name, text]) => [name, new Blob([text])]))
    for (const form of [files, new Map(Object.entries(files)), blobs]) assert.equal((await env.test(form)).ok, true)
  })

  it('names the argument that is wrong', async () => {
    for (const wrong of [undefined, 5, 'text', () => null]) await assert.rejects(env.test(wrong), { code: 'invalid_argument', message: /^bundle/ })
  })
  it('says what is wrong with evidence', async () => {
    const files = { 'my.opspec.json': customSpec({ domain: 'org.test', opType: 'Ev', tests: ['a.json', 'b.json'] }), 'a.json': '{', 'b.json': JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [], outputs: 5 }) }
    const { tests } = await env.test(files)
    assert.match(tests[0].message, /^the evidence itself is faulty: Expected a key/)
    assert.match(tests[1].message, /^the evidence itself is faulty: .* At \/outputs$/)
  })
  it('answers a report for bytes that are no bundle', async () => {
    const { ok, tests, summary } = await env.test(new Uint8Array([1, 2, 3]))
    assert.equal(ok, false)
    assert.deepEqual(summary, { passed: 0, failed: 0, skipped: 0, errors: 1 })
    assert.match(tests[0].message, /not a zip archive/)
  })
})
