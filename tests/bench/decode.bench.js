// Decoding a graph of 100,000 nodes against protobufjs: npm run bench -- decode
import protobuf from 'protobufjs'
import { fileURLToPath } from 'node:url'
import { createEnv } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { interleave, machine, ms, table } from './timing.js'

function chain (count) {
  const nodes = []
  for (let i = 0; i < count; i++) {
    nodes.push(onnx.node('LeakyRelu', [`value_of_a_layer_number_${i}`], [`value_of_a_layer_number_${i + 1}`], { alpha: 0.01 },
      { name: `node_of_a_layer_number_${i}` }))
  }
  return onnx.model({
    nodes,
    inputs: [onnx.value('value_of_a_layer_number_0', 'float32', [8])],
    outputs: [onnx.value(`value_of_a_layer_number_${count}`, 'float32', [8])]
  })
}

machine()
const bytes = chain(100_000)
const env = await createEnv()
const before = env.memoryUsed?.() ?? NaN
const model = env.loadModel(bytes)
const used = (env.memoryUsed?.() ?? NaN) - before
model.dispose()
const types = await protobuf.load(fileURLToPath(new URL('../../proto/onnx.proto', import.meta.url))).catch(() => null)
const jobs = { opspec: () => env.loadModel(bytes).dispose() }
const type = types?.lookupType('onnx.ModelProto')
if (type) jobs.protobufjs = () => type.decode(bytes)
const times = await interleave(jobs, { rounds: 5, slice: 100 })
table(['100,000 nodes', 'value'], [
  ['bytes', `${(bytes.length / 1e6).toFixed(1)} MB`],
  ['opspec, decoded and indexed', ms(times.opspec)],
  ['protobufjs, decoded', times.protobufjs === undefined ? 'cannot read the .proto file' : ms(times.protobufjs)],
  ['memory of the model / bytes', Number.isNaN(used) ? 'unknown' : (used / bytes.length).toFixed(2)]
])
env.dispose()
