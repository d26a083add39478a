// Kernels and whole models against onnxruntime-web, one thread each, in turn: npm run bench -- kernels
import { readFile } from 'node:fs/promises'
import * as ort from 'onnxruntime-web'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { modelCases, seededFloats } from '../golden/models.js'
import { fetchModel } from '../models.js'
import * as onnx from '../support/onnx.js'
import { interleave, machine, ms, table } from './timing.js'

ort.env.wasm.numThreads = 1
ort.env.logLevel = 'error'

const size = dims => dims.reduce((a, b) => a * b, 1)

/** A model of one node: data input x, other inputs as initializers. */
function single (opType, dims, outputDims, { weights = [], attributes = {}, opset = 17 } = {}) {
  const initializers = weights.map((w, i) => onnx.tensor(`w${i}`, 'float32', w, seededFloats(i + 7, size(w))))
  return {
    bytes: onnx.model({
      ir: 8,
      opsets: { '': opset },
      initializers,
      inputs: [onnx.value('x', 'float32', dims)],
      outputs: [onnx.value('y', 'float32', outputDims)],
      nodes: [onnx.node(opType, ['x', ...weights.map((_, i) => `w${i}`)], ['y'], attributes)]
    }),
    feeds: { x: [dims, seededFloats(1, size(dims))] }
  }
}

const conv = (channels, filters, side, kernel, group = 1) => single('Conv', [1, channels, side, side], [1, filters, side, side], {
  weights: [[filters, channels / group, kernel, kernel], [filters]],
  attributes: { kernel_shape: [BigInt(kernel), BigInt(kernel)], pads: Array(4).fill(BigInt(kernel >> 1)), group: BigInt(group) }
})

async function cases () {
  const list = {
    'MatMul 512': single('MatMul', [512, 512], [512, 512], { weights: [[512, 512]] }),
    'Conv 3x3 64 56x56': conv(64, 64, 56, 3),
    'Conv 1x1 256 28x28': conv(256, 256, 28, 1),
    'Conv depthwise 3x3 128 56x56': conv(128, 128, 56, 3, 128),
    'Softmax 64x4096': single('Softmax', [64, 4096], [64, 4096], { attributes: { axis: -1n } }),
    'Sigmoid 1M': single('Sigmoid', [1024, 1024], [1024, 1024]),
    'Add broadcast 1024x1024': single('Add', [1024, 1024], [1024, 1024], { weights: [[1024]] }),
    'ReduceMean 1024x1024': single('ReduceMean', [1024, 1024], [1024, 1], { attributes: { axes: [-1n], keepdims: 1n }, opset: 13 })
  }
  for (const { name, input, dims } of modelCases) {
    const path = await fetchModel(name)
    if (path !== null) list[`model ${name}`] = { bytes: await readFile(path), feeds: { [input]: [dims, seededFloats(1, size(dims))] } }
  }
  return list
}

machine()
const env = await createEnv()
const rows = []
for (const [name, { bytes, feeds }] of Object.entries(await cases())) {
  const ours = await env.createSession(new Uint8Array(bytes))
  const theirs = await ort.InferenceSession.create(new Uint8Array(bytes), { executionProviders: ['wasm'] })
  const ourFeeds = {}, theirFeeds = {}
  for (const [key, [dims, data]] of Object.entries(feeds)) {
    ourFeeds[key] = new Tensor('float32', data, dims)
    theirFeeds[key] = new ort.Tensor('float32', data, dims)
  }
  const [a] = Object.values(await ours.run(ourFeeds)), [b] = Object.values(await theirs.run(theirFeeds))
  const peak = b.data.reduce((most, v) => Math.max(most, Math.abs(v)), 0)
  const off = b.data.reduce((most, v, i) => Math.max(most, Math.abs(v - a.data[i])), 0) / peak
  const times = await interleave({ opspec: () => ours.run(ourFeeds), ort: () => theirs.run(theirFeeds) }, { rounds: 11, slice: 100 })
  rows.push([name, ms(times.opspec), ms(times.ort), `${(times.ort / times.opspec).toFixed(2)}x`, off.toExponential(1)])
  ours.dispose()
  await theirs.release()
}
table(['one thread, simd128', 'opspec', 'onnxruntime-web', 'speed', 'difference / peak'], rows)
env.dispose()
process.exit(0)
