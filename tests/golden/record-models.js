// Records what native onnxruntime answers for the public models on seeded inputs: node tests/golden/record-models.js
// Installs onnxruntime-node into a temporary folder; writes tests/golden/<model>.json.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchModel } from '../models.js'
import { modelCases, seededFloats } from './models.js'

const folder = mkdtempSync(join(tmpdir(), 'opspec-record-'))
console.error('installing onnxruntime-node into', folder)
execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--ignore-scripts', 'onnxruntime-node@1.30.0'], { stdio: ['ignore', 'ignore', 'inherit'] })
const require = createRequire(join(folder, 'index.js'))
const ort = require('onnxruntime-node')
const version = require('onnxruntime-node/package.json').version

for (const { name, input, dims, output, seeds } of modelCases) {
  const path = await fetchModel(name)
  if (path === null) throw new Error(`the model ${name} cannot be had`)
  const session = await ort.InferenceSession.create(path)
  const cases = []
  for (const seed of seeds) {
    const data = seededFloats(seed, dims.reduce((a, b) => a * b, 1))
    const result = (await session.run({ [input]: new ort.Tensor('float32', data, dims) }))[output]
    cases.push({ seed, dims: result.dims, data: [...result.data] })
  }
  const file = new URL(`./${name}.json`, import.meta.url)
  writeFileSync(file, JSON.stringify({ recorded: { by: 'onnxruntime-node', version }, output, cases }, null, 1) + '\n')
  console.error('wrote', file.pathname)
}
rmSync(folder, { recursive: true })
