// opspec new: what it makes is in order, builds with the compiler at hand and passes; what it refuses.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compiler, emcc, skip } from '../support/plugin.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))

describe('opspec new', () => {
  let folder
  before(() => { folder = mkdtempSync(join(tmpdir(), 'opspec-new-')) })
  after(() => rmSync(folder, { recursive: true }))

  const command = (...args) => spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8' })
  function made(...args) {
    const { status, stderr, stdout } = command('new', ...args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  function clean(name) {
    const { stdout, stderr } = command('check', name, '--format', 'json')
    const { files, summary } = JSON.parse(stdout)
    assert.deepEqual(files.flatMap(({ findings }) => findings), [], stderr)
    assert.equal(summary.incomplete, 0)
  }
  function passes(name, backend) {
    const { stdout, stderr, status } = command('test', name, '--format', 'json')
    assert.equal(status, 0, stdout + stderr)
    assert.deepEqual(JSON.parse(stdout).tests.map(test => [test.backend, test.status]), Array.from({ length: 3 }, () => [backend, 'passed']))
  }

  it('js: checks clean and passes', () => {
    assert.match(made('soft-clamp', '--domain', 'com.example'), /operator SoftClamp of com\.example; soft-clamp\S README\.md says|soft-clamp.README\.md says/)
    clean('soft-clamp')
    passes('soft-clamp', 'js')
    assert.match(readFileSync(join(folder, 'soft-clamp/README.md'), 'utf8'), /npx opspec test \./)
  })

  it('c: checks clean, builds as its README says and passes', { skip }, () => {
    made('MyOp', '--domain', 'com.example', '--kernel', 'c')
    clean('my-op')
    const built = spawnSync(process.execPath, [join(folder, 'my-op/src/build.js')], { cwd: join(folder, 'my-op'), encoding: 'utf8', env: { ...process.env, CC: compiler } })
    assert.equal(built.status, 0, built.stderr)
    clean('my-op')
    passes('my-op', 'wasm')
  })

  it('c: builds with Emscripten too', { skip: emcc === undefined && 'no emcc here' }, () => {
    made('emmed', '--domain', 'com.example', '--kernel', 'c')
    const built = spawnSync(process.execPath, [join(folder, 'emmed/src/build.js')], { encoding: 'utf8', env: { ...process.env, CC: emcc } })
    assert.equal(built.status, 0, built.stderr)
    passes('emmed', 'wasm')
  })

  it('c: says what is missing without a compiler, and what is wrong in a source', { skip }, () => {
    made('broken', '--domain', 'com.example', '--kernel', 'c')
    const build = CC => spawnSync(process.execPath, [join(folder, 'broken/src/build.js')], { encoding: 'utf8', env: { ...process.env, CC } })
    const none = build('no-such-compiler')
    assert.equal(none.status, 1)
    assert.match(none.stderr, /none of no-such-compiler is here/)
    writeFileSync(join(folder, 'broken/src/kernel.c'), '#error "not yet"\n')
    assert.match(build(compiler).stderr, /not yet/)
  })

  it('function: checks clean and passes; converting its text makes the same again, and another when it is changed', () => {
    made('halved', '--domain', 'com.example', '--kernel', 'function')
    clean('halved')
    passes('halved', 'function')
    const [text, kernel] = ['src/kernel.onnxtxt', 'kernel.onnx'].map(name => join(folder, 'halved', name))
    const first = readFileSync(kernel)
    const build = () => assert.equal(command('convert', text, '--as', 'function', '--to', 'protobuf', '-o', kernel).status, 0)
    build()
    assert.deepEqual(readFileSync(kernel), first)
    writeFileSync(text, readFileSync(text, 'utf8').replace('Mul (factor, X)', 'Div (X, factor)'))
    build()
    const { stdout, status } = command('test', 'halved')
    assert.equal(status, 1)
    assert.match(stdout, /own-slope\.json.*element/)
  })

  it('tells programs what it made', () => {
    const { folder: where, operator, files } = JSON.parse(made('HTTPCode2', '--domain', 'com.example', '--format', 'json'))
    assert.equal(where, 'http-code2')
    assert.deepEqual(operator, { domain: 'com.example', opType: 'HTTPCode2' })
    assert.deepEqual(files.toSorted(), readdirSync(join(folder, where)).toSorted())
  })

  const refusals = {
    'no name': [[], /one name is needed/],
    'two names': [['a', 'b', '--domain', 'com.example'], /one name is needed/],
    'no domain': [['thing'], /--domain says whose/],
    'a path': [['../thing', '--domain', 'com.example'], /'\.\.\/thing' is no name/],
    'a name that is none': [['__proto__', '--domain', 'com.example'], /is no name/],
    'a name that is too long': [['x'.repeat(65), '--domain', 'com.example'], /is no name/],
    'a domain of the standard': [['thing', '--domain', 'ai.onnx'], /--domain: /],
    'an operator that the standard has': [['relu', '--domain', 'ai.onnx'], /--domain: This is not the operator Relu of ai\.onnx/],
    'an empty domain': [['thing', '--domain', ''], /--domain: /],
    'an unknown kind': [['thing', '--domain', 'com.example', '--kernel', 'rust'], /must be one of js, c, function/],
    'a folder that is there': [['soft-clamp', '--domain', 'com.example'], /soft-clamp is there already; nothing was written/]
  }
  for (const [name, [args, message]] of Object.entries(refusals)) {
    it(`refuses ${name}`, () => {
      const { status, stderr } = command('new', ...args)
      assert.equal(status, 2)
      assert.match(stderr, message)
      for (const none of ['thing', 'relu']) assert.equal(existsSync(join(folder, none)), false)
    })
  }
})
