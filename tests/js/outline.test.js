// Large models are opened as outlines: what is in long lists is decoded when something asks for it. Nothing else tells the two
// apart, and an outline takes little memory, whatever it is of.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { denseDocuments } from '../support/dense.js'
import * as onnx from '../support/onnx.js'

const write = () => new onnx.Writer()
const values = { inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('c0', 'float32', ['N'])] }
const raw = new Uint8Array(1600).fill(3)
const tensor = (name, data) => data(write().field(1, [400]).field(2, 1).field(8, name)).bytes()
const attribute = (name, number, content, type) => write().field(1, name).field(number, content).field(20, type).bytes()
const constant = (i, data) => write().field(2, `c${i}`).field(4, 'Constant').field(5, attribute('value', 5, tensor(`t${i}`, data), 4)).bytes()
const graph = nodes => write().field(1, nodes).field(2, 'body').bytes()
const branch = (i, nodes) => write().field(1, 'x').field(2, `c${i}`).field(4, 'If').field(5, attribute('then_branch', 6, graph(nodes), 5)).bytes()
const list = (count, make) => Array.from({ length: count }, (_, i) => make(i))
const singles = writer => { for (let i = 0; i < 400; i++) writer.float(4, i); return writer }
const data = [
  to => to.field(9, raw), to => to.field(9, new Uint8Array(30_000)), to => to.field(4, raw), singles, to => to.field(7, new Uint8Array(3000).fill(1)),
  to => to.field(6, Array(60).fill(new Uint8Array(50).fill(65))), to => to.field(9, new Uint8Array(8)), to => to.field(12, 'text '.repeat(3000)),
  to => to.field(2, 1).field(4, raw).field(2, 1).field(4, raw), to => singles(singles(to).field(2, 1))
]
const constants = count => list(count, i => constant(i, data[i % data.length]))

const documents = {
  'nodes without names': onnx.model({ nodes: list(5000, i => onnx.node('Relu', [`${1000 + i}`], [`${1001 + i}`])), ...values }),
  'constants of all kinds': onnx.model({ nodes: constants(200), ...values }),
  'initializers of all kinds': onnx.model({ nodes: [onnx.node('Relu', ['x'], ['c0'])], ...values, initializers: list(200, i => tensor(i === 5 ? 'x' : `t${i}`, data[i % data.length])) }),
  'a graph in a node': onnx.model({ nodes: [branch(0, constants(200))], ...values }),
  'a graph in each node': onnx.model({ nodes: list(100, i => branch(i, constants(4))), ...values }),
  functions: onnx.model({ nodes: [], ...values, functions: list(300, i => write().field(1, `f${i}`).field(7, constants(2)).field(10, 'own').bytes()) }),
  'names that are not ASCII': onnx.model({ nodes: list(3000, i => onnx.node('Relu', [`ü${i}`], [`y${i}`])), ...values }),
  'names that are not UTF-8': onnx.model({ nodes: list(6000, i => write().field(1, i % 100 > 0 ? 'x' : new Uint8Array([65, 255, 66])).field(2, `y${i}`).field(4, 'Relu').bytes()), ...values }),
  'long names': onnx.model({ nodes: list(100, i => onnx.node('Relu', ['x'.repeat(500 + 150 * i)], ['y'.repeat(60 * i)])), ...values }),
  'unknown fields and groups': onnx.model({ nodes: list(200, i => write().field(1, `x${i}`).field(4, 'Relu').put(new Uint8Array([0x83, 0x7d, 8, 1, 0x84, 0x7d])).field(2000, new Uint8Array(4 * i % 1000)).bytes()), ...values })
}
for (const name of ['NodeProto: input, each another', 'NodeProto: groups', 'TensorProto: float_data, one by one', 'GraphProto: node, each with another name', 'GraphProto: value_info, each with another name']) {
  documents[name] = denseDocuments().get(name)(20_000)
}

const bytesOf = async model => new Uint8Array(await (await model.toBlob()).arrayBuffer())
const text = report => JSON.stringify(report, (_, value) => typeof value === 'bigint' ? `${value}` : value)
function fault (job) {
  try {
    return job()
  } catch (error) {
    if (error.findings === undefined) throw error
    return { fault: text(error.findings) }
  }
}

describe('an outline', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const ways = {
    loaded: bytes => fault(() => env.loadModel(bytes)),
    borrowed: bytes => fault(() => env.loadModel(bytes, { borrow: true })),
    opened: async bytes => {
      try {
        return await env.open(new Blob([bytes]))
      } catch (error) {
        return fault(() => { throw error })
      }
    }
  }

  for (const [name, bytes] of Object.entries(documents)) {
    it(`says what the whole says: ${name}`, async () => {
      assert.ok(bytes.length > 1 << 16, `${bytes.length} bytes`)
      const whole = text(env.check(bytes, { as: 'model' }))
      const written = fault(() => env.format(bytes, 'ModelProto', 'textproto', { lossy: true }))
      for (const [way, make] of Object.entries(ways)) {
        const model = await make(bytes)
        assert.equal(text(model.check()), whole, way)
        await model.load()
        assert.equal(text(model.check()), whole, `${way}, again`)
        if (written.fault === undefined) assert.equal(model.toText('textproto', { lossy: true }), written, way)
        assert.equal(Buffer.compare(await bytesOf(model), bytes), 0, way)
        model.dispose()
      }
    })
  }

  it('finds what is wrong with damaged bytes', async () => {
    let seed = 7, faults = 0
    const random = most => Math.floor((seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31 * most)
    for (let round = 0; round < 40; round++) {
      const bytes = Object.values(documents)[round % 10].slice()
      for (let i = random(30); i >= 0; i--) bytes[random(bytes.length)] = random(256)
      const whole = env.check(bytes, { as: 'model' })
      for (const [way, make] of Object.entries(ways)) {
        const model = await make(bytes)
        if (model.fault === undefined) {
          assert.equal(text(model.check()), text(whole), `${way} in round ${round}`)
          model.dispose()
        } else {
          assert.equal(model.fault, text(whole.findings), `${way} in round ${round}`)
          faults++
        }
      }
    }
    assert.ok(faults > 30, `${faults} faults`)
  })

  it('goes on with what was decoded', async () => {
    const bytes = documents['nodes without names']
    for (const make of [ways.loaded, ways.borrowed, ways.opened]) {
      const model = await make(bytes)
      assert.deepEqual(model.inputs.map(({ name }) => name), ['x'])
      assert.equal([...model.nodes()].length, 5000)
      model.check()
      model.edit([{ renameNode: 4999, to: 'last' }, { setMetadata: 'author', value: 'me' }])
      assert.equal(text(model.check()), text(env.check(await bytesOf(model), { as: 'model' })))
      assert.equal([...model.nodes()][4999].name, 'last')
      assert.equal(model.toJSON().graph.node[4999].name, 'last')
      model.dispose()
    }
  })

  it('knows which inputs have initializers', async () => {
    const bytes = documents['initializers of all kinds']
    const inner = onnx.model({ nodes: [write().field(4, 'If').field(5, attribute('then_branch', 6, write().put(graph(constants(100))).field(5, tensor('x', data[6])).bytes(), 5)).bytes()], ...values })
    const told = []
    for (const make of [ways.loaded, ways.opened]) {
      for (const given of [bytes, inner, documents['constants of all kinds']]) {
        const model = await make(given)
        told.push(model.inputs.map(({ name }) => name))
        model.check()
        model.dispose()
      }
    }
    assert.deepEqual(told, [[], ['x'], ['x'], [], ['x'], ['x']])
  })
})

// Bytes in use, of a file's bytes.
describe('memory of models', () => {
  const info = (i, dims) => onnx.value(`block_${i}/output`, 'float32', dims)
  const few = { nodes: [onnx.node('Relu', ['x'], ['c0'])], ...values }
  const large = {
    'nodes of 24 bytes': onnx.model({ nodes: list(20_000, i => onnx.node('Relu', [`${10_000 + i}`], [`${10_001 + i}`])), ...values }),
    'nodes as exporters write them': onnx.model({ nodes: list(10_000, i => onnx.node('LeakyRelu', [`features/block/output_${i}`], [`features/block/output_${i + 1}`], { alpha: 0.01 }, { name: `features/block/node_${i}` })), ...values }),
    'shapes of values': onnx.model({ ...few, valueInfo: list(10_000, i => info(i, [1, 64, 56, 56])) }),
    'small initializers': onnx.model({ ...few, initializers: list(10_000, i => tensor(`t${i}`, data[6])) })
  }
  const payload = {
    'constants of 1.6 kB': onnx.model({ nodes: list(20_000, i => constant(i, data[0])), ...values }),
    'tensors of 1.6 kB': onnx.model({ ...few, initializers: list(20_000, i => tensor(`t${i}`, data[0])) }),
    'numbers of 1.6 kB': onnx.model({ ...few, initializers: list(10_000, i => tensor(`t${i}`, data[2])) })
  }
  const kept = async make => {
    const env = await createEnv()
    env.explain('wire.empty')
    const { used } = Env.memoryUsed(env)
    const model = await make(env)
    env.explain('wire.empty')
    const opened = Env.memoryUsed(env).used - used
    model.check()
    env.explain('wire.empty') // tables of the call before are given back
    const checked = Env.memoryUsed(env).used - used
    model.dispose()
    env.dispose()
    return [opened, checked]
  }
  // What is kept beside the bytes: windows and tables of a fixed size, the text of a report, and little for each thing.
  const FIXED = 200_000, REPORT = 800_000
  for (const [name, bytes] of Object.entries(large)) {
    it(`of graphs: ${name}`, async () => {
      for (const [way, make] of Object.entries({ loaded: env => env.loadModel(bytes), opened: env => env.open(new Blob([bytes])) })) {
        const [opened, checked] = await kept(make)
        assert.ok(opened < 1.4 * bytes.length + FIXED, `${way}: ${opened} bytes for ${bytes.length}`)
        assert.ok(checked < 1.4 * bytes.length + FIXED + REPORT, `${way}, checked: ${checked} bytes for ${bytes.length}`)
      }
    })
  }
  for (const [name, bytes] of Object.entries(payload)) {
    it(`of payload: ${name}`, async () => {
      const [opened, checked] = await kept(env => env.open(new Blob([bytes])))
      assert.ok(opened < 0.1 * bytes.length + FIXED, `${opened} bytes for ${bytes.length}`)
      assert.ok(checked < 0.1 * bytes.length + FIXED + REPORT, `checked: ${checked} bytes for ${bytes.length}`)
    })
  }
})
