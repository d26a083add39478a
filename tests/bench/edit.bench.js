// Reading, editing and writing models against protobufjs (7 and 8) and protobuf-es: npm run bench -- edit
import { createEnv } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { peers } from '../support/peers.js'
import { chain } from './chain.js'
import { interleave, machine, ms, table } from './timing.js'

const ratio = (mine, other) => `${(other / mine).toFixed(1)}x`

machine()
const env = await createEnv()
const others = peers('ModelProto')

// What each program does: every node's op_type, inputs and attributes are read, one of a hundred nodes gets another name, all
// is written.
function ours (bytes) {
  const model = env.loadModel(bytes)
  let sum = 0
  const edits = []
  for (const node of model.nodes()) {
    const { opType, inputs, attributes } = node
    sum += opType.length
    for (const input of inputs) sum += input.length
    for (const name in attributes) sum += attributes[name]
    if (node.index % 100 === 0) edits.push({ renameNode: node.index, to: `renamed_${node.index}` })
  }
  model.edit(edits)
  const written = model.toBytes()
  model.dispose()
  return sum + written.length
}

function theirs ({ decode, encode }, bytes) {
  const model = decode(bytes)
  const { node: nodes } = model.graph
  let sum = 0
  for (let i = 0; i < nodes.length; i++) {
    const { opType, input, attribute } = nodes[i]
    sum += opType.length
    for (const name of input) sum += name.length
    for (const { f } of attribute) sum += f
    if (i % 100 === 0) nodes[i].name = `renamed_${i}`
  }
  return sum + encode(model).length
}

const rows = []
for (const count of [25_000, 50_000, 100_000, 200_000]) {
  const bytes = chain(count)
  const jobs = { opspec: () => ours(bytes) }
  for (const [name, peer] of Object.entries(others)) {
    jobs[name] = () => theirs(peer, bytes)
    if (jobs[name]() !== jobs.opspec()) throw new Error(`${name} has read or written something else`)
  }
  const t = await interleave(jobs, { rounds: 5, slice: 50 })
  rows.push([`${count} nodes, ${(bytes.length / 1e6).toFixed(1)} MB`, ms(t.opspec), ...Object.keys(others).map(name => `${ms(t[name])} ${ratio(t.opspec, t[name])}`), `${(t.opspec / count * 1e6).toFixed(0)} ns`])
}
table(['load, read all nodes, rename 1 %, toBytes', 'opspec', ...Object.keys(others), 'a node'], rows)

const objects = []
for (const count of [25_000, 100_000]) {
  const bytes = chain(count)
  const jobs = { opspec: () => env.decode(bytes, 'ModelProto').graph.node.length }
  for (const [name, { decode }] of Object.entries(others)) jobs[name] = () => decode(bytes).graph.node.length
  const t = await interleave(jobs, { rounds: 5, slice: 50 })
  objects.push([`${count} nodes`, ms(t.opspec), ...Object.keys(others).map(name => `${ms(t[name])} ${ratio(t.opspec, t[name])}`)])
}
table(['env.decode to plain objects', 'opspec', ...Object.keys(others)], objects)

const weights = onnx.model({
  nodes: [onnx.node('Relu', ['x'], ['y'], {}, { name: 'only' })], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])],
  initializers: Array.from({ length: 100 }, (_, i) => onnx.tensor(`w${i}`, 'float32', [250_000], new Float32Array(250_000)))
})
function heavy (options) {
  const model = env.loadModel(weights, options)
  model.edit([{ renameNode: 'only', to: 'renamed' }])
  const { length } = model.toBytes()
  model.dispose()
  return length
}
const jobs = { borrowed: () => heavy({ borrow: true }), copied: () => heavy() }
for (const [name, { decode, encode }] of Object.entries(others)) {
  jobs[name] = () => {
    const model = decode(weights)
    model.graph.node[0].name = 'renamed'
    return encode(model).length
  }
}
const t = await interleave(jobs, { rounds: 5, slice: 50 })
table(['100 MB of weights: load, rename, toBytes', 'time', ...Object.keys(others)], ['borrowed', 'copied'].map(name => [name, ms(t[name]), ...Object.keys(others).map(other => ratio(t[name], t[other]))]))
env.dispose()
