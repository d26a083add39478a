// What a worker's Env does when it is started again, what its limits count from, and texts that are no kernels. The same in
// Node and in a page: [name, ask, expected]; ask(entry) gets the package's entry and answers what is to be compared.
import * as onnx from './onnx.js'
import { customSpec } from './spec.js'

const domain = 'org.test'
const model = opType => onnx.model({
  opsets: { '': 21, ...opType !== 'Neg' && { [domain]: 1 } }, inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])],
  nodes: [onnx.node(opType, ['x'], ['y'], {}, { domain: opType === 'Neg' ? '' : domain })]
})
const spec = opType => customSpec({ domain, opType })
const times = factor => `export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => ${factor} * v) }] }`
const endless = 'export default { compute () { for (;;); } }'
const late = 'export default { async compute ([x]) { await new Promise(resolve => setTimeout(resolve, x.data[0])); return [x] } }'

const said = promise => promise.then(value => value?.y === undefined ? 'done' : [...value.y.data], ({ code, message }) => ({ code, message }))

// An Env with a session that brings the worker down: `fall()`.
async function withEnv(entry, ask, options) {
  const env = await entry.createWorkerEnv(options)
  try {
    await env.registerOperator(spec('Endless'), endless)
    const bad = await env.createSession(model('Endless'))
    const x = (...data) => ({ x: new entry.Tensor('float32', data) })
    const fall = (timeoutMs = 50) => said(bad.run(x(1), { timeoutMs })).then(({ code }) => code)
    return await ask({ env, x, fall, bad })
  } finally {
    await env.dispose()
  }
}

// Steps that are taken one after the other: their answers, in order.
async function inOrder(...steps) {
  const out = []
  for (const step of steps) out.push(await step())
  return out
}

const unknown = /could not be made again|disposed of/

export const cases = [
  ['a session keeps an operator that was disposed of', entry => withEnv(entry, async ({ env, x, fall }) => {
    const registration = await env.registerOperator(spec('Op'), times(2))
    const session = await env.createSession(model('Op'))
    await registration.dispose()
    const run = () => said(session.run(x(1)))
    const later = () => said(env.createSession(model('Op'))).then(({ code }) => code)
    return inOrder(run, later, fall, run, later, fall, run, async () => (await env.operators()).some(({ name }) => name === 'Op'))
  }), [[2], 'unsupported', 'timeout', [2], 'unsupported', 'timeout', [2], false]],

  ['sessions keep the operator that was there when they were made', entry => withEnv(entry, async ({ env, x, fall }) => {
    const sessions = []
    let registration
    for (const factor of [2, 3, 4]) {
      await registration?.dispose()
      registration = await env.registerOperator(spec('Op'), times(factor))
      sessions.push(await env.createSession(model('Op')))
    }
    const run = () => Promise.all(sessions.map(session => said(session.run(x(1)))))
    return inOrder(run, fall, run, () => sessions.splice(0, 1)[0].dispose(), fall, run)
  }), [[[2], [3], [4]], 'timeout', [[2], [3], [4]], undefined, 'timeout', [[3], [4]]]],

  ['a session keeps its model that was disposed of', entry => withEnv(entry, async ({ env, x, fall }) => {
    const registration = await env.registerOperator(spec('Op'), times(5))
    const loaded = await env.loadModel(model('Op'))
    const session = await env.createSession(loaded)
    await loaded.dispose()
    await registration.dispose()
    const run = () => said(session.run(x(1)))
    return inOrder(run, fall, run, () => said(loaded.check()).then(({ code }) => code))
  }), [[5], 'timeout', [5], 'invalid_argument']],

  ['a handle that cannot be made again is lost alone', entry => withEnv(entry, async ({ env, x, fall }) => {
    const bytes = model('Neg').slice()
    const gone = await env.loadModel(bytes)
    const ofGone = await env.createSession(gone)
    const neg = await env.createSession(model('Neg'))
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    const lost = session => said(session.run(x(1))).then(({ code, message }) => [code, unknown.test(message)])
    return inOrder(fall, () => said(neg.run(x(1))), () => lost(ofGone), () => ofGone.dispose(), fall, () => said(neg.run(x(1))))
  }), ['timeout', [-1], ['invalid_argument', true], undefined, 'timeout', [-1]]],

  ['a kernel whose text does something else the second time is lost alone', entry => withEnv(entry, async ({ env, x, fall }) => {
    const neg = await env.createSession(model('Neg'))
    const ready = Date.now() + 3_000
    await env.registerOperator(spec('Fails'), `if (Date.now() > ${ready}) throw null\n${times(2)}`)
    const session = await env.createSession(model('Fails'))
    const last = await env.createSession(model('Neg'))
    await new Promise(resolve => setTimeout(resolve, ready - Date.now() + 1))
    return inOrder(fall, () => said(neg.run(x(1))), () => said(last.run(x(2))), () => said(session.run(x(1))).then(({ code, message }) => [code, unknown.test(message)]))
  }), ['timeout', [-1], [-2], ['invalid_argument', true]]],

  ['a run that waits for another one is ended by its limit or its signal', entry => withEnv(entry, async ({ env, x }) => {
    await env.registerOperator(spec('Late'), late)
    const session = await env.createSession(model('Late'))
    const controller = new AbortController()
    const order = []
    const noted = (name, promise) => promise.then(({ code = 'done' }) => order.push([name, code]))
    const all = [
      noted('first', said(session.run(x(3_000)))), noted('limit', said(session.run(x(1), { timeoutMs: 100 }))),
      noted('signal', said(session.run(x(1), { signal: controller.signal }))), noted('last', said(session.run(x(1))))
    ]
    await all[1]
    controller.abort()
    await Promise.all(all)
    return [...order, (await env.status()).restarts]
  }), [['limit', 'timeout'], ['signal', 'aborted'], ['first', 'done'], ['last', 'done'], 0]],

  ['limits and signals count while the worker is started again', entry => withEnv(entry, async ({ env, x, fall, bad }) => {
    const neg = await env.createSession(model('Neg'))
    const ready = Date.now() + 2_000
    await env.registerOperator(spec('Slow'), `const end = Date.now() + 2_000\nwhile (end > ${ready} + 2_000 && Date.now() < end);\n${times(2)}`)
    await new Promise(resolve => setTimeout(resolve, ready - Date.now() + 1))
    const first = await fall()
    // The worker is away now, for two seconds.
    const order = []
    const noted = (name, promise) => promise.then(answer => order.push([name, answer]))
    const controller = new AbortController()
    const all = [
      noted('run', said(neg.run(x(1)))), noted('limit', said(neg.run(x(1), { timeoutMs: 50 }))), noted('endless', fall(500)),
      noted('signal', said(bad.run(x(1), { signal: controller.signal })).then(({ code }) => code))
    ]
    controller.abort()
    await Promise.all(all)
    return [first, ...order, (await env.status()).restarts]
  }), ['timeout', ['signal', 'aborted'], ['limit', { code: 'timeout', message: 'the time limit of 50 ms was reached' }], ['endless', 'timeout'], ['run', [-1]], 1]],

  ['what the text of a kernel throws or leaves out is said', entry => withEnv(entry, async ({ env }) => {
    const register = text => said(env.registerOperator(spec('Op'), text)).then(({ code, message }) => [code, message.slice(0, 60)])
    return inOrder(...[
      'throw null', 'throw undefined', 'throw { get message() { throw 1 } }', 'export const a = 1', 'export default null', 'export default 5',
      'export default { get compute() { throw null } }', 'export default new Proxy({}, { get() { throw undefined } })'
    ].map(text => () => register(text)), async () => (await env.operators()).some(({ name }) => name === 'Op'))
  }), [
    ['invalid_argument', 'kernel: the module cannot be loaded: null'], ['invalid_argument', 'kernel: the module cannot be loaded: undefined'],
    ['invalid_argument', 'kernel: the module cannot be loaded: the kernel failed and d'],
    ...Array(2).fill(['invalid_argument', 'kernel: the module has no default export']),
    ['invalid_argument', "kernel: the module's default export must be an object with a"],
    ['invalid_argument', 'kernel: cannot be read: null'], ['invalid_argument', 'kernel: cannot be read: undefined'], false
  ]]
]
