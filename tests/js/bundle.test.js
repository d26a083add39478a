// Bundles as folders and archives, in Node and in the core; files beside a model.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { readBundle } from '../../wasm/js/node.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const floats = (...data) => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = more => JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats(-1, 2)], outputs: [floats(0, 2)], ...more })
const bundle = {
  'my.opspec.json': customSpec({ domain: 'org.test', opType: 'MyRelu', tests: ['a', 'set', 'data'] }),
  'kernel.js': 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] }',
  'a.json': evidence(),
  'README.md': 'text'
}
const inFolder = files => Object.fromEntries(Object.entries(files).map(([name, content]) => [`my-relu/${name}`, content]))

describe('bundles', () => {
  let env
  let folder
  let full
  before(async () => {
    env = await createEnv()
    folder = mkdtempSync(join(tmpdir(), 'opspec-bundle-'))
    const set = {
      'test_data_set_0/input_0.pb': env.writeValue(new Tensor('float32', [-3, 4]), 'x'), 'test_data_set_0/output_0.pb': env.writeValue(new Tensor('float32', [0, 4]), 'y')
    }
    full = { ...bundle, ...Object.fromEntries(Object.entries(set).map(([name, bytes]) => [`set/${name}`, bytes])), 'data.zip': zip(set, { deflate: true }) }
  })
  after(() => {
    env.dispose()
    rmSync(folder, { recursive: true })
  })

  const statuses = report => report.tests.map(({ name, status, message }) => [name, status, message])
  const all = [['a', 'passed', undefined], ['set/test_data_set_0', 'passed', undefined], ['data/test_data_set_0', 'passed', undefined]]

  it('a document by its name alone, and what lies around one further inside', () => {
    const check = files => env.check(files['my.opspec.json'] ?? files['x/my.opspec.json'], { files }).findings.map(({ rule, file }) => [rule, file])
    const inner = { ...bundle, ...Object.fromEntries(Object.entries(bundle).map(([name, content]) => [`inner/${name}`, content])) }
    delete inner['README.md']
    assert.deepEqual(check(inner).filter(([rule]) => rule === 'spec.bundle.unused-file'), [])
    for (const [text, rule] of [['', 'json.syntax'], ['garbage', 'json.syntax'], ['{"kind":"runlocal.operator-extention"}', 'schema.const']]) {
      const path = join(folder, 'named')
      mkdirSync(join(path, 'deep'), { recursive: true })
      writeFileSync(join(path, 'wrong.opspec.json'), text)
      for (const [name, content] of Object.entries(bundle)) writeFileSync(join(path, 'deep', name), content)
      const { status, stdout } = spawnSync(process.execPath, [cli, 'check', '--format', 'json', path], { encoding: 'utf8' })
      const told = JSON.parse(stdout).files.flatMap(({ findings }) => findings).filter(({ file }) => file === 'wrong.opspec.json').map(finding => finding.rule)
      assert.equal(status, 1)
      assert.ok(told.includes(rule), `${text}: ${told}`)
      rmSync(path, { recursive: true })
    }
  })

  it('evidence as a document, a folder and a zip', async () => assert.deepEqual(statuses(await env.test(full)), all))

  for (const deflate of [false, true]) {
    for (const top of [false, true]) {
      it(`as a zip, ${deflate ? 'deflated' : 'stored'}, ${top ? 'in' : 'without'} a folder`, async () => {
        const bytes = zip({ ...top ? inFolder(full) : full, '__MACOSX/x': 'x' }, { deflate })
        assert.deepEqual(statuses(await env.test(bytes)), all)
        assert.deepEqual(statuses(await env.test(new Blob([bytes]))), all)
        const report = env.check(bytes)
        assert.equal(report.kind, 'bundle')
        assert.equal(report.ok, true, JSON.stringify(report.findings))
        writeFileSync(join(folder, 'bundle.zip'), bytes)
        const files = await readBundle(join(folder, 'bundle.zip'))
        assert.deepEqual([...files.keys()].sort(), Object.keys(full).sort())
        assert.deepEqual(new TextDecoder().decode(files.get('a.json')), bundle['a.json'])
      })
    }
  }

  it('a folder, without links and node_modules', async () => {
    const path = join(folder, 'as-folder')
    for (const [name, content] of Object.entries({ ...full, 'node_modules/x.js': 'x', '.git/config': 'x' })) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    symlinkSync('/etc/hostname', join(path, 'link'))
    const files = await readBundle(path)
    assert.deepEqual([...files.keys()].sort(), Object.keys(full).sort())
    assert.deepEqual(statuses(await env.test(files)), all)
    await assert.rejects(readBundle(join(folder, 'none')), { code: 'ENOENT' })
    await assert.rejects(readBundle(5), { code: 'invalid_argument' })
  })

  describe('damaged archives', () => {
    const cases = {
      'cut': zip(bundle).subarray(0, 500),
      'a wrong checksum': zip(bundle, { crc: 1 }),
      'encrypted': zip(bundle, { flags: 1 }),
      'a size that is too small': zip({ 'a.json': 'xxxxxxxxxx'.repeat(100) }, { deflate: true, size: 10 }),
      'a size beyond every limit': zip({ 'a.json': 'x' }, { deflate: true, size: 0xfffffff0 }),
      'only a beginning': Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0)
    }
    for (const [what, bytes] of Object.entries(cases)) {
      it(what, async () => {
        const report = env.check(bytes)
        assert.equal(report.ok, false)
        assert.ok(report.incomplete.length + report.findings.length > 0)
        const { ok, tests } = await env.test(bytes)
        assert.equal(ok, false)
        assert.deepEqual(tests.map(({ status }) => status), ['error'])
        if (what === 'a wrong checksum') return
        writeFileSync(join(folder, 'damaged.zip'), bytes)
        await assert.rejects(readBundle(join(folder, 'damaged.zip')), error => ['malformed', 'limit', 'unsupported'].includes(error.code))
      })
    }
  })

  it('an archive without a file is a bundle without a document', () => {
    assert.equal(env.identify(zip({})).kind, 'zip')
    assert.deepEqual(env.check(zip({})).findings.map(({ rule }) => rule), ['spec.bundle.missing-file'])
  })

  it('a bundle with two documents for one operator conflicts', () => {
    const report = env.check(zip({ 'a/x.json': bundle['my.opspec.json'], 'b/x.json': bundle['my.opspec.json'] }))
    assert.ok(report.findings.some(({ rule }) => rule === 'spec.bundle.conflict'))
  })
})

describe('external data', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const weights = new Uint8Array(Float32Array.of(10, 20).buffer)

  // TensorProto { dims 2, FLOAT, name w, external_data { location }, data_location EXTERNAL }
  const external = location => {
    const text = value => [value.length, ...new TextEncoder().encode(value)]
    const entry = [0x0a, ...text('location'), 0x12, ...text(location)]
    return Uint8Array.of(0x08, 2, 0x10, 1, 0x42, ...text('w'), 0x6a, entry.length, ...entry, 0x70, 1)
  }
  const model = location => onnx.model({
    inputs: [onnx.value('x', 'float32', [2])], outputs: [onnx.value('y', 'float32', [2])], initializers: [external(location)], nodes: [onnx.node('Add', ['x', 'w'], ['y'])]
  })
  const feeds = { x: new Tensor('float32', [1, 2]) }
  const run = async (bytes, files) => {
    const session = await env.createSession(bytes, { files })
    try {
      return [...(await session.run(feeds)).y.data]
    } finally {
      session.dispose()
    }
  }

  it('comes from a Map, an object, a function, Blobs', async () => {
    const bytes = model('w.bin')
    for (const files of [new Map([['w.bin', weights]]), { 'w.bin': weights.buffer }, name => name === 'w.bin' ? weights : null, { 'w.bin': new Blob([weights]) }]) {
      assert.deepEqual(await run(bytes, files), [11, 22])
    }
  })
  it('is asked for when it is needed, through the model', async () => {
    const asked = []
    const loaded = env.loadModel(model('w.bin'), { files: name => { asked.push(name); return weights } })
    assert.equal(loaded.check().ok, true)
    const session = await env.createSession(loaded)
    loaded.dispose()
    assert.deepEqual([...(await session.run(feeds)).y.data], [11, 22])
    assert.ok(asked.every(name => name === 'w.bin') && asked.length > 0)
    session.dispose()
  })
  it('that is missing or cut is said by name', async () => {
    await assert.rejects(run(model('w.bin'), {}), error => /w\.bin/.test(error.message))
    await assert.rejects(run(model('w.bin'), { 'w.bin': weights.subarray(0, 5) }), error => error.code !== 'crashed' && /5|w/.test(error.message))
    assert.equal(env.check(model('w.bin'), { files: {} }).ok, false)
  })
  it('never leads out of the folder', async () => {
    for (const location of ['../w.bin', '/w.bin', 'a/../../w.bin', 'C:\\w.bin']) {
      const asked = []
      const report = env.check(model(location), { files: name => { asked.push(name); return weights } })
      assert.equal(report.ok, false, location)
      assert.deepEqual(asked, [], location)
      await assert.rejects(run(model(location), name => { asked.push(name); return weights }))
      assert.deepEqual(asked, [], location)
    }
    assert.deepEqual(await run(model('w..2.bin'), { 'w..2.bin': weights }), [11, 22])
  })
})
