// Models of the public corpora, written as no program writes them, and edited: every byte outside of the touched messages stays,
// and the rest is what the model as it was says, with the edit made by hand.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'
import { generator, messageTypes, rewriter } from '../support/rewrite.js'

const folders = ['onnx-tests-1.22', 'onnx-recorded-1.20'].map(corpus)
const skip = folders.map(({ skip }) => skip).find(Boolean) || false

function varint (bytes, at) {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

/** Fields of a message as they lie in its bytes: { number, wire, whole, body }. A group ends with its end tag. */
function fields (bytes) {
  const out = []
  for (let at = 0; at < bytes.length;) {
    const start = at
    const depth = []
    let number, wire, body
    do {
      let key
      ;[key, at] = varint(bytes, at)
      body = at
      const inner = Math.floor(key / 8)
      number ??= inner
      wire ??= key % 8
      if (key % 8 === 0) at = varint(bytes, at)[1]
      else if (key % 8 === 1) at += 8
      else if (key % 8 === 5) at += 4
      else if (key % 8 === 3) depth.push(inner)
      else if (key % 8 === 4) depth.pop()
      else {
        let length
        ;[length, body] = varint(bytes, at)
        at = body + length
      }
    } while (depth.length > 0)
    out.push({ number, wire, whole: bytes.subarray(start, at), body: bytes.subarray(body, at) })
  }
  return out
}

const hex = bytes => Buffer.from(bytes).toString('hex')
const bodies = (message, number) => fields(message).filter(field => field.number === number && field.wire === 2).map(({ body }) => hex(body))
const NODE = 1, GRAPH = 7, METADATA = 14, INITIALIZER = 5

describe('edits of the corpora', { skip }, () => {
  let env
  const types = skip ? null : messageTypes()
  const read = bytes => env.decode(bytes, 'ModelProto')
  const models = skip ? [] : folders.flatMap(({ folder }) => filesBelow(folder).filter(name => name.endsWith('.onnx')).map(name => join(folder, name)))
    .map(path => ({ path, bytes: readFileSync(path) })).filter(({ bytes }) => bytes.length < 8000)
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  // A model in another form, and what knows it.
  function any (seed) {
    const random = generator(seed)
    const { path, bytes } = models[random.below(models.length)]
    const odd = rewriter(types, random, { unknown: true })(bytes, 'ModelProto')
    const graphs = fields(odd).filter(({ number, wire }) => number === GRAPH && wire === 2)
    return { path: `${path}, seed ${seed}`, bytes, odd, graph: graphs.length === 1 ? graphs[0].body : null, random }
  }

  function edited (bytes, edits) {
    const model = env.loadModel(bytes)
    model.edit(edits)
    const out = model.toBytes()
    model.dispose()
    return out
  }

  it('metadata: every other message of the model keeps its bytes, 400 by seed', () => {
    let kept = 0
    for (let seed = 0; seed < 400; seed++) {
      const { path, bytes, odd, graph } = any(seed)
      const out = edited(odd, [{ setMetadata: 'opspec', value: 'tests' }])
      const expected = read(bytes)
      expected.metadataProps = [...expected.metadataProps ?? [], { key: 'opspec', value: 'tests' }]
      assert.deepEqual(read(out), expected, path)
      if (graph !== null) assert.deepEqual(bodies(out, GRAPH), [hex(graph)], path)
      kept += graph !== null
      assert.deepEqual(fields(out).filter(({ number }) => number > 900).map(({ whole }) => whole.length > 0), fields(odd).filter(({ number }) => number > 900).map(() => true), path)
      for (const number of [METADATA, 25]) assert.deepEqual(bodies(out, number).slice(0, bodies(odd, number).length), bodies(odd, number), path)
      assert.equal(hex(edited(out, [{ setMetadata: 'opspec', value: 'tests' }])), hex(out), path)
    }
    assert.ok(kept > 200, `only ${kept} had their graph in one piece`)
  })

  it('a name of a node: every other node and tensor keeps its bytes, 400 by seed', () => {
    let kept = 0
    for (let seed = 1000; seed < 1400; seed++) {
      const { path, bytes, odd, graph, random } = any(seed)
      const expected = read(bytes)
      const { node: nodes = [] } = expected.graph
      if (nodes.length === 0) continue
      const index = random.below(nodes.length)
      const out = edited(odd, [{ renameNode: index, to: 'another name' }])
      nodes[index].name = 'another name'
      assert.deepEqual(read(out), expected, path)
      if (graph === null) continue
      const [now] = fields(out).filter(({ number }) => number === GRAPH).map(({ body }) => body)
      const before = bodies(graph, NODE)
      const after = bodies(now, NODE)
      assert.equal(after.length, before.length, path)
      after.splice(index, 1)
      before.splice(index, 1)
      assert.deepEqual([after, bodies(now, INITIALIZER)], [before, bodies(graph, INITIALIZER)], path)
      kept++
    }
    assert.ok(kept > 150, `only ${kept} were looked at`)
  })

  it('names of values: all of them replaced and nothing else, 300 by seed', () => {
    for (let seed = 2000; seed < 2300; seed++) {
      const { path, bytes, odd } = any(seed)
      const expected = read(bytes)
      const { input = [], output = [], node = [] } = expected.graph
      // Graphs inside have names of their own.
      if (node.some(({ attribute = [] }) => attribute.some(({ g, graphs }) => g !== undefined || graphs?.length > 0))) continue
      const to = new Map([...input, ...output].filter(({ name }) => name).map(({ name }) => [name, `new ${name}`]))
      const edits = [...input.map(({ name }) => ({ renameInput: name, to: to.get(name) })), ...output.filter(({ name }) => !input.some(value => value.name === name)).map(({ name }) => ({ renameOutput: name, to: to.get(name) }))]
      if (edits.some(edit => edit.to === undefined)) continue
      const out = edited(odd, edits)
      const rename = name => to.get(name) ?? name
      for (const list of [input, output, expected.graph.valueInfo ?? [], expected.graph.initializer ?? []]) for (const item of list) if (item.name !== undefined) item.name = rename(item.name)
      for (const one of node) for (const key of ['input', 'output']) if (one[key] !== undefined) one[key] = one[key].map(rename)
      assert.deepEqual(read(out), expected, path)
      assert.equal(hex(edited(out, [])), hex(out), path)
    }
  })

  it('edits that are refused change nothing, 200 by seed', () => {
    for (let seed = 3000; seed < 3200; seed++) {
      const { path, odd } = any(seed)
      const loaded = env.loadModel(odd)
      const node = loaded.nodes().length > 0 ? [{ renameNode: 0, to: 'n' }] : []
      assert.throws(() => loaded.edit([{ setMetadata: 'a', value: 'b' }, { set: 'producerName', value: 'c' }, { setOpset: 'org.test', version: 1 }, ...node, { renameNode: 'nobody has this name', to: 'x' }]), { code: 'invalid_argument' })
      assert.equal(hex(loaded.toBytes()), hex(odd), path)
      loaded.dispose()
    }
  })
})
