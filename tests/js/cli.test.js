// The command: what it says, to whom, and its exit codes. Green only if something was looked at.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const domain = 'org.test'

/** Runs the command; { code, stdout, stderr, json }. */
function opspec (args, { input = '', cwd, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { cwd, env: { ...process.env, ...env } })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => { stdout += chunk })
    child.stderr.on('data', chunk => { stderr += chunk })
    child.on('error', reject)
    child.on('close', code => resolve({ code, stdout, stderr, get json () { return JSON.parse(stdout) } }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

const spec = (opType, more) => customSpec({ domain, opType, ...more })
const relu = onnx.model({ inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['x'], ['y'])] })
const custom = onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Mine', ['x'], ['y'], {}, { domain })]
})
const twice = onnx.model({ inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['x'], ['y']), onnx.node('Relu', ['x'], ['y'])] })
const floats = (...data) => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = (input, output) => JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats(...input)], outputs: [floats(...output)] })
const kernel = 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] }'

describe('opspec', () => {
  let folder
  let env
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-cli-'))
    env = await createEnv()
    const put = (name, content) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    put('models/relu.onnx', relu)
    put('twice.onnx', twice)
    put('custom.onnx', custom)
    put('junk.bin', new Uint8Array(50).fill(200))
    put('pointer.onnx', 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n')
    put('broken.opspec.json', '{\n  "kind": "runlocal.operator-extension",\n\t"ä": 1,,\n}\n')
    put('good/mine.json', spec('Mine', { tests: ['a.json'] }))
    put('good/a.json', evidence([-1, 2], [0, 2]))
    put('good/kernel.js', kernel)
    put('failing/mine.json', spec('Mine', { tests: ['a.json', 'b.json'] }))
    put('failing/a.json', evidence([-1, 2], [0, 2]))
    put('failing/b.json', evidence([-1, 2], [0, 3]))
    put('failing/kernel.js', kernel)
    put('nokernel/mine.json', spec('Mine', { tests: ['a.json'] }))
    put('nokernel/a.json', evidence([-1, 2], [0, 2]))
    put('noevidence/mine.json', spec('Mine'))
    put('noevidence/kernel.js', kernel)
    put('others/package.json', '{ "kind": "something" }')
    put('others/notes.txt', 'nothing')
    put('set/model.onnx', relu)
    put('set/test_data_set_0/input_0.pb', env.writeValue(new Tensor('float32', [-1, 2]), 'x'))
    put('set/test_data_set_0/output_0.pb', env.writeValue(new Tensor('float32', [0, 2]), 'y'))
    put('ignored/.gitignore', 'build/\n*.tmp.onnx\n!keep.tmp.onnx\n')
    put('ignored/build/relu.onnx', twice)
    put('ignored/a.tmp.onnx', twice)
    put('ignored/node_modules/x/relu.onnx', twice)
    put('ignored/keep.tmp.onnx', relu)
    symlinkSync(join(folder, 'twice.onnx'), join(folder, 'ignored', 'link.onnx'))
    put('-dash.onnx', relu)
    put('double.json', '{ "a": 1, "a": 2 }')
    put('half.json', '{ "a": 1')
    put('cut.onnx', relu.subarray(0, relu.length - 9))
    put('zero.onnx', '')
    put('mistyped.opspec.json', '{ "kind": "runlocal.operator-extnsion" }')
    put('list.opspec.json', '[]')
    put('kinds.opspec.json', '{ "kind": 1, "kind": "runlocal.operator-extension" }')
    put('latin1.opspec.json', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d))
    mkdirSync(join(folder, 'empty'))
  })
  after(() => {
    env.dispose()
    rmSync(folder, { recursive: true })
  })
  const run = (args, options) => opspec(args, { cwd: folder, ...options })

  describe('exit codes: green only if looked at', () => {
    const table = [
      // what, arguments, exit code, `complete` of the files in JSON (undefined: none)
      ['a good model', ['check', 'models/relu.onnx'], 0, [true]],
      ['a folder', ['check', 'models'], 0, [true]],
      ['a good bundle', ['check', 'good'], 0, [true]],
      ['a faulty model', ['check', 'twice.onnx'], 1, [true]],
      ['a text that is no JSON', ['check', 'broken.opspec.json'], 1, [true]],
      ['no path', ['check'], 2],
      ['an empty folder', ['check', 'empty'], 2, []],
      ['an empty folder that may be', ['check', 'empty', '--allow-empty'], 0, []],
      ['a folder of other files', ['check', 'others'], 2, []],
      ['a mistyped path', ['check', 'modles'], 2, [false]],
      ['a mistyped path beside a good one', ['check', 'modles', 'models/relu.onnx'], 2, [false, true]],
      ['a faulty model beside a mistyped path', ['check', 'twice.onnx', 'modles'], 2, [false, true]],
      ['a named file of unknown kind', ['check', 'junk.bin'], 2, [true]],
      ['a named file of unknown kind that may be', ['check', 'junk.bin', '--ignore-unknown'], 0, []],
      ['a model that was cut', ['check', 'cut.onnx'], 1, [true]],
      ['a model that was cut, ignoring unknown files', ['check', 'cut.onnx', '--ignore-unknown'], 1, [true]],
      ['an empty file that calls itself a model', ['check', 'zero.onnx', '--ignore-unknown'], 1, [true]],
      ['a pointer in place of a model, ignoring unknown files', ['check', 'pointer.onnx', '--ignore-unknown'], 1, [true]],
      ['a document of a mistyped kind', ['check', 'mistyped.opspec.json'], 1, [true]],
      ['a document that is a list', ['check', 'list.opspec.json'], 1, [true]],
      ['a document with two kinds', ['check', 'kinds.opspec.json'], 1, [true]],
      ['a document in no UTF-8', ['check', 'latin1.opspec.json'], 1, [true]],
      ['a JSON text of no kind', ['check', 'double.json'], 2, [true]],
      ['a JSON text of no kind, ignoring unknown files', ['check', 'double.json', '--ignore-unknown'], 0, []],
      ['a JSON text as such', ['check', 'double.json', '--as', 'json'], 0, [true]],
      ['a JSON text with a fault', ['check', 'half.json'], 1, [true]],
      ['a pointer in place of a model', ['check', 'pointer.onnx'], 2, [true]],
      ['an unknown operator', ['check', 'custom.onnx'], 1, [false]],
      ['an unknown operator, never failing', ['check', 'custom.onnx', '--fail-on', 'never'], 0, [false]],
      ['an operator whose document is there', ['check', 'custom.onnx', 'good'], 0, [true, true]],
      ['a model cut by the memory limit', ['check', 'models/relu.onnx', '--max-memory', '1k'], 2],
      ['a faulty model, never failing', ['check', 'twice.onnx', '--fail-on', 'never'], 0, [true]],
      ['tests that pass', ['test', 'good'], 0],
      ['tests that fail', ['test', 'failing'], 1],
      ['tests that fail, never failing', ['test', 'failing', '--fail-on', 'never'], 0],
      ['a data set', ['test', 'set'], 0],
      ['a bundle without a kernel', ['test', 'nokernel'], 2],
      ['a bundle without evidence', ['test', 'noevidence'], 2],
      ['nothing to test', ['test', 'empty'], 2],
      ['nothing to test, which may be', ['test', 'empty', '--allow-empty'], 0],
      ['a model is no bundle', ['test', 'models/relu.onnx'], 2],
      ['a mistyped bundle', ['test', 'godo'], 2],
      ['a run', ['run', 'models/relu.onnx', '--input', 'x=[1]'], 0],
      ['a run of what is no model', ['run', 'junk.bin'], 2],
      ['a run without inputs', ['run', 'models/relu.onnx'], 2],
      ['show', ['show', 'models/relu.onnx'], 0],
      ['show what nobody knows', ['show', 'junk.bin'], 2],
      ['convert', ['convert', 'good/mine.json', '--to', 'canonical'], 0],
      ['convert what has no such form', ['convert', 'double.json', '--to', 'canonical'], 2],
      ['convert a model', ['convert', 'models/relu.onnx', '--to', 'canonical'], 2],
      ['convert without a form', ['convert', 'good/mine.json'], 2],
      ['ops', ['ops'], 0],
      ['an operator', ['ops', 'Relu'], 0],
      ['an unknown operator', ['ops', 'Rleu'], 2],
      ['a rule', ['explain', 'model.node.ssa'], 0],
      ['an unknown rule', ['explain', 'model.node.sas'], 2],
      ['no command', [], 2],
      ['an unknown command', ['chekc', 'models'], 2],
      ['an unknown option', ['check', '--srict', 'models'], 2],
      ['a wrong value', ['check', '--fail-on', 'sometimes', 'models'], 2],
      ['a missing value', ['check', 'models', '--as'], 2]
    ]
    for (const [what, args, code, complete] of table) {
      it(`${code}: ${what}`, async () => {
        const json = complete === undefined ? [] : ['--format', 'json']
        const result = await run([...args, ...json])
        assert.equal(result.code, code, `${result.stdout}\n${result.stderr}`)
        if (complete !== undefined) assert.deepEqual(result.json.files.map(file => file.complete), complete)
        if (code === 2) assert.match(result.stderr, /./)
      })
    }
  })

  describe('check', () => {
    it('prints place, severity, message, rule, the line with a caret, the fix', async () => {
      const { stdout } = await run(['check', 'broken.opspec.json'])
      const [first, line, caret] = stdout.split('\n')
      assert.match(first, /^broken\.opspec\.json:3:9: error: .+ \[json\.syntax\]$/)
      assert.equal(line, '  |  "ä": 1,,')
      assert.equal(caret, `  |${' '.repeat(9)}^`)
    })
    it('names the path inside a protobuf', async () => {
      const { stdout } = await run(['check', 'twice.onnx'])
      assert.match(stdout, /^twice\.onnx: graph\.node\[1\]\.output\[0\]: error: .+ \[model\.node\.ssa\]/m)
      assert.match(stdout, /see twice\.onnx: graph\.node\[0\]/)
    })
    it('has the JSON form of the contract', async () => {
      const { json } = await run(['check', 'models/relu.onnx', 'twice.onnx', '--format', 'json'])
      assert.match(json.version, /^\d+\.\d+\.\d+/)
      assert.match(json.rules, /^\d+\.\d+\.\d+/)
      const [good, bad] = json.files
      assert.deepEqual([good.path, good.kind, good.bytes, good.ok, good.complete, good.findings], ['models/relu.onnx', 'model', relu.length, true, true, []])
      assert.match(good.sha256, /^[0-9a-f]{64}$/)
      assert.equal(bad.ok, false)
      assert.deepEqual(json.summary, { files: 2, errors: bad.findings.length, warnings: 0, infos: 0, incomplete: 0 })
    })
    it('reads standard input', async () => {
      const { code, json } = await run(['check', '-', '--format', 'json'], { input: relu })
      assert.equal(code, 0)
      assert.deepEqual(json.files.map(({ path, kind }) => [path, kind]), [['-', 'model']])
    })
    it('walks folders without links, node_modules and what .gitignore names', async () => {
      const { code, json } = await run(['check', 'ignored', '--format', 'json'])
      assert.deepEqual(json.files.map(({ path }) => path), ['ignored/keep.tmp.onnx'])
      assert.equal(code, 0)
    })
    it('counts the .json files that are none of ours', async () => {
      const { stderr } = await run(['check', 'others'])
      assert.match(stderr, /1 \.json file/)
    })
    it('takes a file that looks like an option after --', async () => {
      assert.equal((await run(['check', '-dash.onnx'])).code, 2)
      assert.equal((await run(['check', '--', '-dash.onnx'])).code, 0)
      assert.equal((await run(['check', './-dash.onnx'])).code, 0)
    })
    it('writes several formats, each where it is told', async () => {
      const { code, stdout } = await run(['check', 'twice.onnx', '--format', 'text', '--format', 'json:out.json', '--format', 'text:out.txt'])
      assert.equal(code, 1)
      assert.match(stdout, /model\.node\.ssa/)
      assert.equal(JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')).summary.errors, 1)
      assert.match(readFileSync(join(folder, 'out.txt'), 'utf8'), /model\.node\.ssa/)
      assert.equal((await run(['check', 'twice.onnx', '--format', 'text', '--format', 'json'])).code, 2)
    })
    it('ends quietly when nobody reads on', async () => {
      const child = spawn(process.execPath, [cli, 'ops'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      child.stdout.destroy()
      let errors = ''
      child.stderr.on('data', text => { errors += text })
      const [code] = await once(child, 'close')
      assert.deepEqual([code, errors], [0, ''])
    })
    it('--quiet leaves out the summary', async () => {
      assert.equal((await run(['check', 'models/relu.onnx', '--quiet'])).stdout, '')
      assert.match((await run(['check', 'models/relu.onnx'])).stdout, /^1 file checked/)
    })
    it('--strict and --fail-on warning', async () => {
      assert.equal((await run(['check', 'double.json', '--as', 'json'])).code, 0)
      assert.equal((await run(['check', 'double.json', '--as', 'json', '--strict'])).code, 1)
      assert.equal((await run(['check', 'double.json', '--as', 'json', '--fail-on', 'warning'])).code, 1)
    })
    it('--no-infer looks less far', async () => {
      const { code } = await run(['check', 'custom.onnx', '--no-infer'])
      assert.equal(code, 0)
    })
    it('never runs code', async () => {
      writeFileSync(join(folder, 'good', 'kernel.js'), `throw new Error('ran')\n${kernel}`)
      assert.equal((await run(['check', 'good'])).code, 0)
      writeFileSync(join(folder, 'good', 'kernel.js'), kernel)
    })
    it('shows no colours but on a terminal', async () => {
      assert.ok(!(await run(['check', 'twice.onnx'])).stdout.includes('\x1b'))
    })
  })

  describe('test', () => {
    it('prints a line a test and has the JSON form of the contract', async () => {
      const { stdout } = await run(['test', 'failing'])
      assert.match(stdout, /^ok +failing\/a\.json$/m)
      assert.match(stdout, /^FAILED +failing\/b\.json: output 0: element \[1\] is 2, expected 3/m)
      assert.match(stdout, /^2 tests: 1 passed, 1 failed$/m)
      const { json } = await run(['test', 'failing', 'set', '--format', 'json'])
      assert.deepEqual(json.summary, { passed: 2, failed: 1, skipped: 0, errors: 0 })
      assert.deepEqual(json.tests.map(({ path, name, backend, status }) => [path, name, backend, status]), [
        ['failing/a.json', 'a.json', 'js', 'passed'], ['failing/b.json', 'b.json', 'js', 'failed'], ['set/test_data_set_0', 'test_data_set_0', 'builtin', 'passed']
      ])
      assert.equal(json.tests[1].findings[0].rule, 'evidence.value')
      assert.ok(json.tests.every(({ ms }) => ms >= 0))
    })
    it('a time limit ends a kernel', async () => {
      cpSync(join(folder, 'good'), join(folder, 'endless'), { recursive: true })
      writeFileSync(join(folder, 'endless', 'kernel.js'), 'export default { compute () { for (;;); } }')
      const { code, stdout } = await run(['test', 'endless', '--timeout', '500ms'])
      assert.equal(code, 1)
      assert.match(stdout, /^ERROR .*time limit/m)
    })
    it('a kernel finds no environment and no files', async () => {
      cpSync(join(folder, 'good'), join(folder, 'nosy'), { recursive: true })
      writeFileSync(join(folder, 'nosy', 'kernel.js'), `if (typeof process !== 'undefined') throw new Error('process')\n${kernel}`)
      assert.equal((await run(['test', 'nosy'], { env: { SECRET: 'x' } })).code, 0)
    })
  })

  describe('run', () => {
    it('takes JSON, evidence form, .pb and .npy', async () => {
      const npy = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), Buffer.from([118, 0]), Buffer.from(`${"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".padEnd(117)}\n`), Buffer.from(Float32Array.of(-1, 2).buffer)])
      writeFileSync(join(folder, 'x.npy'), npy)
      for (const value of ['[-1, 2]', JSON.stringify(floats(-1, 2)), '@set/test_data_set_0/input_0.pb', '@x.npy']) {
        const { code, json, stderr } = await run(['run', 'models/relu.onnx', '--input', `x=${value}`, '--format', 'json'])
        assert.equal(code, 0, stderr)
        assert.deepEqual(json.outputs, { y: { type: 'float32', dims: [2], data: [0, 2] } })
        assert.ok(json.ms >= 0)
      }
    })
    it('takes a data set and random values', async () => {
      assert.deepEqual((await run(['run', 'models/relu.onnx', '--data', 'set/test_data_set_0', '--format', 'json'])).json.outputs.y.data, [0, 2])
      const random = async (...more) => (await run(['run', 'models/relu.onnx', '--format', 'json', ...more])).json.outputs.y
      const a = await random('--input', 'x=random:5', '--seed', '3')
      assert.deepEqual(a.dims, [5])
      assert.deepEqual(await random('--input', 'x=random', '--dim', 'N=5', '--seed', '3'), a)
      assert.notDeepEqual(await random('--input', 'x=random:5', '--seed', '4'), a)
      assert.match((await run(['run', 'models/relu.onnx', '--input', 'x=random'])).stderr, /--dim N/)
    })
    it('prints NaN, infinities and large int64 as strings', async () => {
      writeFileSync(join(folder, 'id.onnx'), onnx.model({
        inputs: [onnx.value('x', 'float32', ['N']), onnx.value('i', 'int64', ['M'])], outputs: [onnx.value('y', 'float32', ['N']), onnx.value('j', 'int64', ['M'])],
        nodes: [onnx.node('Identity', ['x'], ['y']), onnx.node('Identity', ['i'], ['j'])]
      }))
      const { json } = await run(['run', 'id.onnx', '--input', 'x=["NaN","-Infinity",0.1]', '--input', 'i=["9007199254740993",-5]', '--format', 'json'])
      assert.deepEqual(json.outputs.y.data, ['NaN', '-Infinity', 0.1])
      assert.deepEqual(json.outputs.j.data, ['9007199254740993', -5])
    })
    it('gives the outputs that are named, and writes them', async () => {
      const { json } = await run(['run', 'models/relu.onnx', '--input', 'x=[-1]', '--output', 'x', '--format', 'json', '--output-dir', 'results'])
      assert.deepEqual(Object.keys(json.outputs), ['x'])
      assert.deepEqual(env.readValue(readFileSync(join(folder, 'results', 'x.pb')), 'tensor'), new Tensor('float32', [-1]))
    })
    it('splits --input at the first =', async () => {
      assert.match((await run(['run', 'models/relu.onnx', '--input', 'q=a=b'])).stderr, /--input q: the model has no such input; it has x/)
    })
    it('reads the model from standard input', async () => {
      assert.deepEqual((await run(['run', '-', '--input', 'x=[-1]', '--format', 'json'], { input: relu })).json.outputs.y.data, [0])
    })
  })

  describe('show', () => {
    it('a model', async () => {
      const { stdout } = await run(['show', 'models/relu.onnx'])
      assert.match(stdout, /in {2}x: tensor\(float\) \[N\]/)
      const { json } = await run(['show', 'models/relu.onnx', '--format', 'json'])
      assert.deepEqual([json.kind, json.bytes, json.value.graph.node[0].opType], ['model', relu.length, 'Relu'])
    })
    it('a tensor and a document', async () => {
      assert.match((await run(['show', 'set/test_data_set_0/input_0.pb'])).stdout, /x: tensor\(float\) \[2\]: -1, 2/)
      assert.match((await run(['show', 'good/mine.json'])).stdout, /org\.test\.Mine/)
    })
    it('the digest of a spec\'s canonical form', async () => {
      const { json } = await run(['show', 'good/mine.json', '--format', 'json'])
      const text = env.format(readFileSync(join(folder, 'good/mine.json')), 'spec', 'canonical')
      assert.equal(json.canonical.sha256, createHash('sha256').update(text).digest('hex'))
      assert.match((await run(['show', 'good/mine.json'])).stdout, new RegExp(`^canonical sha256 ${json.canonical.sha256}$`, 'm'))
    })
    it('says what a file is that it cannot show', async () => {
      assert.match((await run(['show', 'pointer.onnx'])).stderr, /Git LFS pointer/)
    })
  })

  describe('convert with edits', () => {
    it('writes the edited model', async () => {
      writeFileSync(join(folder, 'chain.onnx'), onnx.model({
        nodes: [onnx.node('Identity', ['x'], ['a'], {}, { name: 'first' }), onnx.node('Constant', [], ['b'], { value_float: 2 }, { name: 'two' }), onnx.node('Add', ['a', 'b'], ['y'], {}, { name: 'last' })],
        inputs: [onnx.value('x', 'float32', [])], outputs: [onnx.value('y', 'float32', [])]
      }))
      writeFileSync(join(folder, 'edits.json'), '[{ "renameNode": "last", "to": "sum" }]')
      const edits = ['--edits', 'edits.json', '--bypass-node', 'first', '--fold', 'two', '--rename-input', 'x=image', '--rename-output', 'y=z', '--rename-value', 'b=c', '--rename-node', 'sum=total', '--metadata', 'a=b=c', '--metadata', 'd=', '--opset', '22', '--opset', 'org.test=1']
      assert.equal((await run(['convert', 'chain.onnx', ...edits, '-o', 'edited.onnx'])).code, 0)
      const { graph, metadataProps, opsetImport } = env.decode(readFileSync(join(folder, 'edited.onnx')), 'ModelProto')
      assert.deepEqual(graph.node, [{ input: ['image', 'c'], output: ['z'], name: 'total', opType: 'Add' }])
      assert.deepEqual([graph.initializer[0].name, metadataProps, opsetImport], ['c', [{ key: 'a', value: 'b=c' }, { key: 'd', value: '' }], [{ domain: '', version: 22n }, { domain: 'org.test', version: 1n }]])
      const { code, stdout } = await run(['convert', 'edited.onnx', '--remove-metadata', 'd', '--opset', 'org.test=none', '--to', 'onnxtxt'])
      assert.equal(code, 0)
      assert.match(stdout, /opset_import: \["" : 22\],\n\s+metadata_props: \["a" : "b=c"\]/)
    })
    it('of a large file, in place', async () => {
      const { writeLargeModel } = await import('../support/large.js')
      const path = join(folder, 'large.onnx')
      const size = writeLargeModel(path, { inside: 2, elements: 10_000_000 })
      const { code, json } = await run(['convert', 'large.onnx', '--rename-input', 'x=image', '--metadata', 'a=b', '-o', 'large.onnx', '--format', 'json'])
      assert.deepEqual([code, json.bytes > size], [0, true])
      const model = await env.open(path)
      assert.deepEqual([model.inputs[0].name, model.nodes().at(0).inputs, model.check().ok], ['image', ['image', 'w0'], true])
      model.dispose()
      rmSync(path)
    })
    it('says what cannot be edited, and writes nothing', async () => {
      for (const [args, message] of [
        [['models/relu.onnx', '--remove-node', 'nobody'], /\{"removeNode":"nobody"\}: there is no node "nobody"/], [['models/relu.onnx', '--rename-input', 'x=y'], /graph\.node\[0\]\.output\[0\].*taken/], [['good/mine.json', '--metadata', 'a=b'], /cannot be/],
        [['models/relu.onnx', '--opset', 'x'], /DOMAIN/], [['models/relu.onnx', '--edits', 'good/mine.json'], /it is no list/]
      ]) {
        const { code, stderr } = await run(['convert', ...args, '-o', 'never.onnx'])
        assert.equal(code, 2)
        assert.match(stderr, message)
      }
      assert.ok(!existsSync(join(folder, 'never.onnx')))
    })
  })
  describe('convert', () => {
    it('writes to standard output or a file', async () => {
      const text = env.format(readFileSync(join(folder, 'good/mine.json')), 'spec', 'canonical')
      assert.equal((await run(['convert', 'good/mine.json', '--to', 'canonical'])).stdout, text)
      const { code, json } = await run(['convert', 'good/mine.json', '--to', 'canonical', '-o', 'canonical.json', '--format', 'json'])
      assert.equal(code, 0)
      assert.equal(readFileSync(join(folder, 'canonical.json'), 'utf8'), text)
      assert.deepEqual(json, { path: 'canonical.json', to: 'canonical', bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') })
    })
    it('keeps numbers as they are written in indented JSON', async () => {
      const { stdout } = await run(['convert', '-', '--to', 'json'], { input: '{"b":[9007199254740993,1e400],"a":{}}' })
      assert.equal(stdout, '{\n  "b": [\n    9007199254740993,\n    1e400\n  ],\n  "a": {}\n}\n')
    })
    it('writes models in each form and reads them again', async () => {
      const bytes = Buffer.from(env.encode(env.decode(readFileSync(join(folder, 'models/relu.onnx')), 'ModelProto'), 'ModelProto'))
      for (const [to, name] of [['json', 'relu.json'], ['textproto', 'relu.textproto'], ['onnxtxt', 'relu.onnxtxt'], ['textproto', 'relu.txt'], ['onnxtxt', 'relu2.txt']]) {
        assert.equal((await run(['convert', 'models/relu.onnx', '--to', to, '-o', name])).code, 0)
        assert.equal((await run(['convert', name, '--to', 'protobuf', '-o', 'again.onnx'])).code, 0, name)
        assert.ok(readFileSync(join(folder, 'again.onnx')).equals(bytes), name)
      }
      assert.match((await run(['convert', '-', '--as', 'TensorProto', '--to', 'json'], { input: 'dims: 2 data_type: 1' })).stdout, /"dims": \["2"\]/)
    })
    it('says what a form cannot hold, and where a text is wrong', async () => {
      writeFileSync(join(folder, 'odd.onnx'), Buffer.concat([readFileSync(join(folder, 'models/relu.onnx')), Buffer.from([0x98, 0x06, 1])]))
      const refused = await run(['convert', 'odd.onnx', '--to', 'json'])
      assert.deepEqual([refused.code, refused.stdout], [2, ''])
      assert.match(refused.stderr, /\[form\.lost\][^]*--lossy/)
      assert.equal((await run(['convert', 'odd.onnx', '--to', 'json', '--lossy'])).code, 0)
      const wrong = await run(['convert', '-', '--to', 'protobuf'], { input: 'ir_version: 8\ngraph { node { opset: 5 } }' })
      assert.equal(wrong.code, 2)
      assert.match(wrong.stderr, /-:2:16 graph\.node\[0\]: NodeProto has no field opset \[form\.field\]/)
    })
    it('says where a document has no such form', async () => {
      const { code, stdout, stderr } = await run(['convert', 'double.json', '--to', 'canonical'])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^opspec: double\.json:1:11: .+ \[json\.duplicate-key\]$/m)
    })
  })

  it('ops suggests a name', async () => assert.match((await run(['ops', 'Rleu'])).stderr, /did you mean 'Relu'/))
  it('explain prints why, good and bad', async () => {
    const { stdout } = await run(['explain', 'json.syntax'])
    assert.match(stdout, /Good:[^]*Bad:[^]*Source:/)
    assert.equal((await run(['explain', 'json.syntax', '--format', 'json'])).json.rule, 'json.syntax')
  })
  it('explain --all is a page of all rules', async () => {
    const { stdout } = await run(['explain', '--all'])
    const { json } = await run(['explain', '--all', '--format', 'json'])
    assert.ok(json.length > 100)
    assert.deepEqual(json.map(({ rule }) => rule).sort(), [...stdout.matchAll(/^### (.*)$/gm)].map(([, rule]) => rule).sort())
    assert.equal((await run(['explain', '--all', 'json.syntax'])).code, 2)
  })
  it('options are suggested', async () => assert.match((await run(['check', '--srict', 'x'])).stderr, /did you mean 'strict'/))
  it('--version and --help', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal((await run(['--version'])).stdout, `${version}\n`)
    assert.equal((await run(['check', '--version'])).stdout, `${version}\n`)
    for (const args of [['--help'], ['check', '--help'], ['run', '-h']]) {
      const { code, stdout } = await run(args)
      assert.equal(code, 0)
      assert.match(stdout, /^usage: opspec/)
    }
  })
  it('playground serves the page on this machine', { skip: !existsSync(new URL('../../web/dist/index.html', import.meta.url)) && 'the page is not built' }, async () => {
    const child = spawn(process.execPath, [cli, 'playground'], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const url = await new Promise(resolve => child.stdout.once('data', chunk => resolve(String(chunk).split('\n')[0])))
      const page = await fetch(url)
      assert.equal(page.status, 200)
      assert.match(await page.text(), /<!doctype html>/i)
      assert.equal((await fetch(`${url}..%2f..%2fpackage.json`)).status, 404)
      assert.equal((await fetch(`${url}none`)).status, 404)
    } finally {
      child.kill()
    }
  })
})
