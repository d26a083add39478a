// Bundles that mean harm: `check` runs none of their code, `test` shuts it in and says what it reached for; archives.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, OpspecError } from '../../wasm/js/index.js'
import { collectTests } from '../../wasm/js/isolated.js'
import { readBundle } from '../../wasm/js/node.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const floats = (...data) => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats(-1, 2)], outputs: [floats(0, 2)] })
const document = customSpec({ domain: 'org.test', opType: 'MyRelu', tests: ['a.json'] })
const bundle = kernel => ({ 'my.opspec.json': document, 'kernel.js': kernel, 'a.json': evidence })
const honest = 'return [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }]'
const compute = body => `export default { compute ([x], attributes, context) { ${body}; ${honest} } }`
const computeLater = body => `export default { async compute ([x]) { ${body}; ${honest} } }`
const quiet = body => compute(`try { ${body} } catch {}`)

let env
let folder
let site
before(async () => {
  env = await createEnv()
  folder = mkdtempSync(join(tmpdir(), 'opspec-hostile-'))
  const asked = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.end()
  })
  await new Promise(resolve => server.listen(0, 'localhost', resolve))
  site = { asked, url: `http://localhost:${server.address().port}/`, close: () => server.close() }
})
after(() => {
  env.dispose()
  site.close()
  rmSync(folder, { recursive: true })
})

const testOne = async (kernel, timeoutMs = 20_000) => (await env.test(bundle(kernel), { timeoutMs })).tests[0]

describe('a kernel that reaches for', () => {
  const witness = () => JSON.stringify(join(folder, 'written'))
  // What it does, and what the test then says. Without a status: it catches what it meets, and passes.
  const tries = {
    'files, by require': { kernel: () => compute(`require('fs').writeFileSync(${witness()}, 'x')`), status: 'failed', refused: ['require'] },
    'files, by process': { kernel: () => compute(`process.getBuiltinModule('fs').writeFileSync(${witness()}, 'x')`), status: 'failed', refused: ['process'] },
    'files, by import': { kernel: () => computeLater(`(await import('node:fs')).writeFileSync(${witness()}, 'x')`), status: 'failed', refused: ['import("node:fs")'] },
    'files, quietly': { kernel: () => quiet(`require('fs').writeFileSync(${witness()}, 'x')`), refused: ['require'] },
    'another process': { kernel: () => quiet("process.binding('spawn_sync').spawn({ file: '/bin/true' })"), refused: ['process'] },
    'a thread': { kernel: () => quiet("new Worker('data:text/javascript,1')"), refused: ['Worker'] },
    'the network': { kernel: () => computeLater(`await fetch('${site.url}').catch(() => {})`), status: 'failed', refused: ['fetch'] },
    'the network, quietly': { kernel: () => quiet(`fetch('${site.url}'); `), refused: ['fetch'] },
    'sockets': { kernel: () => quiet(`new WebSocket('${site.url}')`), refused: ['WebSocket'] },
    'the environment': { kernel: () => compute('context.fail(String(process.env.PATH))'), status: 'failed', refused: ['process'] },
    'code from strings': { kernel: () => compute('eval("1")'), status: 'failed', refused: ['eval'] },
    'its realm\'s Function': { kernel: () => compute('this.constructor.constructor("return process")()'), status: 'failed', refused: ['Function'] },
    'every kind of Function': {
      kernel: () => quiet('for (const made of [async () => {}, function * () {}, async function * () {}]) try { made.constructor("return process")() } catch {}'),
      refused: ['AsyncFunction', 'GeneratorFunction', 'AsyncGeneratorFunction']
    },
    'a Function of what it is given': { kernel: () => quiet('for (const given of [x, x.data, attributes, context, context.fail, setTimeout, TextEncoder, performance.now]) try { given.constructor.constructor("return process")() } catch {}'), refused: ['Function'] },
    'what `typeof` answers': { kernel: () => compute('if (typeof process !== "undefined" || typeof fetch !== "undefined") throw new Error("there")'), status: 'passed', refused: ['process', 'fetch'] }
  }
  for (const [name, { kernel, status = 'passed', refused }] of Object.entries(tries)) {
    it(name, async () => {
      const test = await testOne(kernel())
      assert.equal(test.status, status, test.message)
      assert.deepEqual(test.refused, refused)
      assert.equal(existsSync(join(folder, 'written')), false)
      assert.deepEqual(site.asked, [])
    })
  }

  // Each looks for an object of the process: one whose maker is not the context's own.
  const foreign = {
    'the error of an import': computeLater('try { await import("x") } catch (error) { if (!(error instanceof Error)) throw new Error("foreign") }'),
    'the promise of an import': computeLater('const made = import("x"); made.catch(() => {}); if (made.constructor !== Promise) throw new Error("foreign")'),
    'a timer': compute('const timer = setTimeout(() => {}, 0); if (typeof timer !== "number") throw new Error("foreign")'),
    'the frames of an error': compute('try { Error.prepareStackTrace = (_, frames) => frames } catch {} if (typeof new Error().stack !== "string") throw new Error("foreign")'),
    'what a broken decode throws': compute('try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (error) { if (!(error instanceof Error)) throw new Error("foreign"); }'),
    'what an array is asked by': compute('const own = new Proxy(new Uint8Array(4), { get (target, key, given) { if (!(given instanceof Uint8Array)) throw new Error("foreign"); return Reflect.get(target, key) } }); try { new TextEncoder().encodeInto("x", own) } catch (error) { if (!(error instanceof Error) || error.message === "foreign") throw new Error("foreign") }')
  }
  for (const [name, kernel] of Object.entries(foreign)) {
    it(`the process's objects through ${name}`, async () => {
      const { status, message } = await testOne(kernel)
      assert.equal(status, 'passed', message)
    })
  }
})

describe('a kernel that', () => {
  const ends = {
    'loops': { kernel: compute('for (;;);'), timeoutMs: 700, message: /time limit of 700 ms/ },
    'loops in a getter of its answer': { kernel: compute('return [{ get type () { for (;;); } }]'), timeoutMs: 700, message: /time limit/ },
    'loops in a proxy': { kernel: compute('return new Proxy([], { get () { for (;;); } })'), timeoutMs: 700, message: /time limit/ },
    'loops in the method `then` of its answer': { kernel: compute('return { then () { for (;;); } }'), timeoutMs: 700, message: /time limit/ },
    'loops in the message of its error': { kernel: compute('throw { get message () { for (;;); } }'), timeoutMs: 700, message: /time limit/ },
    'loops in promises': { kernel: computeLater('const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})'), timeoutMs: 700, message: /time limit/ },
    'waits on shared memory': { kernel: compute('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'), timeoutMs: 700, message: /time limit/ },
    'answers a promise that never settles': { kernel: compute('return new Promise(() => {})'), message: /something that never comes/ },
    'answers a `then` that does nothing': { kernel: compute('return { then () {} }'), message: /something that never comes/ },
    'allocates without end': { kernel: compute('const all = []; for (;;) all.push(new Uint8Array(2 ** 26).fill(1))'), timeoutMs: 120_000, message: /memory limit/ },
    'throws later': { kernel: computeLater('setTimeout(() => { throw new Error("late") }, 0); await new Promise(resolve => setTimeout(resolve, 5000))'), message: /process ended \(exit 1\): Error: late/ },
    'loses a rejection': { kernel: computeLater('Promise.reject(new Error("lost")); await new Promise(resolve => setTimeout(resolve, 5000))'), message: /process ended \(exit 1\).*Error: lost|lost/ }
  }
  for (const [name, { kernel, timeoutMs, message }] of Object.entries(ends)) {
    it(`${name} is ended, and said`, async () => {
      const test = await testOne(kernel, timeoutMs)
      assert.equal(test.status, 'error')
      assert.match(test.message, message)
    })
  }

  const fails = {
    'throws null': [compute('throw null'), /null/],
    'throws a symbol': [compute('throw Symbol("why")'), /why/],
    'throws what says nothing': [compute('throw { get message () { throw 1 }, toString () { throw 2 } }'), /does not say why/],
    'throws without end': [compute('throw new Error("x".repeat(2 ** 28))'), /x{100}/],
    'recurses without end': [compute('const down = () => down(); down()'), /call stack/],
    'answers an async generator': [compute('return (async function * () { yield x })()'), /list of its outputs/],
    'answers getters that throw': [compute('return [{ get type () { throw new Error("mine") } }]'), /mine/],
    'answers a list of a billion': [compute('const all = []; all.length = 1e9; return all'), /gave 1000000000 outputs/],
    'answers dims that lie': [compute('return [{ type: "float32", dims: [2 ** 40], data: x.data }]'), /dims|elements/],
    'answers data that is none': [compute('return [{ type: "float32", dims: [2], data: { length: 2, get 0 () { return 1 } } }]'), /data/]
  }
  for (const [name, [kernel, message]] of Object.entries(fails)) {
    it(`${name} fails its test`, async () => {
      const test = await testOne(kernel)
      assert.equal(test.status, 'failed')
      assert.match(test.message, message)
      assert.ok(test.message.length < 5000)
    })
  }

  it('loops while it is loaded is ended, and said', async () => {
    const { tests } = await env.test(bundle('for (;;);\nexport default {}'))
    assert.ok(tests.length > 0)
    for (const { status, message } of tests) {
      assert.equal(status, 'error')
      assert.match(message, /kernel\.js was still loading/)
    }
  })
  it('loops while it is loaded has no more time than a case', async () => {
    const { tests: [{ status, message }] } = await env.test(bundle('for (;;);\nexport default {}'), { timeoutMs: 1200 })
    assert.equal(status, 'error')
    assert.match(message, /kernel\.js was still loading after 1\.2 s/)
  })
  it('loops when it is disposed of holds up nothing', { timeout: 50_000 }, async () => {
    const loops = `export default { compute ([x]) { ${honest} }, dispose () { for (;;); } }`
    assert.equal((await testOne(loops)).status, 'passed')
    const body = onnx.functionProto({ domain: 'org.test', name: 'MyRelu', inputs: ['X'], outputs: ['Y'], opsets: { '': 21 }, nodes: [onnx.node('Relu', ['X'], ['Y'])] })
    const { tests } = await env.test({ ...bundle(loops), 'kernel.onnx': body }, { backend: 'all', timeoutMs: 1000 })
    assert.deepEqual(tests.map(({ backend, status }) => [backend, status]), [['js', 'passed'], ['function', 'passed']])
  })
  it('spoils the language for itself spoils nothing outside', async () => {
    const spoil = 'Object.prototype.type = "done"; Object.prototype.toJSON = () => null; Array.prototype.push = () => { throw 1 }; JSON.stringify = () => "[[["; Promise.prototype.then = () => {}; Map.prototype.get = () => 7; Uint8Array.prototype.set = () => {}'
    const test = await testOne(compute(spoil))
    assert.ok(['failed', 'error'].includes(test.status))
    assert.equal({}.type, undefined)
    assert.equal((await testOne(compute(''))).status, 'passed')
  })
  it('loops on does not outlive a killed command', { skip: process.platform !== 'linux' && 'processes are looked up in /proc' }, async () => {
    mkdirSync(join(folder, 'endless'))
    for (const [name, text] of Object.entries(bundle(compute('for (;;);')))) writeFileSync(join(folder, 'endless', name), text)
    const command = spawn(process.execPath, [cli, 'test', '--timeout', '10m', join(folder, 'endless')], { stdio: 'ignore' })
    const started = () => readFileSync(`/proc/${command.pid}/task/${command.pid}/children`, 'latin1').trim()
    const until = async job => {
      for (let left = 600; left > 0 && !job(); left--) await new Promise(resolve => setTimeout(resolve, 50))
      assert.ok(job())
    }
    await until(() => started() !== '')
    const child = started()
    // Busy: it has used a second of processor time.
    await until(() => Number(readFileSync(`/proc/${child}/stat`, 'latin1').split(' ')[13]) > 100)
    command.kill('SIGKILL')
    await until(() => !existsSync(`/proc/${child}`))
  })
  it('loops in the first of three tests leaves the other two', async () => {
    const files = bundle(compute('while (x.data[0] === 5);'))
    const tests = ['a.json', 'b.json', 'c.json']
    files['my.opspec.json'] = customSpec({ domain: 'org.test', opType: 'MyRelu', tests })
    files['b.json'] = evidence.replaceAll('-1', '5').replace('[0,2]', '[5,2]')
    files['c.json'] = evidence
    const report = await env.test(files, { timeoutMs: 1500 })
    assert.deepEqual(report.tests.map(({ status }) => status), ['passed', 'error', 'passed'])
  })
})

describe('a kernel that answers wrongly and wants it to be taken for right', () => {
  const wrong = body => `const seize = act => { try { act() } catch {} }
const own = Object.keys
${body.before ?? ''}
export default { ${body.later ? 'async ' : ''}compute ([x], attributes, context) { ${body.during ?? body}; return [{ type: x.type, dims: x.dims, data: x.data.map(() => 9) }] } }`
  const right = "{ get () { return 'passed' }, set () {}, configurable: true }"
  const ways = {
    'by toJSON': "for (const { prototype } of [Object, Array, String, Number]) seize(() => { prototype.toJSON = function () { return this.test ? { ...this, test: { status: 'passed' } } : this.status ? { ...this, status: 'passed' } : this } })",
    'by a status of all objects': `seize(() => Object.defineProperty(Object.prototype, 'status', ${right}))`,
    'by another JSON': "const { stringify } = JSON; const lie = value => stringify(value).replace(/failed|error/g, 'passed'); seize(() => { JSON.stringify = lie }); seize(() => { globalThis.JSON = { ...JSON, stringify: lie, parse: JSON.parse } }); seize(() => Object.defineProperty(globalThis, 'JSON', { value: { stringify: lie } }))",
    'by another JSON.parse': "const { parse } = JSON; seize(() => { JSON.parse = text => { const out = parse(text); if (out && out.status) out.status = 'passed'; return out } })",
    'by the methods of lists': "for (const name of ['push', 'map', 'filter', 'forEach', 'flatMap', 'at', 'entries', Symbol.iterator]) { const { [name]: old } = Array.prototype; seize(() => { Array.prototype[name] = function (...values) { for (const v of values) if (v && v.status) v.status = 'passed'; return old.apply(this, values) } }) }",
    'by iterators': "const prototype = Object.getPrototypeOf([][Symbol.iterator]()); const { next } = prototype; seize(() => { prototype.next = function () { const out = next.call(this); if (out.value && out.value.status) out.value.status = 'passed'; return out } })",
    'by promises': "const { then } = Promise.prototype; seize(() => { Promise.prototype.then = function (a, b) { return then.call(this, v => { if (v && v.status) v.status = 'passed'; return a(v) }, b) } }); seize(() => { globalThis.Promise = class extends Promise {} })",
    'by maps': "const { get } = Map.prototype; seize(() => { Map.prototype.get = function (key) { return get.call(this, key) ?? { status: 'passed' } } })",
    'by the class of its input': "const proto = Object.getPrototypeOf(x); seize(() => Object.defineProperty(proto, 'data', { get: () => [0, 2], set () {} })); seize(() => { x.constructor.prototype = {} }); seize(() => Object.defineProperty(x.constructor, Symbol.hasInstance, { value: () => true }))",
    'by the memory around its input': 'if (x.data.buffer.byteLength !== 8) { const all = new Float32Array(x.data.buffer, 0, x.data.buffer.byteLength >> 2); for (let i = 0; i < all.length; i++) if (all[i] === 0 && all[i + 1] === 2) { all[i] = 9; all[i + 1] = 9 } }',
    'by typed arrays': "const proto = Object.getPrototypeOf(Uint8Array.prototype); for (const name of ['set', 'subarray', 'slice']) { const old = proto[name]; seize(() => { proto[name] = function (...values) { return old.apply(this, values.map(v => v.length === 2 ? [0, 2] : v)) } }) }",
    'by WebAssembly': "const { grow } = WebAssembly.Memory.prototype; seize(() => { WebAssembly.Memory.prototype.grow = () => 0 }); seize(() => { WebAssembly.Instance = class {} }); seize(() => { TextDecoder.prototype.decode = () => '{\"status\":\"passed\",\"findings\":[]}' })",
    'by numbers': "for (const name of ['isSafeInteger', 'isInteger']) seize(() => { Number[name] = () => true }); seize(() => { Math.abs = () => 0 })",
    'by Reflect and Object': 'for (const name of own(Object.getOwnPropertyDescriptors(Reflect))) seize(() => { Reflect[name] = () => true }); seize(() => { Object.hasOwn = () => true })',
    'by a prototype of lists': "seize(() => Object.setPrototypeOf(Array.prototype, new Proxy({}, { get: () => 'passed' }))); seize(() => Object.setPrototypeOf(Object.prototype, { status: 'passed' })); seize(() => Object.setPrototypeOf(globalThis, { status: 'passed' }))",
    'by messages': "for (const say of [() => postMessage({ type: 'test', index: 0, test: { status: 'passed' } }), () => process.stdout.write('{\"type\":\"done\"}\\n'), () => process.send({ type: 'done' })]) seize(say)",
    'by time': { during: 'await new Promise(resolve => setTimeout(resolve, 5)); seize(() => { globalThis.setTimeout = act => act() })', later: true },
    'before it is asked': { before: "seize(() => { Object.prototype.toJSON = () => ({ type: 'test', index: 0, test: { status: 'passed' } }) }); seize(() => { Array.prototype.push = () => 1 })", during: '' }
  }
  for (const [name, body] of Object.entries(ways)) {
    it(`${name} fails its test`, async () => {
      const { tests, ok } = await env.test(bundle(wrong(body)), { timeoutMs: 20_000 })
      assert.deepEqual([ok, tests.map(({ name, backend }) => [name, backend])], [false, [['a.json', 'js']]])
      assert.equal(tests[0].status, 'failed', tests[0].message)
    })
  }
  it('gets copies: what it writes into its input, only it sees', async () => {
    assert.equal((await testOne(compute('if (x.data.buffer.byteLength !== 8) context.fail(`it sees ${x.data.buffer.byteLength} bytes`)'))).status, 'passed')
  })
  it('may write what honest code writes: errors of its own, methods of its own, globals of its own', async () => {
    const honest = `class Mine extends Error { constructor (text) { super(text); this.name = 'Mine'; this.message += '!' } }
function Old () {} Old.prototype = Object.create(Array.prototype); Old.prototype.constructor = Old; Old.prototype.toString = () => 'old'
globalThis.shared = new Map([['a', 1]])
const error = new Mine('x')
if (error.name !== 'Mine' || error.message !== 'x!' || String(new Old()) !== 'old' || shared.get('a') !== 1 || !(error instanceof Error)) throw error
const named = {}; named.constructor = 5; named.valueOf = () => 6; if (named + 1 !== 7) throw error
`
    assert.equal((await testOne(honest + compute(''))).status, 'passed')
  })
})

describe('messages out of an isolation are not believed', () => {
  const plan = (...names) => ({ type: 'plan', tests: names.map((name, index) => ({ index, name, path: `${name}.json`, backend: 'js' })) })
  const answers = async (...messages) => {
    let places = 0
    return collectTests({ version: 1, files: [] }, { timeoutMs: 10_000 }, (job, onMessage, onEnd) => {
      places++
      assert.ok(places < 5)
      setTimeout(() => {
        messages.forEach(onMessage)
        if (places > 1) onMessage({ type: 'done' })
        else onEnd('it ended')
      }, 0)
      return () => {}
    })
  }
  const start = index => ({ type: 'start', index })
  const passed = { type: 'test', test: { status: 'passed' } }
  const done = { type: 'done' }
  const lost = name => ({ path: `${name}.json`, name, backend: 'js', status: 'error', message: 'the isolated process ended without running this test', ms: 0 })

  it('no message at all', async () => {
    for (const nothing of [null, 5, 'x', [], {}, { type: 'constructor' }, { type: '__proto__' }, { type: 7 }]) {
      assert.deepEqual(await answers(plan(), nothing, done), [])
    }
  })
  it('tests that were never started, or twice', async () => {
    const tests = await answers(plan('a'), passed, start(-1), start(0.5), start(7), start(0), start(0), { type: 'test', index: 0, test: 5 }, { type: 'test', index: 0, test: 6 }, done)
    assert.deepEqual(tests, [{ path: 'a.json', name: 'a', backend: 'js', status: 'error', ms: 0 }])
  })
  it('an end before all tests have run', async () => {
    assert.deepEqual(await answers(plan('a', 'b'), done), [lost('a'), lost('b')])
    const [a, b, c] = await answers(plan('a', 'b', 'c'), start(1), passed, start(0), passed, done)
    assert.deepEqual([a, b.status, c], [lost('a'), 'passed', lost('c')])
  })
  it('more tests than there are, and other names', async () => {
    const tests = await answers(plan('a'), { ...start(0), name: 'z', path: 'z', backend: 'builtin' }, { type: 'test', test: { status: 'passed', name: 'z', path: 'z' } }, start(1), passed, start(2), passed, done)
    assert.deepEqual(tests.map(({ name, path, backend, status }) => [name, path, backend, status]), [['a', 'a.json', 'js', 'passed']])
  })
  it('another plan, a late one, none, or one that is no list of tests', async () => {
    assert.deepEqual(await answers(plan('a', 'b'), plan(), done), [lost('a'), lost('b')])
    const none = error => error instanceof OpspecError && error.code === 'crashed' && /did not say what it runs/.test(error.message)
    await assert.rejects(answers(done), none)
    await assert.rejects(answers({ type: 'loading', name: 'kernel.js' }, plan(), done), none)
    for (const tests of [null, 5, {}, [null], [{ index: -1 }], [{ index: 1 }, { index: 1 }], [{ index: 2 }, { index: 1 }], { length: 1e9 }]) await assert.rejects(answers({ type: 'plan', tests }, done), none)
  })
  it('an error without a word', async () => {
    await assert.rejects(answers({ type: 'error' }), OpspecError)
  })
  it('loading without end, which would put off the time limit', { timeout: 20_000 }, async () => {
    for (const first of [[plan('a'), start(0)], []]) {
      let flood
      const tests = collectTests({ version: 1, files: [['kernel.js', new Uint8Array(1)]] }, { timeoutMs: 100 }, (job, onMessage) => {
        const messages = job.skip === 0 ? [...first] : [done]
        flood = setInterval(() => onMessage(messages.shift() ?? { type: 'loading', name: 'kernel.js' }), 5)
        return () => clearInterval(flood)
      })
      if (first.length === 0) await assert.rejects(tests, { code: 'timeout' })
      else assert.match((await tests)[0].message, /time limit of 100 ms/)
    }
  })
  it('refusals without end', async () => {
    const flood = Array.from({ length: 1000 }, (_, i) => ({ type: 'refused', what: `${i}${'x'.repeat(1e4)}` }))
    const [{ refused }] = await answers(plan('a'), start(0), ...flood, passed, done)
    assert.equal(refused.length, 20)
    assert.ok(refused.every(what => what.length <= 200))
  })
})

function command (...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => { text += chunk })
    child.on('error', reject)
    child.on('close', code => resolve({ code, text }))
  })
}

describe('the command', () => {
  const put = (name, files) => {
    const path = join(folder, name)
    mkdirSync(path)
    for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content)
    return path
  }
  it('check runs nothing of a bundle', async () => {
    const loops = put('loops', { ...bundle('for (;;);'), 'kernel.wasm': 'no module', 'kernel.mjs': 'throw 1' })
    const { code, text } = await command('check', loops)
    assert.equal(code, 0, text)
    const report = env.check(zip(bundle('for (;;);')))
    assert.equal(report.kind, 'bundle')
    assert.equal(report.ok, true)
  })
  it('test says what was refused, and for what a test was ended', async () => {
    const writes = put('writes', bundle(quiet(`require('fs').writeFileSync(${JSON.stringify(join(folder, 'writes', 'x'))}, '')`)))
    const said = await command('test', writes)
    assert.equal(said.code, 0, said.text)
    assert.match(said.text, /refused: the kernel reached for require/)
    assert.deepEqual(readdirSync(writes).sort(), ['a.json', 'kernel.js', 'my.opspec.json'])
    const ended = await command('test', join(folder, 'loops'), '--timeout', '700')
    assert.notEqual(ended.code, 0)
  })
})

describe('an archive', () => {
  let small // so that what is too much is soon there
  before(async () => { small = await createEnv({ limits: { bytes: 2 ** 26 } }) })
  after(() => small.dispose())
  const inside = bundle(compute(''))
  const good = Object.entries(inside)
  // Many entries for one content: a local header and a list.
  function many (count, claimed = count) {
    const one = zip({ 'x.md': 'x' })
    const at = new DataView(one.buffer).getUint32(one.length - 6, true)
    const entry = one.subarray(at, one.length - 22)
    const out = new Uint8Array(at + entry.length * count + 22)
    out.set(one.subarray(0, at))
    for (let i = 0; i < count; i++) out.set(entry, at + i * entry.length)
    const end = new DataView(out.buffer, out.length - 22)
    for (const [offset, value] of [[0, 0x06054b50], [12, entry.length * count], [16, at]]) end.setUint32(offset, value, true)
    for (const offset of [8, 10]) end.setUint16(offset, claimed, true)
    return out
  }
  const bomb = new Uint8Array(2 ** 24)
  const archives = {
    'with `..`': [zip([...good, ['../evil.json', 'x']]), /"\.\.\/evil\.json" is no path inside/],
    'with `..` inside': [zip([...good, ['a/../../evil.json', 'x']]), /no path inside/],
    'with an absolute path': [zip([...good, ['/etc/passwd', 'x']]), /"\/etc\/passwd" is no path inside/],
    'with a path of another system': [zip([...good, ['C:\\evil', 'x']]), /no path inside/],
    'with NUL in a name': [zip([...good, ['a.json\0.js', 'x']]), /no path inside/],
    'with a link': [zip({ 'my.opspec.json': '/etc/passwd' }, { mode: 0o120777 }), /"my\.opspec\.json" is a link/],
    'with a name twice': [zip([...good, ['kernel.js', 'export default {}']]), /"kernel\.js" is in (it|the archive) twice/],
    'with a million files': [many(1_000_000, 0xffff), /too many files|twice/],
    'with a million files that it does not count': [many(1_000_000, 16960), /too many files|twice|damaged/],
    'with a million claimed': [many(5, 0xfffe), /too many files|damaged|twice/],
    'that unpacks to more than it says': [zip({ 'a.json': bomb }, { deflate: true, size: 10 }), /a\.json/],
    'that says it unpacks to 4 GB': [zip({ 'a.json': bomb }, { deflate: true, size: 0xfffffff0 }), /a\.json|unpacks to more/],
    'with 1,001 files': [zip(Array.from({ length: 1001 }, (_, i) => [`${i}.md`, 'x'])), /too many files/],
    'that unpacks to 400 times its size': [zip({ 'a.bin': new Uint8Array(2 ** 25) }, { deflate: true }), /unpacks to (more than )?\d+/],
    'with a name that writes to a terminal': [zip({ 'a\n\u001b[2Jb.json': '{}' }, { crc: 1 }), /"a\\n\\u001b\[2Jb\.json" (cannot be unpacked|is not what was packed)/],
    'that is not what was packed': [zip(good, { crc: 1 }), /what was packed|damaged/],
    'that unpacks to many times 16 MB': [zip(Array.from({ length: 70 }, (_, i) => [`${i}.bin`, bomb]), { deflate: true }), /unpacks to/]
  }
  for (const [name, [bytes, message]] of Object.entries(archives)) {
    it(`${name} is refused, with the reason`, async () => {
      const env = small
      const report = env.check(bytes, { as: 'bundle' })
      assert.equal(report.ok, false)
      assert.match([...report.incomplete, ...report.findings.map(finding => finding.message)].join('\n'), message)
      const { ok, tests: [test] } = await env.test(bytes)
      assert.equal(ok, false)
      assert.equal(test.status, 'error')
      assert.match(test.message, message)
      const path = join(folder, 'archive.zip')
      writeFileSync(path, bytes)
      await assert.rejects(readBundle(path), error => error instanceof OpspecError && message.test(error.message))
      const { code, text } = await command('check', path)
      assert.notEqual(code, 0)
      assert.match(text, message)
    })
  }

  it('with names that mean something to JavaScript is read as any other', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty/__proto__']
    const bytes = zip([...good, ...names.map(name => [name, 'x'])])
    assert.equal((await env.test(bytes)).tests[0].status, 'passed')
    const report = env.check(bytes)
    assert.equal(report.ok, true)
    assert.deepEqual(report.findings.filter(({ rule }) => rule === 'spec.bundle.unused-file').map(({ file }) => file).sort(), [...names].sort())
    const path = join(folder, 'proto.zip')
    writeFileSync(path, bytes)
    assert.equal((await readBundle(path)).size, good.length + names.length)
    assert.equal({}.x, undefined)
  })
  it('with 65,536 levels is read or refused', async () => {
    const name = `${'a/'.repeat(30_000)}b.json`
    const report = env.check(zip([...good, [name, 'x']]))
    assert.match(report.incomplete.join(), /too long/)
    const deep = `{"kind":"opspec.evidence","version":"1","inputs":${'['.repeat(65_536)}${']'.repeat(65_536)}}`
    const [test] = (await env.test(zip({ ...inside, 'a.json': deep }))).tests
    assert.equal(test.status, 'error')
    assert.equal(env.check(zip({ ...inside, 'a.json': deep })).ok, false)
    let nested = zip(inside)
    for (let i = 0; i < 50; i++) nested = zip({ 'a.zip': nested })
    assert.equal(env.check(nested).ok, false)
  })
})
