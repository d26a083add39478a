// The native and the WebAssembly build of the loops give the same bits: bits_main.c prints a digest a loop in both.
// OPSPEC_NATIVE_BUILD and OPSPEC_WASM_BUILD name other build folders.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const folders = {
  native: process.env.OPSPEC_NATIVE_BUILD ?? fileURLToPath(new URL('../../build/native-san', import.meta.url)),
  wasm: process.env.OPSPEC_WASM_BUILD ?? fileURLToPath(new URL('../../build/wasm-tests', import.meta.url))
}

function digests(folder) {
  const listed = execFileSync('ctest', ['--test-dir', folder, '--show-only=json-v1'], { encoding: 'utf8' })
  const test = JSON.parse(listed).tests.find(({ name }) => name === 'math_bits')
  assert.ok(test, `${folder} has no test math_bits`)
  const [program, ...args] = test.command
  const lines = execFileSync(program, args, { encoding: 'utf8' }).trim().split('\n')
  return new Map(lines.filter(line => /^\w+ [0-9a-f]{16}$/.test(line)).map(line => line.split(' ')))
}

const missing = Object.values(folders).filter(folder => !existsSync(`${folder}/build.ninja`))

if (missing.length > 0) {
  it('native and WebAssembly bits', { skip: `no build in ${missing.join(', ')}: npm test makes it` }, () => {})
} else {
  describe('native and WebAssembly bits', () => {
    const native = digests(folders.native)
    const wasm = digests(folders.wasm)
    it('the same loops are there', () => {
      assert.ok(native.size > 300, `${native.size} digests`)
      assert.deepEqual([...wasm.keys()], [...native.keys()])
    })
    it('every digest agrees', () => {
      const different = [...native.keys()].filter(name => native.get(name) !== wasm.get(name))
      assert.deepEqual(different, [])
    })
  })
}
