// What runs inside an isolation, Node child process and page alike. The contract with whoever shuts it in:
//
// createEnv({ isolate }) takes `isolate(job, { signal, timeoutMs }) -> Promise<tests>`. The job is plain data that can be
// cloned: { version: 1, files: [[name, Uint8Array]...], limits, wasm, backend? }. The isolate function carries it into a place that it
// can kill, where a script calls
//
//     runIsolated(job, { createEnv, evaluate, post })
//
//   createEnv(options)    that of the package, with the module reachable from there (pass `wasm`)
//   evaluate(source, name) -> Promise of the default export of an ES module's text. It is the only place where the bundle's
//                          code is started. In a sandboxed frame: a blob: URL and import() in a classic worker of it
//   post(message)         tells the outside: { type: 'start', index, name, path, backend } before and { type: 'test', index,
//                         test } after each case, { type: 'done' } or { type: 'error', error: { code, message } } at the end
//
// Outside, collectTests gathers the messages. After the time limit of a case it asks to kill the place; the case then is an
// error, and a new place goes on with { ...job, skip: index + 1 }.

import { OpspecError } from './errors.js'
import { runBundle } from './evidence.js'
import { readBlobs } from './files.js'

export async function runIsolated(job, { createEnv, evaluate, post }) {
  let env
  let index = job.skip ?? 0
  try {
    env = await createEnv({ limits: job.limits })
    await runBundle(env, { zip: null, files: await readBlobs(new Map(job.files)) }, {
      backend: job.backend,
      evaluate,
      skip: index,
      onStart(at, name, path, backend) {
        index = at
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

const CASE_MS = 10_000 // time limit of one case when the caller gives none
const START_MS = 30_000

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
    const { index, name, path, backend, ms } = end.running
    tests.push({ path, name, backend, status: 'error', message: end.message, ms })
    skip = index + 1
  }
}

function collectOnce(job, tests, signal, limit, open) {
  return new Promise((resolve, reject) => {
    let running = null
    let timer
    let close = () => {}
    const finish = (settle, value) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      close()
      settle(value)
    }
    const lost = (code, message) => {
      if (running !== null) running.ms = Math.round(performance.now() - running.since)
      finish(resolve, { done: false, running, code, message })
    }
    const onAbort = () => finish(reject, new OpspecError('aborted', 'the caller cancelled', { cause: signal.reason }))
    const wait = (ms, message) => {
      clearTimeout(timer)
      timer = setTimeout(() => lost('timeout', message), ms)
    }
    const onMessage = message => {
      if (message.type === 'start') {
        running = { ...message, since: performance.now() }
        wait(limit, `the time limit of ${limit} ms was reached`)
      } else if (message.type === 'test') {
        running = null
        tests.push(message.test)
        wait(START_MS, 'the isolated process does not answer')
      } else if (message.type === 'done') finish(resolve, { done: true })
      else lost(message.error.code, message.error.message)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    wait(START_MS, 'the isolated process does not start')
    close = open(job, onMessage, reason => lost('crashed', reason))
  })
}
