// Long runs: how soon one ends that is cancelled, and what 10^5 insertions into a sequence take: npm run bench -- loop.
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { machine, median, ms, table } from './timing.js'

const constant = (name, type, data) => onnx.tensor(name, type, [], data)
const yes = constant('yes', 'bool', Uint8Array.of(1))

/** A Loop of `iterations` times a matrix of `size` by `size` elements times itself. */
function powers (iterations, size) {
  const matrix = name => onnx.value(name, 'float32', [size, size])
  const body = onnx.graph({
    inputs: [onnx.value('i', 'int64', []), onnx.value('go', 'bool', []), matrix('s')],
    outputs: [onnx.value('on', 'bool', []), matrix('t')],
    nodes: [onnx.node('MatMul', ['s', 'x'], ['t']), onnx.node('Identity', ['go'], ['on'])]
  })
  return onnx.model({
    ir: 8,
    opsets: { '': 17 },
    initializers: [constant('n', 'int64', BigInt64Array.of(BigInt(iterations))), yes],
    inputs: [matrix('x')],
    outputs: [matrix('y')],
    nodes: [onnx.node('Loop', ['n', 'yes', 'x'], ['y'], { body: { graph: body } })]
  })
}

function insertions (count) {
  const sequence = { sequence: 'int64' }
  const body = onnx.graph({
    inputs: [onnx.value('i', 'int64', []), onnx.value('go', 'bool', []), onnx.value('s', sequence, [])],
    outputs: [onnx.value('on', 'bool', []), onnx.value('t', sequence, [])],
    nodes: [onnx.node('SequenceInsert', ['s', 'i'], ['t']), onnx.node('Identity', ['go'], ['on'])]
  })
  return onnx.model({
    ir: 8,
    opsets: { '': 17 },
    initializers: [constant('n', 'int64', BigInt64Array.of(BigInt(count))), yes],
    outputs: [onnx.value('length', 'int64', [])],
    nodes: [
      onnx.node('SequenceEmpty', [], ['empty'], { dtype: 7n }),
      onnx.node('Loop', ['n', 'yes', 'empty'], ['all'], { body: { graph: body } }),
      onnx.node('SequenceLength', ['all'], ['length'])
    ]
  })
}

/** Milliseconds from `due` (ms after the start) to the end of a run that `options` cuts short with `code`. */
async function late (session, feeds, due, options, code) {
  const start = performance.now()
  const error = await session.run(feeds, options(due)).then(() => ({ code: 'not cancelled' }), error => error)
  if (error.code !== code) throw new Error(`expected ${code}, got ${error.code}`)
  return performance.now() - start - due
}

function aborting (due) {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), due)
  return { signal: controller.signal }
}

machine()
const env = await createEnv()
const rows = []
for (const size of [2, 256]) {
  const session = await env.createSession(powers(1_000_000, size))
  const feeds = { x: new Tensor('float32', new Float32Array(size * size), [size, size]) }
  for (const [name, options, code] of [['signal', aborting, 'aborted'], ['timeoutMs', due => ({ timeoutMs: due }), 'timeout']]) {
    const times = []
    for (let round = 0; round < 11; round++) times.push(await late(session, feeds, 50, options, code))
    rows.push([`${name}, body of a MatMul ${size} x ${size}`, ms(median(times)), ms(Math.max(...times))])
  }
  session.dispose()
}
table(['a Loop of 10^6 iterations ends after', 'median', 'most'], rows)

const session = await env.createSession(insertions(100_000))
const times = []
for (let round = 0; round < 5; round++) {
  const start = performance.now()
  const { length } = await session.run({})
  if (length.data[0] !== 100_000n) throw new Error('the sequence has another length')
  times.push(performance.now() - start)
}
table(['', 'median', 'most'], [['10^5 SequenceInsert', ms(median(times)), ms(Math.max(...times))]])
env.dispose()
