// Cold start: a new process that loads the package, a model of one operator, and has its first result; the start of an empty
// process taken off: npm run bench -- cold
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as onnx from '../support/onnx.js'
import { machine, median, ms, table } from './timing.js'

const folder = mkdtempSync(join(tmpdir(), 'opspec-cold-'))
const model = join(folder, 'relu.onnx')
writeFileSync(model, onnx.model({
  ir: 8,
  opsets: { '': 17 },
  inputs: [onnx.value('x', 'float32', [4])],
  outputs: [onnx.value('y', 'float32', [4])],
  nodes: [onnx.node('Relu', ['x'], ['y'])]
}))
const entry = JSON.stringify(fileURLToPath(new URL('../../wasm/js/index.js', import.meta.url)))
const peer = JSON.stringify(import.meta.resolve('onnxruntime-web'))
const read = `import { readFileSync } from 'node:fs'; const bytes = new Uint8Array(readFileSync(${JSON.stringify(model)}));`
const programs = {
  empty: '',
  opspec: `${read} import { createEnv, Tensor } from ${entry};
    const env = await createEnv(); const s = await env.createSession(bytes);
    await s.run({ x: new Tensor('float32', Float32Array.of(-1, 0, 1, 2), [4]) }); process.exit(0)`,
  ort: `${read} import * as ort from ${peer}; ort.env.wasm.numThreads = 1;
    const s = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
    await s.run({ x: new ort.Tensor('float32', Float32Array.of(-1, 0, 1, 2), [4]) }); process.exit(0)`
}
const files = Object.fromEntries(Object.entries(programs).map(([name, text]) => {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, text)
  return [name, file]
}))
machine()
const samples = { empty: [], opspec: [], ort: [] }
for (let round = 0; round < 41; round++) {
  for (const [name, file] of Object.entries(files)) {
    const start = performance.now()
    execFileSync(process.execPath, [file])
    if (round > 0) samples[name].push(performance.now() - start)
  }
}
const base = median(samples.empty), ours = median(samples.opspec) - base, theirs = median(samples.ort) - base
table(['cold start, first result', 'median'], [
  ['node alone', ms(base)], ['opspec', ms(ours)], ['onnxruntime-web', ms(theirs)], ['ratio', `1/${(theirs / ours).toFixed(1)}`]
])
rmSync(folder, { recursive: true })
