// What runs an operator in its evidence: kernels of the bundle, one or each, or what is built in.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv } from '../../wasm/js/index.js'
import { tiltDocument, tiltEvidence, tiltFunction } from '../operators/ways.js'
import { buildPlugin, skip } from '../support/plugin.js'

const rows = join(process.env.OPSPEC_WASM_BUILD ?? fileURLToPath(new URL('../../build/wasm-tests', import.meta.url)), 'tests/opspec_rows.wasm')
const noRows = !existsSync(rows) && 'the module with linked rows is not built: npm test makes it'
const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const script = `const place = (dims, out, at) => {
  let [index, step] = [0, 1]
  for (let i = 1; i <= dims.length; i++) {
    if (dims[dims.length - i] !== 1) index += at % out[out.length - i] * step
    step *= dims[dims.length - i]
    at = Math.floor(at / out[out.length - i])
  }
  return index
}
export default {
  compute ([x, s], { softness }) {
    const rank = Math.max(x.dims.length, s.dims.length)
    const dims = Array.from({ length: rank }, (_, i) => { const a = x.dims[i + x.dims.length - rank] ?? 1; return a === 1 ? s.dims[i + s.dims.length - rank] ?? 1 : a })
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1))
    data.forEach((_, i) => { const v = x.data[place(x.dims, dims, i)]; data[i] = v < 0 ? s.data[place(s.dims, dims, i)] * v / (1 + softness * Math.abs(v)) : v })
    return [{ type: 'float32', dims, data }]
  }
}`

function tilt (kernels) {
  const document = { ...JSON.parse(tiltDocument), tests: tiltEvidence.map((_, i) => `case-${i}.json`) }
  const files = { 'tilt.opspec.json': JSON.stringify(document), ...kernels }
  tiltEvidence.forEach((evidence, i) => { files[`case-${i}.json`] = JSON.stringify(evidence) })
  return files
}

const wrong = script.replace('v < 0', 'v < -1e9')

describe('backends', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const results = async (files, options) => (await env.test(files, options)).tests.map(({ backend, status }) => `${backend} ${status}`)
  const each = (...words) => words.flatMap(word => tiltEvidence.map(() => word))

  it('auto takes a function where there is no code, here and without isolation', async () => {
    const own = await createEnv({ isolate: () => assert.fail('nothing to isolate') })
    const { tests } = await own.test(tilt({ 'kernel.onnx': tiltFunction }))
    assert.deepEqual(tests.map(({ backend, status }) => `${backend} ${status}`), each('function passed'))
    own.dispose()
  })

  it('auto takes kernel.js before kernel.onnx, and one can be chosen', async () => {
    const files = tilt({ 'kernel.js': wrong, 'kernel.onnx': tiltFunction })
    assert.ok((await results(files)).includes('js failed'))
    assert.deepEqual(await results(files, { backend: 'function' }), each('function passed'))
    assert.ok((await results(files, { backend: 'js' })).includes('js failed'))
    const { tests } = await env.test(files, { backend: 'wasm' })
    assert.ok(tests.every(({ status, message }) => status === 'skipped' && message === 'the bundle has no kernel.wasm'))
    assert.deepEqual(await results(files, { backend: 'builtin' }), each('builtin skipped'))
  })

  it('all runs each, a result each', { skip }, async () => {
    const files = tilt({ 'kernel.js': script, 'kernel.onnx': tiltFunction, 'kernel.wasm': buildPlugin('tilt_plugin.c') })
    assert.deepEqual(await results(files, { backend: 'all' }), each('wasm passed', 'js passed', 'function passed'))
    assert.deepEqual(await results(files), each('wasm passed'))
  })

  it('all counts a built-in operator too, beside a kernel', { skip: noRows }, async () => {
    const linked = await createEnv({ wasm: rows })
    const got = async (kernels, backend) => (await linked.test(tilt(kernels), { backend })).tests.map(({ backend, status }) => `${backend} ${status}`)
    assert.deepEqual(await got({ 'kernel.onnx': tiltFunction }, 'all'), each('function passed', 'builtin passed'))
    assert.deepEqual(await got({ 'kernel.onnx': tiltFunction }, 'auto'), each('function passed'))
    assert.deepEqual(await got({}, 'all'), each('builtin passed'))
    linked.dispose()
    assert.deepEqual(await results(tilt({}), { backend: 'all' }), each('builtin skipped'))
  })

  it('a case that never ends costs its own result only, in whichever pass', async () => {
    const endless = script.replace('data.forEach', 'while (softness === 1); data.forEach')
    const got = await results(tilt({ 'kernel.js': endless, 'kernel.onnx': tiltFunction }), { backend: 'all', timeoutMs: 1500 })
    assert.deepEqual(got, ['js passed', 'js error', 'js passed', 'js passed', ...each('function passed')])
  })

  it('a function that does not fit is an error of each case, with its place', async () => {
    const document = JSON.parse(tiltDocument)
    document.attributes = {}
    const files = tilt({ 'kernel.onnx': tiltFunction })
    files['tilt.opspec.json'] = JSON.stringify({ ...document, tests: ['case-0.json'] })
    const { tests: [test] } = await env.test(files)
    assert.equal(test.status, 'error')
    assert.match(test.message, /^kernel\.onnx: .*no attribute "softness" \(attribute\[0\]\)$/)
    const { tests: [broken] } = await env.test(tilt({ 'kernel.onnx': Uint8Array.of(1, 2) }))
    assert.match(broken.message, /^kernel\.onnx: /)
    assert.ok(broken.findings.length > 0)
  })

  it('says what is no backend', async () => {
    await assert.rejects(env.test(tilt({}), { backend: 'cuda' }), { code: 'invalid_argument', message: /auto, builtin, wasm, js, function, all/ })
    await assert.rejects(env.test(tilt({}), { backend: 'reference' }), { code: 'unsupported', message: /not part of this version/ })
  })

  it('opspec test --backend', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opspec-backend-'))
    const command = (...args) => spawnSync(process.execPath, [cli, 'test', folder, ...args], { encoding: 'utf8' })
    try {
      for (const [name, content] of Object.entries(tilt({ 'kernel.js': wrong, 'kernel.onnx': tiltFunction }))) writeFileSync(join(folder, name), content)
      const all = command('--backend', 'all')
      assert.equal(all.status, 1, all.stderr)
      assert.match(all.stdout, /case-0\.json \(js\)/)
      assert.match(all.stdout, /ok +\S*case-0\.json \(function\)/)
      assert.equal(command('--backend', 'function').status, 0)
      const none = command('--backend=wasm')
      assert.equal(none.status, 2)
      assert.match(none.stderr, /nothing was executed/)
      const { tests } = JSON.parse(command('--backend', 'all', '--format', 'json').stdout)
      assert.deepEqual([...new Set(tests.map(({ backend }) => backend))], ['js', 'function'])
      for (const backend of ['reference', 'gpu']) {
        const { status, stderr } = command('--backend', backend)
        assert.equal(status, 2)
        assert.match(stderr, new RegExp(`--backend ${backend}: `))
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
