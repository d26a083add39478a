// Two public networks against what native onnxruntime answered: tests/golden, recorded by tests/golden/record-models.js.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { modelCases, seededFloats } from '../golden/models.js'
import { fetchModel } from '../models.js'
import { tensor } from '../support/onnx.js'

const peak = values => values.reduce((most, v) => Math.max(most, Math.abs(v)), 0)

describe('public models', async () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  for (const { name, input, dims, output } of modelCases) {
    const path = await fetchModel(name)
    const skip = path === null ? `the model ${name} cannot be had` : false
    const golden = JSON.parse(await readFile(new URL(`../golden/${name}.json`, import.meta.url), 'utf8'))
    for (const { seed, dims: expectedDims, data } of golden.cases) {
      it(`${name}, seed ${seed}: within 1e-4 of the peak`, { skip }, async () => {
        const session = await env.createSession(new Uint8Array(await readFile(path)))
        const x = new Tensor('float32', seededFloats(seed, dims.reduce((a, b) => a * b, 1)), dims)
        const result = (await session.run({ [input]: x }))[output]
        assert.deepEqual(result.dims, expectedDims)
        const off = Math.max(...data.map((v, i) => Math.abs(v - result.data[i])))
        assert.ok(off <= 1e-4 * peak(data), `off by ${off}`)
        session.dispose()
      })
    }
    it(`${name}: the command gives the same`, { skip }, async () => {
      const [{ seed, dims: expectedDims, data }] = golden.cases
      const folder = await mkdtemp(join(tmpdir(), 'opspec-models-'))
      const file = join(folder, 'input.pb')
      await writeFile(file, tensor(input, 'float32', dims, seededFloats(seed, dims.reduce((a, b) => a * b, 1))))
      const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
      const { stdout } = await promisify(execFile)(process.execPath, [cli, 'run', path, '--input', `${input}=@${file}`, '--format', 'json'])
      await rm(folder, { recursive: true })
      const result = JSON.parse(stdout).outputs[output]
      assert.deepEqual(result.dims, expectedDims)
      data.forEach((v, i) => assert.ok(Math.abs(v - result.data[i]) <= 1e-4 * peak(data), `element ${i}`))
    })
    it(`${name}: the checker has no error and looks at everything`, { skip }, async () => {
      const report = env.check(new Uint8Array(await readFile(path)))
      assert.deepEqual(report.findings.filter(f => f.severity === 'error'), [])
      assert.equal(report.complete, true, report.incomplete.join('; '))
    })
  }
})
