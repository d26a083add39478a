// Decoding a graph of 100,000 nodes against protobufjs: npm run bench -- decode
import { readFile } from 'node:fs/promises'
import protobuf from 'protobufjs'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { interleave, machine, ms, table } from './timing.js'

/** A chain of nodes with names as exporters write them, an attribute on each one of `every` (0: on none). */
function chain (count, every) {
  const nodes = []
  for (let i = 0; i < count; i++) {
    const [opType, attributes] = every > 0 && i % every === 0 ? ['LeakyRelu', { alpha: 0.01 }] : ['Sigmoid', {}]
    nodes.push(onnx.node(opType, [`features/block_of_layers/output_${i}`], [`features/block_of_layers/output_${i + 1}`], attributes,
      { name: `features/block_of_layers/node_${i}` }))
  }
  return onnx.model({
    nodes,
    inputs: [onnx.value('features/block_of_layers/output_0', 'float32', [8])],
    outputs: [onnx.value(`features/block_of_layers/output_${count}`, 'float32', [8])]
  })
}

machine()
const env = await createEnv()
// protobufjs cannot find the file that defines protobuf-c's options, and needs none of them.
const text = await readFile(new URL('../../proto/onnx.proto', import.meta.url), 'utf8')
const type = protobuf.parse(text.replace(/^(import|option) .*$/gm, '')).root.lookupType('onnx.ModelProto')
const rows = []
for (const every of [0, 4, 1]) {
  const bytes = chain(100_000, every)
  const before = Env.memoryUsed(env).used
  const model = env.loadModel(bytes)
  const used = Env.memoryUsed(env).used - before
  model.dispose()
  const t = await interleave({ opspec: () => env.loadModel(bytes).dispose(), protobufjs: () => type.decode(bytes) }, { rounds: 5, slice: 100 })
  rows.push([['on no node', 'on all'][every] ?? `on one of ${every}`, `${(bytes.length / 1e6).toFixed(1)} MB`, ms(t.opspec), ms(t.protobufjs), `1/${(t.protobufjs / t.opspec).toFixed(1)}`, `${(used / bytes.length).toFixed(2)}x`])
}
table(['100,000 nodes, attributes', 'size', 'opspec', 'protobufjs', 'ratio', 'memory / size'], rows)
env.dispose()
