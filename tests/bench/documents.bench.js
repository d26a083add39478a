// Documents against protobufjs and protobuf-es; what opened models keep in memory; how soon hostile
// documents are answered: npm run bench -- documents
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { denseDocuments } from '../support/dense.js'
import { hostileBytes, hostileTexts } from '../support/hostile-documents.js'
import { writeLargeModel } from '../support/large.js'
import * as onnx from '../support/onnx.js'
import { peers } from '../support/peers.js'
import { chain } from './chain.js'
import { interleave, machine, ms, table } from './timing.js'

// Reads what a node says, of plain objects.
function read (decoded) {
  let sum = 0
  for (const { opType, input, attribute } of decoded.graph.node) sum += opType.length + input.length + (attribute?.length ?? 0)
  return sum
}

const { 'protobufjs 8': type, 'protobuf-es 2': es } = peers('ModelProto')

machine()
const env = await createEnv()
const times = (mine, other) => `${(other / mine).toFixed(1)}x`

const rows = []
for (const count of [25_000, 50_000, 100_000, 200_000]) {
  const bytes = chain(count)
  const t = await interleave({
    load: () => env.loadModel(bytes).dispose(),
    objects: () => read(env.decode(bytes, 'ModelProto')),
    protobufjs: () => read(type.decode(bytes)),
    es: () => read(es.decode(bytes))
  }, { rounds: 5, slice: 50 })
  rows.push([`${count} nodes, ${(bytes.length / 1e6).toFixed(1)} MB`, ms(t.load), times(t.load, t.protobufjs), times(t.load, t.es), ms(t.objects), times(t.objects, t.protobufjs), times(t.objects, t.es), `${(t.objects / count * 1e6).toFixed(0)} ns`])
}
table(['load / decode to objects, every node read', 'loadModel', 'protobufjs', 'protobuf-es', 'env.decode', 'protobufjs', 'protobuf-es', 'a node'], rows)

const weights = onnx.model({
  nodes: [onnx.node('Relu', ['x'], ['y'])], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])],
  initializers: Array.from({ length: 100 }, (_, i) => onnx.tensor(`w${i}`, 'float32', [250_000], new Float32Array(250_000)))
})
const blob = new Blob([weights])
const t = await interleave({
  opspec: () => {
    const model = env.loadModel(weights)
    const { length } = model.toBytes()
    model.dispose()
    return length
  },
  open: async () => {
    const model = await env.open(blob)
    const { size } = await model.toBlob()
    model.dispose()
    return size
  },
  protobufjs: () => type.encode(type.decode(weights)).length,
  es: () => es.encode(es.decode(weights)).length
}, { rounds: 3, slice: 50 })
table(['100 MB of weights, read and written', 'time', 'protobufjs', 'protobuf-es'], [
  ['loadModel, toBytes', ms(t.opspec), times(t.opspec, t.protobufjs), times(t.opspec, t.es)],
  ['open, toBlob', ms(t.open), times(t.open, t.protobufjs), times(t.open, t.es)]
])
env.dispose()

// ---- Memory -----------------------------------------------------------------------------------------------------------

const folder = mkdtempSync(join(tmpdir(), 'opspec-bench-'))
const tensors = (count, field, content) => onnx.model({
  nodes: [onnx.node('Relu', ['x'], ['y'])], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])],
  initializers: Array.from({ length: count }, (_, i) => content(new onnx.Writer().field(1, [250_000]).field(2, field === 6 ? 8 : field === 7 ? 7 : 1).field(8, `w${i}`)).bytes())
})
const single = new onnx.Writer()
for (let i = 0; i < 250_000; i++) single.float(4, i)
const singles = single.bytes()
const kinds = {
  'raw_data, 1 MB each': path => writeLargeModel(path, { inside: 100, elements: 250_000 }),
  'raw_data, 5 kB each': path => writeLargeModel(path, { inside: 20_000, elements: 1250 }),
  'float_data, packed': path => writeFileSync(path, tensors(40, 4, writer => writer.field(4, new Uint8Array(1e6)))),
  'float_data, one by one': path => writeFileSync(path, tensors(20, 4, writer => writer.put(singles))),
  'int64_data': path => writeFileSync(path, tensors(40, 7, writer => writer.field(7, new Uint8Array(1e6).fill(1)))),
  'string_data, 50 bytes each': path => writeFileSync(path, tensors(2, 6, writer => writer.field(6, Array(250_000).fill(new Uint8Array(50).fill(65))))),
  'raw_data of Constant nodes, 1.6 kB each': path => writeLargeModel(path, { inside: 20_000, elements: 400, as: 'constant' }),
  'a graph of 100,000 nodes': path => writeFileSync(path, chain(100_000)),
  'a graph of 200,000 nodes of 24 bytes': path => writeFileSync(path, onnx.model({
    nodes: Array.from({ length: 200_000 }, (_, i) => onnx.node('Relu', [`${100_000 + i}`], [`${100_001 + i}`])), inputs: [onnx.value('100000', 'float32', [1])], outputs: [onnx.value('300000', 'float32', [1])]
  }))
}
const memory = []
for (const [name, write] of Object.entries(kinds)) {
  const path = join(folder, 'model.onnx')
  write(path)
  const size = statSync(path).size
  const own = await createEnv()
  const before = Env.memoryUsed(own).used
  const model = await own.open(path)
  const used = Env.memoryUsed(own).used - before
  model.dispose()
  own.dispose()
  const bar = name.startsWith('a graph') ? 2.5 * size : 0.15 * size + 8e6
  memory.push([name, `${(size / 1e6).toFixed(1)} MB`, `${(used / 1e6).toFixed(2)} MB`, `${(used / size).toFixed(3)}x`, `${(bar / 1e6).toFixed(1)} MB`])
}
rmSync(folder, { recursive: true })
table(['opened, payload', 'size', 'kept', 'kept / size', 'bar'], memory)

// ---- Hostile documents ------------------------------------------------------------------------------------------------

function attempt (job) {
  try {
    return job()
  } catch (error) {
    if (error.code === undefined) throw error
    return ''
  }
}

const answered = []
for (const [name, make] of [...Object.entries(hostileBytes), ...Object.entries(hostileTexts)]) {
  const own = await createEnv()
  const given = make()
  const [size, job] = given instanceof Uint8Array
    ? [given.length, () => own.check(given, { as: 'model' })]
    : [given[1].length, () => attempt(() => own.parse(given[1], 'ModelProto', given[0]))]
  const start = performance.now()
  job()
  const time = performance.now() - start
  answered.push([name, `${size}`, ms(time), ms(time / Math.max(size / 1e6, 0.01)), `${(Env.memoryUsed(own).memory / 1e6).toFixed(0)} MB`])
  own.dispose()
}
table(['hostile', 'bytes', 'answer', 'a MB', 'memory'], answered)

// ---- Very many small things -------------------------------------------------------------------------------------------

// Each call in an Env of its own, whose code the engine has not made fast yet; the slowest ones, in ms per MB that it was given.
const calls = {
  check: (own, bytes) => own.check(bytes, { as: 'model' }),
  loadModel: (own, bytes) => own.loadModel(bytes).dispose(),
  decode: (own, bytes) => own.decode(bytes, 'ModelProto'),
  'to JSON': (own, bytes) => own.format(bytes, 'ModelProto', 'json', { lossy: true }),
  'to text': (own, bytes) => own.format(bytes, 'ModelProto', 'textproto', { lossy: true }),
  'to ONNX syntax': (own, bytes) => own.format(bytes, 'ModelProto', 'onnxtxt', { lossy: true })
}
for (const form of ['json', 'textproto', 'onnxtxt']) calls[`of ${form}`] = (own, text) => own.parse(text, 'ModelProto', form)
const count = 300_000
const slowest = new Map(Object.keys(calls).map(name => [name, []]))
for (const [document, make] of denseDocuments()) {
  const bytes = make(count)
  for (const [name, call] of Object.entries(calls)) {
    const own = await createEnv()
    const form = /^of (.*)/.exec(name)?.[1]
    const given = form === undefined ? bytes : attempt(() => own.format(bytes, 'ModelProto', form, { lossy: true }))
    if (given.length > bytes.length / 2) {
      const start = performance.now()
      attempt(() => call(own, given))
      slowest.get(name).push([(performance.now() - start) / given.length * 1e6, document, Env.memoryUsed(own).memory / bytes.length])
    }
    own.dispose()
  }
}
table([`${count} small things`, 'slowest', 'a MB', 'memory / bytes', 'median'], [...slowest].map(([name, list]) => {
  const [[time, document, times]] = list.sort(([a], [b]) => b - a)
  return [name, document, ms(time), `${times.toFixed(0)}x`, ms(list[list.length >> 1][0])]
}))
