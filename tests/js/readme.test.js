// README's examples: the package's code runs and prints what its comments say; the command's lines do what they say.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, describe, it } from 'node:test'
import * as onnx from '../support/onnx.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'opspec-readme-'))
after(() => rmSync(folder, { recursive: true }))

const blocks = language => [...readme.matchAll(new RegExp('^```' + language + '\\n(.*?)^```', 'gms'))].map(match => match[1])
const entry = JSON.stringify(new URL('../../wasm/js/index.js', import.meta.url).href)

describe('README', () => {
  for (const [i, code] of blocks('js').entries()) {
    it(`code block ${i + 1} prints what its comments say`, () => {
      const file = join(folder, `block-${i}.mjs`)
      writeFileSync(file, code.replace(/from 'opspec'/g, `from ${entry}`))
      const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' }).trim().split('\n')
      const said = [...code.matchAll(/console\.log\(.*\)\s*\/\/ (.*)$/gm)].map(match => match[1].trim())
      assert.ok(said.length > 0)
      assert.deepEqual(printed, said)
    })
  }

  writeFileSync(join(folder, 'model.onnx'), onnx.model({
    ir: 8,
    opsets: { '': 17 },
    inputs: [onnx.value('x', 'float32', ['N', 3, 'H', 'W'])],
    outputs: [onnx.value('y', 'float32', ['N', 3, 'H', 'W'])],
    nodes: [onnx.node('Relu', ['x'], ['y'])]
  }))
  writeFileSync(join(folder, 'tensor.pb'), onnx.tensor('t', 'float32', [2], Float32Array.of(1, 2)))
  const lines = blocks('sh').flatMap(block => block.split('\n')).filter(line => line.startsWith('npx opspec ') && !line.includes('playground'))
  for (const line of lines) {
    it(line, () => {
      const words = line.replace(/\s+#.*$/, '').split(/\s+/).slice(2)
        .map(word => /^((model|edited)\.onnx|(tensor|ml)\.pb)$/.test(word) ? join(folder, word) : word)
      const output = execFileSync(process.execPath, [join(root, 'wasm/js/cli.js'), ...words], { cwd: root, encoding: 'utf8' })
      assert.notEqual(output, '')
    })
  }
})
