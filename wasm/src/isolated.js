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
//   post(message)         tells the outside, first { type: 'plan', tests: [{ index, name, path, backend }...] }, which is all
//                         that will be run; then { type: 'loading', name } before a kernel is loaded, { type: 'start',
//                         index } before and { type: 'test', index, test } after each case, { type: 'refused', what } when the
//                         kernel reaches for something that it cannot have here, { type: 'done' } or { type: 'error', error:
//                         { code, message } } at the end. It must not be within the kernel's reach: no global of the realm
//   onWatch(note)         gets a function that says such a `what` for evaluate
//
// Before the first kernel the realm is shut (shut.js): nothing that the language or the package has can be changed any more.
//
// Outside, collectTests gathers the messages and believes none but the first place's first one, which comes before any kernel:
// a kernel may have sent it. Each test of that plan has one result, in its order, whatever is said. After the time limit of
// a case it asks to kill the place; the case then is an error, and a new place goes on with { ...job, skip: index + 1 }.

import { Env } from './env.js'
import { abortedError, detailsOf, invalid, OpspecError } from './errors.js'
import { runBundle } from './evidence.js'
import { readBlobs } from './files.js'
import { after } from './platform.js'
import { shutRealm } from './shut.js'
import { SparseTensor, Tensor } from './values.js'

export async function runIsolated(job, { createEnv, evaluate, post, onWatch }) {
  let env
  let index = job.skip ?? 0
  const watch = watchGlobals(what => post({ type: 'refused', what }))
  onWatch?.(watch.note)
  try {
    env = await createEnv({ limits: job.limits })
    // A view of the module's memory would show the kernel what is expected of it, and let it change that.
    Env.inner(env).engine.kernels.copies = true
    shutRealm([Tensor, SparseTensor])
    await runBundle(env, { zip: null, files: await readBlobs(new Map(job.files)) }, {
      backend: job.backend,
      evaluate,
      skip: index,
      onLoad: name => post({ type: 'loading', name }),
      onPlan: tests => post({ type: 'plan', tests }),
      onStart(at) {
        index = at
        watch.clear()
        post({ type: 'start', index })
      },
      onTest: test => post({ type: 'test', index, test })
    })
    post({ type: 'done' })
  } catch (error) {
    const { code, message } = detailsOf(error)
    post({ type: 'error', error: { code, message } })
  } finally {
    close(env)
  }
}

function close(env) {
  try {
    env?.dispose()
  } catch {
    // Of a kernel's dispose, after everything was said.
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
    // Also where a prototype of the global object has it.
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
const START_MS = 60_000
const LOAD_MS = 10_000 // for a kernel's top level, before its first case; less where a case has less
const LEAST_LOAD_MS = 1000
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

const MOST_TESTS = 2 ** 20

// What a place says that it will run; in order of their indices.
function planOf(given) {
  if (!Array.isArray(given) || given.length > MOST_TESTS) return null
  const plan = new Map()
  let last = -1
  for (const test of given) {
    if (!Number.isSafeInteger(test?.index) || test.index <= last) return null
    last = test.index
    plan.set(last, { index: last, name: text(test.name), path: text(test.path), backend: text(test.backend) })
  }
  return plan
}

const notRun = ({ name, path, backend }) => ({ path, name, backend, status: 'error', message: 'the isolated process ended without running this test', ms: 0 })

/**
 * Runs a job to its end in as many places as it takes.
 * @param {object} job
 * @param {{ signal?: AbortSignal, timeoutMs?: number }} limits timeoutMs: of each case
 * @param {(job: object, onMessage: (message: object) => void, onEnd: (reason: string) => void) => () => void} open makes a
 *   place and answers what kills it; onEnd is called when the place ends by itself
 * @returns {Promise<object[]>} tests
 */
export async function collectTests(job, { signal, timeoutMs }, open) {
  const run = { plan: null, results: new Map() }
  let skip = 0
  for (;;) {
    const end = await collectOnce({ ...job, skip }, run, signal, timeoutMs ?? CASE_MS, open)
    const { plan, results } = run
    if (end.done && plan === null) throw new OpspecError('crashed', 'the isolated process did not say what it runs')
    if (end.done) return [...plan.values()].map(test => results.get(test.index) ?? notRun(test))
    if (end.running === null) {
      if (plan === null) throw new OpspecError(end.code, end.message)
      if (end.closing) {
        skip = end.next
        continue
      }
      skip = endLoading(run, end)
      if (skip === null) return [...plan.values()].map(test => results.get(test.index))
      continue
    }
    // The place was lost during a case: that case is at fault.
    const { index, name, path, backend, refused, ms } = end.running
    results.set(index, { path, name, backend, status: 'error', message: end.message, ...refusedOf(refused), ms })
    skip = index + 1
  }
}

// The place was lost between cases, so while kernels were loaded: those whose turn it was, all of one backend, are at fault. Answers
// the index of the first test that is left for another place, or null.
function endLoading({ plan, results }, { next, message }) {
  const due = [...plan.values()].filter(({ index }) => index >= next && !results.has(index))
  for (const { index, name, path, backend } of due) if (backend === due[0].backend) results.set(index, { path, name, backend, status: 'error', message, ms: 0 })
  for (const test of plan.values()) if (test.index < next && !results.has(test.index)) results.set(test.index, notRun(test))
  return due.find(({ index }) => !results.has(index))?.index ?? null
}

function collectOnce(job, run, signal, limit, open) {
  const loadLimit = Math.min(LOAD_MS, Math.max(limit, LEAST_LOAD_MS))
  return new Promise((resolve, reject) => {
    let running = null
    let refused = [] // since the last case
    let next = job.skip
    let loads = job.files.length // of a file at most one
    let first = true
    let closing = false // a case has ended, and nothing was begun since
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
      finish(resolve, { done: false, running, next, closing, code, message })
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
        closing = false
        wait(loadLimit, `${text(name)} was still loading after ${loadLimit / 1000} s and was ended`)
      },
      plan({ tests }) { if (first) run.plan ??= planOf(tests) },
      start({ index }) {
        if (running !== null || !run.plan?.has(index) || index < next) return
        closing = false
        running = { ...run.plan.get(index), refused, since: performance.now() }
        wait(limit, `the time limit of ${limit} ms was reached`)
      },
      refused({ what }) {
        const said = text(what).slice(0, 200)
        if (refused.length < MOST_REFUSED && !refused.includes(said)) refused.push(said)
      },
      test({ test }) {
        if (running === null) return
        run.results.set(running.index, testOf(running, test))
        next = running.index + 1
        running = null
        refused = []
        closing = true
        // What kernels do afterwards, as in a dispose without end, nobody waits for.
        if ([...run.plan.values()].every(({ index }) => index < next)) finish(resolve, { done: true })
        else wait(loadLimit, 'the isolated process does not answer')
      },
      done() { finish(resolve, { done: true }) },
      error({ error }) { lost(text(error?.code), text(error?.message)) }
    }
    const onMessage = message => {
      if (ended || message === null || typeof message !== 'object' || !Object.hasOwn(on, message.type)) return
      on[message.type](message)
      first = false
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
