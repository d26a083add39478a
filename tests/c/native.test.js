// Each C test program as one test of Node's runner: the native sanitizer build, and the WebAssembly build of those tests
// that ask for it. OPSPEC_NATIVE_BUILD and OPSPEC_WASM_BUILD name other build folders.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'node:test'

const builds = [
  { title: 'C tests under AddressSanitizer and UBSan', variable: 'OPSPEC_NATIVE_BUILD', preset: 'native-san' },
  { title: 'C tests as WebAssembly', variable: 'OPSPEC_WASM_BUILD', preset: 'wasm-tests' }
]

function programs(folder) {
  const listed = execFileSync('ctest', ['--test-dir', folder, '--show-only=json-v1'], { encoding: 'utf8' })
  return JSON.parse(listed).tests
}

function execute([program, ...args], cwd) {
  return new Promise(resolve => {
    execFile(program, args, { cwd, timeout: 300_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ error, output: stdout + stderr })
    })
  })
}

for (const { title, variable, preset } of builds) {
  const folder = process.env[variable] ?? fileURLToPath(new URL(`../../build/${preset}`, import.meta.url))
  if (!existsSync(`${folder}/build.ninja`)) {
    it(title, { skip: `the build ${preset} is not there: npm test makes it` }, () => {})
    continue
  }
  describe(title, { concurrency: availableParallelism() }, () => {
    for (const { name, command, properties } of programs(folder)) {
      const cwd = properties.find(property => property.name === 'WORKING_DIRECTORY')?.value
      it(name, async () => {
        const { error, output } = await execute(command, cwd)
        assert.equal(error, null, output.slice(-20_000))
      })
    }
  })
}
