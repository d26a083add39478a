// What runs inside an isolation, Node child process and page alike. The contract with whoever shuts it in:
//
// createEnv({ isolate }) takes `isolate(job, { signal, timeoutMs }) -> Promise<tests>`. The job is plain data that can be
// cloned: { version: 1, files: [[name, Uint8Array]...], limits, wasm, backend? }. The isolate function carries it into a place that it
// can kill, where a script calls
//
//     runIsolated(job, { createEnv, evaluate, post, onWatch? })
//
//   createEnv(options)    that of the package, with the module reachable from there (pass `wasm`)
//   evaluate(source, name) -> Promise of the default export of an ES module's text. It is the only place where the bundle's
//                          code is started. In a sandboxed frame: a blob: URL and import() in a classic worker of it
//   post(message)         tells the outside: { type: 'loading', name } before a kernel's text is evaluated, { type: 'start',
//                         index, name, path, backend } before and { type: 'test', index, test } after each case, { type:
//                         'refused', what } when the kernel reaches for something that it cannot have here, { type: 'done' }
//                         or { type: 'error', error: { code, message } } at the end
//   onWatch(note)         gets a function that says such a `what` for evaluate
//
// Outside, collectTests gathers the messages and believes none: a kernel may have sent it. After the time limit of a case it
// asks to kill the place; the case then is an error, and a new place goes on with { ...job, skip: index + 1 }.

import { abortedError, invalid, OpspecError } from './errors.js'
import { runBundle } from './evidence.js'
import { readBlobs } from './files.js'
import { after } from './platform.js'

export async function runIsolated(job, { createEnv, evaluate, post, onWatch }) {
  let env
  let index = job.skip ?? 0
  const watch = watchGlobals(what => post({ type: 'refused', what }))
  onWatch?.(watch.note)
  try {
    env = await createEnv({ limits: job.limits })
    await runBundle(env, { zip: null, files: await readBlobs(new Map(job.files)) }, {
      backend: job.backend,
      evaluate(source, name) {
        post({ type: 'loading', name })
        return evaluate(source, name)
      },
      skip: index,
      onStart(at, name, path, backend) {
        index = at
        watch.clear()
        post({ type: 'start', index, name, path, backend })
      },
      onTest: test => post({ type: 'test', index, test })
    })
    post({ type: 'done' })
  } catch (error) {
    post({ type: 'error', error: { code: error?.code ?? 'operator_failed', message: error?.message ?? String(error) } })
  } finally {
    env?.dispose()
  }
}

// ---- What a kernel reaches for --------------------------------------------------------------------------------------

// Ways to the machine, the network, storage, other code. Where the place has none of a name, a kernel finds `undefined`.
const ways = [
  'process', 'require', 'fetch', 'WebSocket', 'XMLHttpRequest', 'EventSource', 'WebTransport', 'RTCPeerConnection', 'Worker', 'SharedWorker',
  'importScripts', 'indexedDB', 'localStorage', 'sessionStorage', 'caches', 'document', 'Deno', 'Bun'
]

// Makes looking at these names known to `say`, each once until clear(); and code from strings, which every place refuses.
function watchGlobals(say) {
  const said = new Set()
  const note = what => {
    if (said.has(what)) return
    said.add(what)
    say(what)
  }
  for (const name of ways) {
    let value = globalThis[name]
    Object.defineProperty(globalThis, name, {
      get() {
        note(name)
        return value
      },
      set(other) { value = other }
    })
  }
  watchCode(note)
  return { note, clear: () => said.clear() }
}

function watchCode(note) {
  const refuse = name => {
    note(name)
    throw new EvalError(`${name}: a kernel that is shut in cannot make code from strings`)
  }
  Object.defineProperty(globalThis, 'eval', { value: text => typeof text === 'string' ? refuse('eval') : text })
  for (const made of [() => {}, function * () {}, async () => {}, async function * () {}]) {
    const prototype = Object.getPrototypeOf(made)
    const { name } = prototype.constructor
    const shut = function () { refuse(name) }
    Object.defineProperties(shut, { name: { value: name }, prototype: { value: prototype } })
    Object.defineProperty(prototype, 'constructor', { value: shut })
    if (name === 'Function') globalThis.Function = shut
  }
}

const CASE_MS = 10_000 // time limit of one case when the caller gives none
const START_MS = 30_000
const LOAD_MS = 10_000 // for a kernel's top level, before its first case
const MOST_REFUSED = 20
const MOST_FINDINGS = 1000

const statuses = ['passed', 'failed', 'skipped', 'error']
const severities = ['error', 'warning', 'info']
const text = value => typeof value === 'string' ? value.slice(0, 4000) : ''
const optional = (name, value) => value === undefined ? {} : { [name]: value }

function findingOf(given) {
  const severity = severities.includes(given?.severity) ? given.severity : 'error'
  return { ...given, rule: text(given?.rule), severity, message: text(given?.message), related: Array.isArray(given?.related) ? given.related : [] }
}

// A test as a place tells it, with all that a report promises.
function testOf({ name, path, backend, refused }, given) {
  const findings = Array.isArray(given?.findings) ? given.findings.slice(0, MOST_FINDINGS).map(findingOf) : undefined
  return {
    ...given, path, name, backend, status: statuses.includes(given?.status) ? given.status : 'error', ms: Number(given?.ms) || 0,
    ...optional('message', given?.message === undefined ? undefined : text(given.message)), ...optional('findings', findings), ...refusedOf(refused)
  }
}

const refusedOf = refused => refused.length === 0 ? {} : { refused }

/**
 * Runs a job to its end in as many places as it takes.
 * @param {object} job
 * @param {{ signal?: AbortSignal, timeoutMs?: number }} limits timeoutMs: of each case
 * @param {(job: object, onMessage: (message: object) => void, onEnd: (reason: string) => void) => () => void} open makes a
 *   place and answers what kills it; onEnd is called when the place ends by itself
 * @returns {Promise<object[]>} tests
 */
export async function collectTests(job, { signal, timeoutMs }, open) {
  const tests = []
  let skip = 0
  for (;;) {
    const end = await collectOnce({ ...job, skip }, tests, signal, timeoutMs ?? CASE_MS, open)
    if (end.done) return tests
    if (end.running === null) throw new OpspecError(end.code, end.message)
    // The place was lost during a case: that case is at fault.
    const { index, name, path, backend, refused, ms } = end.running
    tests.push({ path, name, backend, status: 'error', message: end.message, ...refusedOf(refused), ms })
    skip = index + 1
  }
}

function collectOnce(job, tests, signal, limit, open) {
  return new Promise((resolve, reject) => {
    let running = null
    let refused = [] // since the last case
    let next = job.skip
    let loads = job.files.length // of a file at most one
    let ended = false
    let stop = () => {}
    let close = () => {}
    const finish = (settle, value) => {
      stop()
      signal?.removeEventListener('abort', onAbort)
      ended = true
      try {
        close()
        settle(value)
      } catch (error) {
        reject(error)
      }
    }
    const lost = (code, message) => {
      if (running !== null) running.ms = Math.round(performance.now() - running.since)
      finish(resolve, { done: false, running, code, message })
    }
    const onAbort = () => finish(reject, abortedError(signal))
    const wait = (ms, message) => {
      stop()
      stop = after(ms, () => lost('timeout', message))
    }
    const on = {
      loading({ name }) {
        if (running !== null || loads === 0) return
        loads--
        wait(LOAD_MS, `${text(name)} was still loading after ${LOAD_MS / 1000} s and was ended`)
      },
      start({ index, name, path, backend }) {
        if (running !== null || !Number.isSafeInteger(index) || index < next) return
        running = { index, name: text(name), path: text(path), backend: text(backend), refused, since: performance.now() }
        wait(limit, `the time limit of ${limit} ms was reached`)
      },
      refused({ what }) {
        const said = text(what).slice(0, 200)
        if (refused.length < MOST_REFUSED && !refused.includes(said)) refused.push(said)
      },
      test({ test }) {
        if (running === null) return
        tests.push(testOf(running, test))
        next = running.index + 1
        running = null
        refused = []
        wait(START_MS, 'the isolated process does not answer')
      },
      done() { finish(resolve, { done: true }) },
      error({ error }) { lost(text(error?.code), text(error?.message)) }
    }
    const onMessage = message => {
      if (!ended && message !== null && typeof message === 'object' && Object.hasOwn(on, message.type)) on[message.type](message)
    }
    if (signal?.aborted) return reject(abortedError(signal))
    signal?.addEventListener('abort', onAbort, { once: true })
    wait(START_MS, 'the isolated process does not start')
    try {
      const kill = open(job, onMessage, reason => { if (!ended) lost('crashed', reason) })
      if (typeof kill !== 'function') throw invalid('open: must answer a function that ends the place')
      if (ended) kill()
      close = kill
    } catch (error) {
      finish(reject, error)
    }
  })
}
