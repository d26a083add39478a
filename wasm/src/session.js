import { optionsOf } from './arguments.js'
import { abortedError, codeOf, invalid, messageOf, NEEDS_HOST, OK, OpspecError, timeoutError, YIELD } from './errors.js'
import { watch } from './handles.js'
import { after, now, turn } from './platform.js'
import { parseType, withDispose } from './values.js'

const TURN_MS = 25     // work between turns of the event loop
const MOST_STEPS = 16  // steps of the core between looks at the clock
const SLOW_MS = 4

/**
 * Steps `step(budget)` until it answers OK. Gives the event loop a turn now and then, waits for kernels that answered a
 * promise, and ends early for an abort or a time-out.
 * @param {import('./engine.js').Engine} engine
 * @param {{ step: (budget: number) => number, answer: (failed: number, message: number) => void, signal?: AbortSignal,
 *   timeoutMs?: number, start?: number, first?: number, gone: () => boolean, wakes?: Set<() => void>, cause?: unknown }} job
 *   first: what a step has answered already; wakes: where a wait for a kernel is entered, to end it; cause: set to what a
 *   kernel threw, whatever other runs do meanwhile
 */
export async function drive(engine, job) {
  const start = job.start ?? now()
  const deadline = job.timeoutMs === undefined ? Infinity : start + job.timeoutMs
  let lastTurn = now()
  let budget = 4
  let before = lastTurn
  let status = job.first
  job.cause = engine.kernels.cause
  for (;;) {
    status ??= engine.guard(() => step(engine, job, budget), job.files)
    if (status === OK) return
    let time = now()
    budget = time - before > SLOW_MS ? Math.max(1, budget >> 1) : Math.min(MOST_STEPS, budget << 1)
    if (status === NEEDS_HOST) {
      await waitForKernel(engine, job, deadline)
      lastTurn = time = now()
    } else if (status !== YIELD) {
      throw engine.trouble(status)
    } else if (time - lastTurn >= TURN_MS) {
      await turn()
      lastTurn = time = now()
    }
    status = undefined
    checkTime(engine, job, deadline, time)
    before = time
  }
}

// Other runs take their steps between this one's.
function step(engine, job, budget) {
  const { kernels } = engine
  kernels.signal = job.signal
  kernels.cause = job.cause
  const status = job.step(budget)
  job.cause = kernels.cause
  return status
}

function checkTime(engine, job, deadline, time) {
  if (job.signal?.aborted) throw abortedError(job.signal)
  if (time > deadline) throw timeoutError(job.timeoutMs)
  if (engine.dead || job.gone()) throw new OpspecError('aborted', 'the Env or session was disposed during the run')
}

// Resolves to what `promise` does, which never rejects, or to null on what comes earlier: the abort, the time limit, the end of
// the session or Env.
async function waitFor(promise, engine, { signal, wakes }, deadline) {
  const places = [engine.wakes, ...wakes === undefined ? [] : [wakes]]
  let stop
  let wake
  const end = await new Promise(resolve => {
    wake = () => resolve(null)
    promise.then(resolve)
    signal?.addEventListener('abort', wake, { once: true })
    stop = after(deadline - now() + 1, wake)
    for (const place of places) place.add(wake)
  })
  stop()
  signal?.removeEventListener('abort', wake)
  for (const place of places) place.delete(wake)
  return end
}

async function waitForKernel(engine, job, deadline) {
  const { pending } = engine.kernels
  engine.kernels.pending = null
  // Anything with a method `then` may call itself a promise; what that method answers or throws means nothing.
  const outcome = Promise.resolve(pending.promise).then(outputs => ({ outputs }), error => ({ error, failed: true }))
  const end = await waitFor(outcome, engine, job, deadline)
  engine.kernels.endLater(pending)
  checkTime(engine, job, deadline, now())
  if (end !== null) engine.guard(() => answer(engine, job, pending, end))
}

function answer(engine, job, { run, instance, requested }, { outputs, failed, error }) {
  if (!failed) {
    try {
      engine.kernels.writeOutputs(instance, run, outputs, requested)
      job.answer(0, 0)
      return
    } catch (wrong) {
      error = wrong
    }
  }
  job.cause = error
  job.answer(1, engine.putText(messageOf(error)))
}

function freeSession(engine, address, files) {
  files?.outside?.release()
  if (engine.dead) return
  engine.exports.opspec_free_session(engine.port, address)
  engine.kernels.settle()
}

/** A model made ready to run. Made by env.createSession. */
export class Session {
  #engine
  #address
  #inputs = new Map()
  #required
  #outputs
  #files
  #tail = null
  #wakes = new Set()
  #unwatch

  constructor(engine, address, described, files) {
    this.#engine = engine
    this.#address = address
    this.#files = files
    files?.outside?.hold()
    described.inputs.forEach(({ name, type }, number) => this.#inputs.set(name, { number, type: type === '' ? null : parseType(type) }))
    this.#required = described.inputs.filter(input => !input.initialized).map(({ name }) => name)
    this.#outputs = described.outputs.map(({ name }) => name)
    this.inputNames = Object.freeze([...this.#required])
    this.outputNames = Object.freeze([...this.#outputs])
    this.#unwatch = watch(this, () => freeSession(engine, address, files))
  }

  async run(feeds, options) {
    const given = options === undefined ? undefined : optionsOf(options)
    this.#alive()
    const outputs = given?.outputs ?? this.#outputs
    const start = given?.timeoutMs === undefined ? 0 : now()
    if (this.#tail !== null) return this.#inTurn(feeds, given, { start, outputs })
    const { run, first, results } = this.#engine.guard(() => this.#begin(feeds, given, outputs), this.#files)
    return results ?? this.#goOn(run, given, { start, first, outputs })
  }

  // One run at a time: the plan's memory is the session's. A run that is given up while it waits keeps its place, so that those
  // behind it still wait for those before it.
  async #inTurn(feeds, given, { start, outputs }) {
    const before = this.#tail
    const leave = this.#enter()
    const job = { signal: given?.signal, timeoutMs: given?.timeoutMs, wakes: this.#wakes, gone: () => this.#address === 0 }
    const deadline = given?.timeoutMs === undefined ? Infinity : start + given.timeoutMs
    let come = false
    try {
      come = await waitFor(before, this.#engine, job, deadline) !== null
      checkTime(this.#engine, job, deadline, now())
      const { run, first, results } = this.#engine.guard(() => this.#begin(feeds, given, outputs), this.#files)
      return results ?? await this.#finish(run, given, { start, first, outputs })
    } finally {
      if (come) leave()
      else before.then(leave)
    }
  }

  #enter() {
    let done
    const place = new Promise(resolve => { done = resolve })
    this.#tail = place
    return () => {
      if (this.#tail === place) this.#tail = null
      done()
    }
  }

  // Starts a run and takes its first steps. Small models come to their end here.
  #begin(feeds, given, outputs) {
    const engine = this.#engine
    const { exports, port } = engine
    const run = this.#start(feeds, given)
    let first
    try {
      engine.kernels.signal = given?.signal
      first = exports.opspec_step(port, run, MOST_STEPS)
      if (first === YIELD || first === NEEDS_HOST) return { run, first, results: null }
      if (first !== OK) throw this.#failed(engine.trouble(first), engine.kernels.cause)
      const results = this.#results(run, outputs)
      exports.opspec_free_run(run)
      return { run: 0, first, results }
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) exports.opspec_free_run(run)
      throw error
    }
  }

  async #goOn(run, given, more) {
    const leave = this.#enter()
    try {
      return await this.#finish(run, given, more)
    } finally {
      leave()
    }
  }

  #alive() {
    if (this.#address === 0) throw invalid('session: was disposed')
  }

  #start(feeds, options) {
    const engine = this.#engine
    if (feeds === null || typeof feeds !== 'object') throw invalid('feeds: must be an object of input names and values')
    const outputs = this.#wanted(options?.outputs)
    const pairs = []
    try {
      this.#feed(feeds, pairs)
      const at = pairs.length
      if (outputs !== null) engine.putTexts(outputs, at)
      else if (at > 1000) engine.exports.opspec_table(engine.port, at)
      engine.sync()
      const { table, f64 } = engine
      for (let i = 0; i < at; i++) f64[table + i] = pairs[i]
    } catch (error) {
      for (let i = 1; i < pairs.length; i += 2) engine.release(pairs[i])
      throw error
    }
    engine.kernels.cause = undefined
    const run = engine.exports.opspec_start(engine.port, this.#address, pairs.length / 2, outputs === null ? 0 : outputs.length)
    if (run === 0) throw this.#failed(engine.trouble(engine.resultStatus), engine.kernels.cause)
    return run
  }

  // Puts number and address of each given input into `pairs`.
  #feed(feeds, pairs) {
    for (const name in feeds) {
      const value = feeds[name]
      if (value === undefined) continue
      const input = this.#inputs.get(name)
      if (input === undefined) throw invalid(`feeds: the model has no input '${name}'; it has ${this.#list(this.#inputs.keys())}`)
      pairs.push(input.number, this.#engine.fromValue(value, input.type, `feeds.${name}`))
    }
    for (const name of this.#required) {
      if (feeds[name] === undefined) throw invalid(`feeds: input '${name}' is missing; the model has ${this.#list(this.#required)}`)
    }
  }

  #list(names) {
    return [...names].map(name => `'${name}'`).join(', ') || 'none'
  }

  #wanted(outputs) {
    if (outputs === undefined) return null
    if (!Array.isArray(outputs) || outputs.length === 0 || outputs.some(name => typeof name !== 'string')) {
      throw invalid('outputs: must be a list of names')
    }
    return outputs
  }

  async #finish(run, options, { start, first, outputs }) {
    const engine = this.#engine
    const { exports, port } = engine
    const job = {
      step: budget => exports.opspec_step(port, run, budget),
      answer: (failed, message) => exports.opspec_answer(port, run, failed, message),
      signal: options?.signal,
      timeoutMs: options?.timeoutMs,
      files: this.#files,
      start: start === 0 ? undefined : start,
      first,
      gone: () => this.#address === 0,
      wakes: this.#wakes
    }
    try {
      await drive(engine, job)
      return engine.guard(() => this.#results(run, outputs))
    } catch (error) {
      throw this.#failed(error, job.cause)
    } finally {
      if (!engine.dead) exports.opspec_free_run(run)
    }
  }

  #results(run, names) {
    const out = {}
    for (let i = 0; i < names.length; i++) out[names[i]] = this.#engine.toValue(this.#engine.exports.opspec_run_output(run, i))
    return out
  }

  // What a JS kernel threw is the cause of the failure.
  #failed(error, cause) {
    this.#engine.kernels.cause = undefined
    if (!(error instanceof OpspecError) || error.code !== codeOf(50) || cause === undefined) return error
    return new OpspecError(error.code, error.message, { path: error.path, cause })
  }

  dispose() {
    if (this.#address === 0) return
    if (this.#tail === null) this.#engine.checkIdle()
    this.#unwatch()
    const address = this.#address
    this.#address = 0
    const free = () => freeSession(this.#engine, address, this.#files)
    for (const wake of this.#wakes) wake()
    // A run in progress ends first.
    if (this.#tail === null) free()
    else this.#tail.then(free).catch(() => {}) // of a kernel's dispose: nobody is there to hear it
  }
}
withDispose(Session)
