// env.open in every host: each case is a name and a function that throws where an answer is wrong. Pure JavaScript: pages run
// it, too.
import { dataTypes, model, node, tensor, value, Writer, externalTensor } from './onnx.js'

const plain = item => JSON.stringify(item, (key, part) => typeof part === 'bigint' ? `${part}n` : part)

function same (found, expected, what) {
  if (plain(found) !== plain(expected)) throw new Error(`${what}: ${plain(found)}, expected ${plain(expected)}`)
}

async function fails (job, code, pattern) {
  try {
    await job()
  } catch (error) {
    same(error.code, code, `code of "${error.message}"`)
    if (!pattern.test(error.message)) throw new Error(`"${error.message}" is not ${pattern}`, { cause: error })
    return error
  }
  throw new Error(`no ${code}`)
}

const LENGTH = 3000
const x = value('x', 'float32', [LENGTH])
const y = value('y', 'float32', [LENGTH])
const weights = Float32Array.from({ length: LENGTH }, (_, i) => i / 8)
const timesWeights = (initializer, more = {}) => model({ nodes: [node('Mul', ['x', 'w'], ['y'])], initializers: initializer === null ? [] : [initializer], inputs: [x], outputs: [y], ...more })
const product = timesWeights(tensor('w', 'float32', [LENGTH], weights))
const constant = timesWeights(null, { nodes: [node('Constant', [], ['w'], { value: { tensor: tensor('', 'float32', [LENGTH], weights) } }), node('Mul', ['x', 'w'], ['y'])] })
const beside = timesWeights(externalTensor('w', 'float32', [LENGTH], 'data/w.bin'))

const packed = numbers => {
  const writer = new Writer()
  for (const number of numbers) writer.varint(number)
  return writer.bytes()
}
const typed = (type, dims, field, record) => new Writer().field(1, dims).field(2, dataTypes[type]).field(field, record).field(8, 'w').bytes()
// In float_data, packed; in float_data, one by one; the same with a packed record in front.
const floats = new Uint8Array(weights.buffer)
const singles = list => list.reduce((writer, number) => writer.float(4, number), new Writer()).bytes()
const listed = [
  typed('float32', [LENGTH], 4, floats),
  new Writer().field(1, [LENGTH]).field(2, 1).field(8, 'w').put(singles([...weights])).bytes(),
  new Writer().field(1, [LENGTH]).field(2, 1).field(8, 'w').field(4, floats.subarray(0, 8000)).put(singles([...weights].slice(2000))).bytes()
]

async function runs (env, { Tensor }, opened) {
  const session = await env.createSession(opened)
  await opened.dispose()
  const result = (await session.run({ x: new Tensor('float32', new Float32Array(LENGTH).fill(2), [LENGTH]) })).y.data
  await session.dispose()
  same(Array.from(result.slice(0, 20)), Array.from(weights.slice(0, 20), item => 2 * item), 'result')
  same(result[LENGTH - 1], 2 * weights[LENGTH - 1], 'its last element')
}

const report = ({ ok, complete, incomplete, counts, findings }) => ({ ok, complete, incomplete, counts, findings: findings.map(({ rule, message, path, bytes }) => ({ rule, message, path, bytes })) })

// What is wrong with tensors that stay outside is found as in memory.
const faulty = {
  'a bool that is 2': tensor('w', 'bool', [LENGTH], new Uint8Array(LENGTH).fill(1).fill(2, 2500, 2501)),
  'int8 out of range': typed('int8', [LENGTH], 5, packed(Array.from({ length: LENGTH }, (_, i) => i === 2900 ? 300 : i % 100))),
  'uint32 out of range': typed('uint32', [LENGTH], 11, packed(Array.from({ length: LENGTH }, (_, i) => i === 2900 ? 2n ** 40n : i))),
  'too few floats': typed('float32', [LENGTH + 1], 4, floats),
  'too few bytes': tensor('w', 'float32', [LENGTH + 1], weights),
  'a string that is no UTF-8': new Writer().field(1, [1]).field(2, 8).field(6, new Uint8Array(2000).fill(0xff)).field(8, 'w').bytes()
}

export const cases = {
  async 'what it is and what a check says are as in memory' (env, entry, open) {
    for (const bytes of [product, constant, timesWeights(listed[0]), timesWeights(listed[1])]) {
      const inMemory = await env.loadModel(bytes)
      const opened = await open(env, bytes)
      same([opened.kind, opened.inputs, opened.outputs], [inMemory.kind, inMemory.inputs, inMemory.outputs], 'model')
      same(report(await opened.check()), report(await inMemory.check()), 'report')
      await opened.dispose()
      await inMemory.dispose()
    }
  },
  async 'faults of tensors that are outside' (env, entry, open) {
    for (const [name, initializer] of Object.entries(faulty)) {
      const bytes = timesWeights(initializer)
      const inMemory = await env.loadModel(bytes)
      const opened = await open(env, bytes)
      const expected = report(await inMemory.check())
      same(expected.ok, false, name)
      same(report(await opened.check()), expected, name)
      await opened.dispose()
      await inMemory.dispose()
    }
  },
  async 'its bytes' (env, entry, open) {
    for (const bytes of [product, constant, timesWeights(listed[2])]) {
      const opened = await open(env, bytes)
      const blob = await opened.toBlob()
      same(blob.size, bytes.length, 'size')
      same([...new Uint8Array(await blob.arrayBuffer())], [...bytes], 'bytes')
      await opened.dispose()
    }
  },
  async 'a session, from whichever field holds the data' (env, entry, open) {
    for (const bytes of [product, constant, ...listed.map(item => timesWeights(item))]) await runs(env, entry, await open(env, bytes))
  },
  async 'data of another file' (env, entry, open) {
    const blob = new Blob([floats])
    await runs(env, entry, await open(env, beside, { files: { 'data/w.bin': blob } }))
    const opened = await open(env, beside, { files: new Map([['data/w.bin', blob]]) })
    same((await opened.check()).ok, true, 'report')
    await opened.dispose()
    for (const [files, rule] of [[{}, 'onnx.external.missing'], [{ 'data/w.bin': new Blob([floats.subarray(4)]) }, 'onnx.external.size']]) {
      const broken = await open(env, beside, { files })
      same((await broken.check()).findings.map(finding => finding.rule), [rule], 'findings')
      await fails(() => runs(env, entry, broken), 'malformed', /w\.bin/)
    }
  },
  async 'names that lead out of the folder' (env, entry, open) {
    for (const location of ['../w.bin', '/etc/passwd', 'data/../../w.bin', 'C:\\w.bin']) {
      const opened = await open(env, timesWeights(externalTensor('w', 'float32', [LENGTH], location)), { files: { [location]: new Blob([floats]) } })
      same((await opened.check()).findings.map(finding => finding.rule), ['onnx.external.location'], location)
      await fails(() => runs(env, entry, opened), 'malformed', /location/)
    }
  },
  async 'load brings the data in' (env, entry, open) {
    const opened = await open(env, timesWeights(listed[0]))
    await opened.load()
    same(await opened.toJSON(), await (await env.loadModel(timesWeights(listed[0]))).toJSON(), 'JSON')
    same((await opened.toText('onnxtxt')).includes('w'), true, 'text')
    await opened.dispose()
  },
  async 'what is no model' (env, entry, open) {
    const error = await fails(() => open(env, product.subarray(0, product.length - 7)), 'malformed', /declares/)
    same(error.findings.map(({ rule }) => rule), ['wire.truncated'], 'findings')
    await fails(() => open(env, new Uint8Array(0)), 'malformed', /empty/)
    await fails(() => open(env, new TextEncoder().encode('{ "kind": "x" }')), 'malformed', /JSON/)
    await fails(() => open(env, product, { as: 'tensor' }), 'unsupported', /^as: /)
    await fails(() => env.open(product), 'invalid_argument', /^source: /)
    await fails(() => env.open(7), 'invalid_argument', /^source: /)
  },
  async 'edits, as in memory' (env, entry, open) {
    const edits = [{ renameInput: 'x', to: 'image' }, { renameValue: 'w', to: 'weights' }, { renameNode: 0, to: 'first' }, { setMetadata: 'a', value: 'b' }]
    for (const bytes of [product, timesWeights(listed[0]), timesWeights(listed[2]), timesWeights(faulty['too few bytes'])]) {
      const inMemory = await env.loadModel(bytes)
      const opened = await open(env, bytes)
      for (const model of [inMemory, opened]) await model.edit(edits)
      same([opened.inputs, await opened.nodes()], [inMemory.inputs, await inMemory.nodes()], 'model')
      const written = new Uint8Array(await (await opened.toBlob()).arrayBuffer())
      same(written, await inMemory.toBytes(), 'bytes')
      same(report(await opened.check()), report(await (await env.loadModel(written)).check()), 'report')
      await fails(async () => opened.edit([{ setMetadata: 'c', value: 'd' }, { renameInput: 'x', to: 'y' }]), 'invalid_argument', /edits\[1\]: the graph has no input "x"/)
      same(new Uint8Array(await (await opened.toBlob()).arrayBuffer()), written, 'bytes afterwards')
      await opened.dispose()
      await inMemory.dispose()
    }
    const opened = await open(env, timesWeights(tensor('w', 'float32', [LENGTH], weights), { nodes: [node('Neg', ['w'], ['v'], {}, { name: 'neg' }), node('Neg', ['v'], ['u'], {}, { name: 'pos' }), node('Mul', ['x', 'u'], ['y'])] }))
    await opened.load()
    await opened.edit([{ fold: 'pos' }])
    same((await opened.nodes()).length, 1, 'nodes')
    await runs(env, entry, opened)
  },
  async 'a caller who has had enough' (env, entry, open) {
    const controller = new AbortController()
    const job = open(env, product, { signal: controller.signal })
    controller.abort()
    await fails(() => job, 'aborted', /cancelled/)
    const opened = await open(env, product)
    const second = new AbortController()
    const loading = opened.load({ signal: second.signal })
    second.abort()
    await fails(() => loading, 'aborted', /cancelled/)
    await opened.dispose()
  },
  async 'more data than there can be memory' (_, entry, open, createEnv) {
    const env = await createEnv({ limits: { memory: 1 << 26 } })
    const huge = new Blob(Array(100).fill(new Blob([new Uint8Array(1 << 20)])))
    const opened = await open(env, timesWeights(externalTensor('w', 'float32', [huge.size / 4], 'w.bin')), { files: { 'w.bin': huge } })
    await fails(() => env.createSession(opened), 'limit', /104857600 bytes/)
    await fails(() => opened.load(), 'limit', /104857600 bytes/)
    await opened.dispose()
    await env.dispose()
  }
}

/** Runs all cases; answers what went wrong as [name, message]. */
export async function runCases (entry, createEnv, open) {
  const wrong = []
  for (const [name, run] of Object.entries(cases)) {
    const env = await createEnv()
    try {
      await run(env, entry, open, createEnv)
    } catch (error) {
      wrong.push([name, error.message])
    }
    await env.dispose()
  }
  return wrong
}

export const fromBlob = (env, bytes, options) => env.open(new Blob([bytes]), options)
