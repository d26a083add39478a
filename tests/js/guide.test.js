// kernels/README.md, "Write an operator": each of its code blocks is built and run.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readBundle } from '../../wasm/js/node.js'
import { createEnv } from '../../wasm/js/index.js'
import { blocksOf, writeFiles } from '../support/guide.js'
import { compiler, skip } from '../support/plugin.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const blocks = blocksOf(readFileSync(join(root, 'kernels/README.md'), 'utf8'))
const rows = join(process.env.OPSPEC_WASM_BUILD ?? join(root, 'build/wasm-tests'), 'tests/opspec_rows.wasm')
const ways = blocks.filter(({ language, name }) => language === 'sh' && name !== '' && name !== 'all').map(({ name }) => name)
const bundle = blocks.filter(({ language, name }) => language === 'json' && !name.includes('/'))

describe('the guide', () => {
  let folder, environment
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-guide-'))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/opspec'), 'junction')
    // What the commands name: the package's command, and the compiler at hand.
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, 'wasm/js/cli.js')}" "$@"\n`, { mode: 0o755 })
    if (compiler !== undefined) writeFileSync(join(bin, 'clang'), `#!/bin/sh\nexec ${compiler} "$@"\n`, { mode: 0o755 })
    // The package is there already.
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\ntest "$*" = "install opspec"\n', { mode: 0o755 })
    environment = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
    delete environment.CC
    writeFiles(bundle, folder)
    shell('', folder, 1)
    writeFiles(blocks, folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  function shell(name, where, index = 0) {
    const { text } = blocks.filter(block => block.language === 'sh' && block.name === name)[index]
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', text], { cwd: where, env: environment, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    return stdout
  }

  it('has a test for each of its blocks', () => {
    const files = blocks.filter(({ language, name }) => language !== 'sh' && name !== '').map(({ name }) => name.split('/'))
    for (const [way, file] of files) if (file !== undefined) assert.ok(ways.includes(way), `${way} is never run`)
    assert.deepEqual(files.filter(({ length }) => length === 1).map(([name]) => name), ['cap.opspec.json', 'default-rest.json', 'half.json', 'program.mjs', 'cap.c'])
    assert.deepEqual(ways, ['one-line', 'in-full', 'plugin', 'roles'])
    assert.deepEqual(blocks.filter(({ name }) => name === '').map(({ language }) => language), ['sh', 'sh', 'sh'])
  })

  it('says before each block which file it is, or where its commands are run', () => {
    for (const { name, before } of blocks) {
      if (name !== '' && name !== 'all') assert.ok(before.includes(`\`${name}\``), `${name} is named: ${before}`)
    }
  })

  it('makes the folders of its ways, each a bundle without a kernel', () => {
    for (const way of ways) for (const { name, text } of bundle) assert.equal(readFileSync(join(folder, way, name), 'utf8'), text)
  })

  it('the commands at its beginning', () => assert.match(shell('', folder), /3 passed/))

  it('a function', () => assert.match(shell('', folder, 2), /3 passed/))

  it('the program prints what its comments say', () => {
    const printed = execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' }).trim().split('\n')
    const { text } = blocks.find(({ name }) => name === 'program.mjs')
    assert.deepEqual(printed, [...text.matchAll(/console\.log\(.*\)\s*\/\/ (.*)$/gm)].map(match => match[1].trim()))
    assert.equal(printed.length, 3)
  })

  for (const way of ways.filter(name => name !== 'roles')) {
    it(`passes its evidence: ${way}`, { skip: way === 'plugin' && skip }, () => {
      assert.match(shell(way, join(folder, way)), /2 tests: 2 passed/)
    })
  }

  it('the roles register and give the same', { skip }, async () => {
    assert.match(shell('roles', join(folder, 'roles')), /com\.example/)
    cpSync(join(folder, 'roles/cap.wasm'), join(folder, 'roles/kernel.wasm'))
    const { stdout } = spawnSync('npx', ['opspec', 'test', '.'], { cwd: join(folder, 'roles'), env: environment, encoding: 'utf8' })
    assert.match(stdout, /2 tests: 2 passed/)
  })

  it('the row in the build', { skip: !existsSync(rows) && 'the module with linked rows is not built: npm test makes it' }, async () => {
    const env = await createEnv({ wasm: rows })
    const bare = join(folder, 'bare')
    writeFiles(bundle, bare)
    const { tests } = await env.test(await readBundle(bare))
    env.dispose()
    assert.deepEqual(tests.map(({ backend, status }) => `${backend} ${status}`), ['builtin passed', 'builtin passed'])
  })

  it('all kernels agree', { skip }, () => {
    const together = join(folder, 'together')
    writeFiles(bundle, together)
    for (const [way, file] of [['one-line', 'kernel.js'], ['plugin', 'kernel.wasm']]) cpSync(join(folder, way, file), join(together, file))
    const said = shell('all', together)
    for (const backend of ['wasm', 'js']) assert.match(said, new RegExp(`half\\.json \\(${backend}\\)`))
    assert.match(said, /4 tests: 4 passed/)
  })
})
