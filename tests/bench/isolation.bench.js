// How long the worker client is away when its code does not come back, and what a bundle that loops costs: npm run bench -- isolation
import { createEnv, createWorkerEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip } from '../support/plugin.js'
import { customSpec } from '../support/spec.js'
import { machine, median, ms, table } from './timing.js'

const domain = 'org.test'
const LIMIT = 300
const ROUNDS = 5
const model = opType => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node(opType, ['x'], ['y'], {}, { domain })]
})
const spec = opType => customSpec({ domain, opType })
const honest = 'return [{ type: x.type, dims: x.dims, data: x.data.map(v => 2 * v) }]'
const loops = `export default { compute: ([x]) => { while (x.data[0] === 7); ${honest} } }`
const feeds = value => ({ x: new Tensor('float32', [value]) })

// Milliseconds from the limit to the rejection, and to the first answer of an old handle.
async function away (kernel, more) {
  const env = await createWorkerEnv()
  await env.registerOperator(spec('Plug'), kernel)
  const sessions = [await env.createSession(model('Plug'))]
  for (let i = 0; i < more; i++) {
    await env.registerOperator(spec(`Other${i}`), loops)
    sessions.push(await env.createSession(model(`Other${i}`)))
  }
  const said = []
  const back = []
  for (let i = 0; i < ROUNDS; i++) {
    for (const session of sessions) await session.run(feeds(1))
    const start = performance.now()
    await sessions[0].run(feeds(7), { timeoutMs: LIMIT }).catch(() => {})
    said.push(performance.now() - start - LIMIT)
    await sessions[0].run(feeds(1))
    back.push(performance.now() - start - LIMIT)
  }
  await env.dispose()
  return [ms(median(said)), ms(median(back)), ms(Math.max(...back))]
}

machine()
console.log(`\nworker client: from the limit of ${LIMIT} ms (bar: back within 200 ms)`)
const rows = [['JavaScript that loops', ...await away(loops, 0)], ['and 20 sessions and registrations', ...await away(loops, 20)]]
if (!skip) rows.push(['a plug-in that loops', ...await away(buildPlugin(plug('while (((const volatile float *)x->data)[0] == 7) {}')), 0)])
table(['', 'rejected', 'back', 'worst'], rows)

const floats = data => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = value => JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats([value])], outputs: [floats([2 * value])] })
const files = { 'a.json': evidence(1), 'b.json': evidence(7) }
const env = await createEnv()
const test = async (kernel, names) => {
  const start = performance.now()
  const { tests } = await env.test({ 'my.opspec.json': customSpec({ domain, opType: 'Mine', tests: names }), 'kernel.js': kernel, ...files }, { timeoutMs: LIMIT })
  return [performance.now() - start, tests.at(-1).message ?? tests.at(-1).status]
}
console.log('\nenv.test: a bundle with a kernel.js, in a child process')
const allocates = 'export default { compute () { const all = []; for (;;) all.push(new Uint8Array(2 ** 26).fill(1)) } }'
const results = []
for (const [name, kernel, names] of [['honest', loops, ['a.json']], ['one case loops', loops, ['a.json', 'b.json']], ['allocates', allocates, ['a.json']]]) {
  const runs = []
  for (let i = 0; i < ROUNDS; i++) runs.push(await test(kernel, names))
  results.push([name, ms(median(runs.map(([time]) => time))), runs[0][1]])
}
table(['', 'whole', 'says'], results)
env.dispose()
