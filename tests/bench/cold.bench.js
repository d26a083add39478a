// Cold start: a new process that loads the package, a model of one operator, and has its first result; the start of an empty
// process taken off: npm run bench -- cold
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as onnx from '../support/onnx.js'
import { machine, ms, startTimes, table } from './timing.js'

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
  opspec: `${read} import { createEnv, Tensor } from ${entry};
    const env = await createEnv(); const s = await env.createSession(bytes);
    await s.run({ x: new Tensor('float32', Float32Array.of(-1, 0, 1, 2), [4]) }); process.exit(0)`,
  ort: `${read} import * as ort from ${peer}; ort.env.wasm.numThreads = 1;
    const s = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
    await s.run({ x: new ort.Tensor('float32', Float32Array.of(-1, 0, 1, 2), [4]) }); process.exit(0)`
}
machine()
const { empty, opspec, ort } = startTimes(programs)
table(['cold start, first result', 'median'], [
  ['node alone', ms(empty)], ['opspec', ms(opspec)], ['onnxruntime-web', ms(ort)], ['ratio', `1/${(ort / opspec).toFixed(1)}`]
])
rmSync(folder, { recursive: true })
