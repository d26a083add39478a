// opspec check --fix: writes back what is safe to repair, byte for byte as applyFixes would, and reports what is left.
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { applyFixes, createEnv } from '../../wasm/js/index.js'
import { zip } from '../support/zip.js'
import { evidence, spec } from './cases.js'
import { writings } from './writings.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const faults = [['[0, 1, 2]', '[2, 1, 16, 128]'], ['"tensor(bool)"', '"tensor( bool )", "tensor(bool)"'], ['"op_type": "SoftGate"', '"op_type": "Soft-Gate"'], ['["one.json", "two.json"]', '["one.json", "one.json", "two.json",]']]
const faulty = faults.reduce((text, [from, to]) => text.replace(from, () => to), spec)

describe('check --fix', () => {
  let env, home
  before(async () => {
    env = await createEnv()
    home = mkdtempSync(join(tmpdir(), 'opspec-fix-'))
  })
  after(() => {
    env.dispose()
    rmSync(home, { recursive: true, force: true })
  })

  const run = (args, input = '') => new Promise(resolve => {
    const child = execFile(process.execPath, [cli, 'check', ...args], { cwd: home }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr }))
    child.stdin.end(input)
  })
  const put = (name, content) => {
    mkdirSync(join(home, name, '..'), { recursive: true })
    writeFileSync(join(home, name), content)
    return join(home, name)
  }

  function fixedHere(bytes) {
    for (;;) {
      const { content, applied } = applyFixes(bytes, env.check(bytes, { as: 'spec' }).findings.filter(({ fix }) => fix?.safe))
      if (applied === 0) return Buffer.from(bytes)
      bytes = content
    }
  }

  for (const [name, writing] of Object.entries(writings)) {
    it(`writes what applyFixes makes, ${name}`, async () => {
      const bytes = new Uint8Array(Buffer.from(writing(faulty)))
      const path = put(`${name}.opspec.json`, bytes)
      const { code, stdout } = await run(['--fix', '--format', 'json', path])
      assert.deepEqual(readFileSync(path), fixedHere(bytes))
      const [file] = JSON.parse(stdout).files
      assert.ok(file.fixed >= 3, file.fixed)
      assert.equal(file.bytes, statSync(path).size)
      assert.deepEqual(file.findings.filter(({ fix }) => fix?.safe), [])
      assert.deepEqual(file.findings.map(({ rule }) => rule), ['spec.operator.op-type-form'], 'what is not safe stays')
      assert.equal(code, 0)
    })
  }

  it('fixes the files of a bundle, and leaves the others alone', async () => {
    const folder = join(home, 'bundle')
    put('bundle/gate.opspec.json', faulty)
    put('bundle/one.json', evidence.replace(']\n}', '],\n}'))
    put('bundle/two.json', `\uFEFF${evidence}`)
    put('bundle/adapter.py', '\uFEFF#')
    put('bundle/gate.py', '')
    const { stdout } = await run(['--fix', folder])
    assert.match(stdout, /\d+ fixes applied/)
    assert.equal(readFileSync(join(folder, 'gate.opspec.json'), 'utf8'), fixedHere(Buffer.from(faulty)).toString())
    for (const name of ['one.json', 'two.json']) assert.equal(readFileSync(join(folder, name), 'utf8'), evidence, name)
    assert.equal(readFileSync(join(folder, 'adapter.py'), 'utf8'), '\uFEFF#')
  })

  it('writes nothing without --fix, nor where nothing is to be fixed', async () => {
    const path = put('plain.opspec.json', faulty)
    const clean = put('clean.opspec.json', spec)
    const before = statSync(clean).mtimeMs
    await run([path])
    assert.equal(readFileSync(path, 'utf8'), faulty)
    const { code, stdout } = await run(['--fix', clean])
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /applied/)
    assert.equal(statSync(clean).mtimeMs, before)
  })

  it('says that archives and standard input are not written', async () => {
    const archive = put('bundle.zip', zip({ 'gate.opspec.json': faulty, 'one.json': evidence, 'two.json': evidence, 'adapter.py': '', 'gate.py': '' }))
    const bytes = readFileSync(archive)
    assert.match((await run(['--fix', archive])).stderr, /bundle\.zip: not fixed/)
    assert.deepEqual(readFileSync(archive), bytes)
    assert.match((await run(['--fix', '-'], faulty)).stderr, /-: not fixed/)
  })
})
