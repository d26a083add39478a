/* global Worker */
import { optionsOf } from './arguments.js'
import { abortedError, invalid, messageOf, OpspecError, timeoutError } from './errors.js'
import { isBlob } from './files.js'
import { joined } from './model.js'
import { after, isNode, leftBehind, nodeFile, nodeModule, now } from './platform.js'
import { withDispose } from './values.js'
import { Journal } from './worker-journal.js'
import { decode, decodeError, encode, envMethods, FILE_BLOB, handleKinds } from './worker-protocol.js'

// An Env in a worker. What made handles is remembered (worker-journal.js); when a call overstays its signal or time limit, or
// the engine dies, the worker is ended, another one started, and what made the handles is done again in it. Meanwhile calls
// wait; signals and time limits count from the call, whatever it waits for.

const GRACE_MS = 100 // that a worker gets to answer a cancelled call by itself
const AGAIN_MS = 10_000 // that a handle gets at least to be made again
const AGAIN_TIMES = 10 // as long as it took the first time
const MOST_ENDED = 2 // workers that are ended over a call in front of the one whose limit ended them

const makers = new Set(['compileSchema', 'loadModel', 'open', 'createSession', 'registerOperator', 'loadPlugin', 'edit'])

const notStarted = (cause, given) => new OpspecError('unsupported', `the worker cannot be started: ${cause.message}${given ? '' : '; where a bundler leaves out the script of the worker, pass createWorkerEnv({ worker }), a Worker of the script opspec/worker'}`, { cause })

async function startWorker() {
  try {
    return isNode ? await nodePort() : browserPort(pageWorker())
  } catch (cause) {
    throw notStarted(cause)
  }
}

function pageWorker() {
  const moved = leftBehind('worker.js')
  // Bundlers see the script in this form alone.
  return moved === undefined ? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }) : new Worker(moved, { type: 'module' })
}

async function nodePort() {
  const { Worker } = await nodeModule('worker_threads')
  const worker = new Worker(nodeFile('./worker.js'))
  worker.unref()
  let ended = null // why it did
  let tell = () => {}
  const end = error => {
    ended ??= error
    tell(ended)
  }
  worker.on('error', end)
  worker.on('exit', () => end(new Error('the worker ended')))
  return {
    post: message => worker.postMessage(message),
    listen(onMessage, onError) {
      worker.on('message', onMessage)
      tell = onError
      if (ended !== null) onError(ended)
    },
    hold: on => on ? worker.ref() : worker.unref(),
    end: () => worker.terminate()
  }
}

function browserPort(worker) {
  return {
    post: message => worker.postMessage(message),
    listen(onMessage, onError) {
      worker.addEventListener('message', event => onMessage(event.data))
      worker.addEventListener('error', event => onError(new Error(event.message || 'the worker script cannot be loaded')))
    },
    hold: () => {},
    end: () => worker.terminate()
  }
}

// A worker of the caller's: it runs the package's worker.js and cannot be started again from here.
function givenPort(worker) {
  if (worker === null || typeof worker !== 'object' || typeof worker.postMessage !== 'function') throw invalid('worker: must be a Worker')
  if (typeof worker.addEventListener === 'function') return { ...browserPort(worker), end: () => worker.terminate?.(), given: true }
  return {
    post: message => worker.postMessage(message),
    listen(onMessage, onError) {
      worker.on('message', onMessage)
      worker.on('error', onError)
    },
    hold: () => {},
    end: () => worker.terminate?.(),
    given: true
  }
}

// ---- Arguments that cannot cross --------------------------------------------------------------------------------

const hasFunctions = kernel => kernel !== null && typeof kernel === 'object' && ['compute', 'elementwise'].some(name => typeof kernel[name] === 'function')

function checkCrossing(method, args, options) {
  if (typeof options.files === 'function') throw invalid('files: a function cannot cross to a worker; give a Map or an object')
  if (method === 'registerOperator' && hasFunctions(args[1])) {
    throw invalid('kernel: an object with functions cannot cross to a worker; give the text or the URL of an ES module')
  }
}

const cannotCross = (name, cause) => invalid(`${name}: cannot cross to a worker: ${messageOf(cause)}`, { cause })

// The error for what could not be posted, with the name of the one at fault. Of options it is one of theirs.
function crossingError(cause, names, values) {
  for (const [i, value] of values.entries()) {
    try {
      structuredClone(value)
    } catch (fault) {
      return names[i] === 'options' ? crossingError(fault, Object.keys(value), Object.values(value)) : cannotCross(names[i], fault)
    }
  }
  return cannotCross('arguments', cause)
}

function encodeEach(names, values, number) {
  return values.map((value, i) => {
    try {
      if (names[i] !== 'options' || value === undefined) return encode(value, number)
      const keys = Object.keys(value)
      const items = encodeEach(keys, keys.map(key => value[key]), number)
      return Object.fromEntries(keys.map((key, k) => [key, items[k]]))
    } catch (cause) {
      // A getter that throws, or a list in itself.
      if (cause instanceof OpspecError) throw cause
      throw cannotCross(names[i] ?? 'arguments', cause)
    }
  })
}

// The arguments with Blobs read, in a promise; where none is to be read the arguments themselves.
function readBlobsIn(args) {
  const held = args.some(value => isBlob(value) || value instanceof Map && [...value.values()].some(isBlob))
  return held ? readEach(args) : args
}

async function readEach(args) {
  const read = async value => isBlob(value) ? new Uint8Array(await value.arrayBuffer()) : value
  const out = []
  for (const value of args) {
    if (!(value instanceof Map)) {
      // A promise is no argument.
      out.push(isBlob(value) ? await read(value) : value)
      continue
    }
    const files = new Map()
    for (const [key, item] of value) files.set(key, isBlob(item) ? await read(item) : item)
    out.push(files)
  }
  return out
}

// ---- The connection -----------------------------------------------------------------------------------------------

class Connection {
  constructor(options) {
    this.options = options
    this.next = 1
    this.calls = new Map() // id -> call without an answer, in the order in which they were made
    this.journal = new Journal()
    this.lost = new Map()  // id -> why its handle could not be made again
    this.port = null
    this.spare = null      // a worker that was started ahead, as a promise
    this.compiled = undefined // the module, out of the first worker
    this.starting = null
    this.up = false        // the worker has all that the journal says
    this.ended = null      // why the worker did by itself
    this.generation = 0
    this.restarts = 0
    this.closed = false
  }

  // ---- Starting

  start() {
    this.starting ??= this.#start().catch(error => {
      this.starting = null
      this.#fail(error)
      throw error
    })
    return this.starting
  }

  async #start() {
    await this.#connect()
    while (!await this.#makeAgain()) {
      this.port.end()
      this.restarts++
      await this.#connect()
    }
    if (this.ended !== null) throw this.ended
    this.up = true
    for (const [id, call] of this.calls) this.#post(id, call)
  }

  async #connect() {
    const { worker, ...options } = this.options
    delete options.onRestart
    const generation = ++this.generation
    const port = worker === undefined ? await (this.spare ?? startWorker()) : givenPort(worker)
    this.spare = null
    if (this.closed) {
      port.end()
      throw new OpspecError('aborted', 'the Env was disposed')
    }
    this.port = port
    this.ended = null
    this.#hold()
    const { value } = await new Promise((resolve, reject) => {
      port.listen(message => this.generation === generation && this.#receive(message), error => {
        reject(notStarted(error, worker !== undefined))
        if (this.generation === generation) this.#died(new OpspecError('crashed', `the worker ended: ${error.message}`, { cause: error }))
      })
      this.#ask(this.next++, { method: 'start', parameters: ['options', 'module'], args: [options, this.compiled] }).then(resolve, reject)
    })
    this.compiled = value
  }

  // Answers false when one took the worker with it. What cannot be made again, as its bytes were given away or its code is
  // another one by now, is lost alone.
  async #makeAgain() {
    for (const { id, call } of this.journal.steps()) {
      try {
        if (call === null) await this.#ask(this.next++, { method: 'dispose', parameters: [], args: [], handle: id }, AGAIN_MS)
        else await this.#ask(id, call, Math.max(AGAIN_MS, AGAIN_TIMES * call.took))
      } catch (error) {
        if (this.closed) throw error
        if (call === null && error.code !== 'crashed') continue
        // A model that cannot be edited again is none that the caller knows.
        const handle = call?.method === 'edit' ? call.handle : id
        this.journal.drop(id)
        this.journal.drop(handle)
        this.lost.set(handle, error)
        if (error.code === 'crashed') return false
      }
    }
    return true
  }

  // A call of the connection itself: of this worker alone.
  #ask(id, call, limit = Infinity) {
    const { method, parameters, args, handle } = call
    const asked = { method, parameters, args, handle, internal: true, posted: false, over: null }
    const answer = new Promise((resolve, reject) => Object.assign(asked, { resolve, reject }))
    asked.unwatch = after(limit, () => this.#settle(id)?.reject(new OpspecError('crashed', 'it does not come back when it is made again')))
    this.calls.set(id, asked)
    this.#post(id, asked)
    return answer
  }

  // Called when the worker may have to be ended soon: starting another one takes longer than the rest.
  #prepare() {
    if (this.options.worker !== undefined || this.spare !== null || this.closed) return
    this.spare = startWorker()
    this.spare.catch(() => { this.spare = null })
  }

  // Another call's limit ended the worker: the oldest call in it is the one that was in the way. It may have a limit of its own
  // or none, but it is not done again for ever.
  #blame(other) {
    const [oldest] = [...this.calls].filter(([id, call]) => call.posted && !call.internal && call.over === null && id < other)
    if (oldest === undefined) return
    const [id, call] = oldest
    call.ended = (call.ended ?? 0) + 1
    if (call.ended < MOST_ENDED) return
    this.#settle(id).reject(new OpspecError('crashed', `${call.method} gave no answer, and ${MOST_ENDED} workers were ended with it, as calls behind it came to their limits; give it a timeoutMs`))
  }

  /** Ends the worker; what was under way is done again in the next one. `id`: of the call whose limit is why. */
  #restart(reason, id) {
    if (this.closed || !this.up) return
    if (id !== undefined && !this.port.given) this.#blame(id)
    if (this.port.given) {
      this.closed = true
      this.#fail(new OpspecError('crashed', 'the engine stopped, and the worker given in `worker` cannot be started again from here'))
      return
    }
    this.up = false
    this.generation++
    this.port.end()
    this.restarts++
    for (const [id, call] of this.calls) {
      call.posted = false
      if (call.over !== null) this.#settle(id).reject(call.over)
    }
    this.starting = null
    this.start().then(() => this.options.onRestart?.(reason), () => {})
  }

  #died(error) {
    this.ended = error
    for (const [id, { posted }] of this.calls) if (posted) this.#settle(id).reject(error)
    this.#restart('crashed')
  }

  // ---- Calls

  #hold() {
    this.port?.hold(this.calls.size > 0)
  }

  /** Takes a call out, to be answered by whoever asks. */
  #settle(id) {
    const call = this.calls.get(id)
    if (call === undefined) return
    this.calls.delete(id)
    this.#hold()
    call.unwatch()
    return call
  }

  #fail(error) {
    for (const id of [...this.calls.keys()]) this.#settle(id).reject(error)
  }

  // What the caller's function throws is what the call ends with.
  #progress({ id, progress }) {
    try {
      this.calls.get(id)?.onProgress?.(...progress)
    } catch (error) {
      this.#settle(id)?.reject(error)
      this.port.post({ id, cancel: true })
    }
  }

  #receive(message) {
    if (message.ready) return
    if (message.progress !== undefined) return this.#progress(message)
    const call = this.#settle(message.id)
    if (call === undefined) return
    if (!call.internal && call.method === 'dispose') this.journal.left(call.handle)
    if (message.error === undefined) {
      if (call.over !== null) return this.#tooLate(message, call)
      if (!call.internal && makers.has(call.method)) this.#remember(message.id, call)
      call.resolve(message)
      return
    }
    const error = decodeError(message.error)
    // The worker was told what was left of it.
    call.reject(error.code === 'timeout' && call.timeoutMs !== undefined ? timeoutError(call.timeoutMs) : error)
    if (error.code === 'crashed') this.#restart('crashed')
  }

  // The caller was done with the call before its answer came, and must not get what nobody will dispose of.
  #tooLate({ id, handle }, call) {
    call.reject(call.over)
    if (handle !== undefined) this.#ask(this.next++, { method: 'dispose', parameters: [], args: [], handle: id }).catch(() => {})
  }

  #remember(id, { method, parameters, args, uses, handle, since }) {
    this.journal.made(id, { method, parameters, args, uses: handle === undefined ? uses : [...uses, handle], handle, took: now() - since })
  }

  // Where there is a worker to answer it, and when it is there. A call that cannot be posted has never been.
  #post(id, call) {
    if (call.posted || call.args === null || !(this.up || call.internal)) return
    const { method, parameters, args, handle, timeoutMs, since } = call
    try {
      call.posted = true
      this.#hold()
      this.port.post({ id, method, args, handle, ...timeoutMs !== undefined && { late: now() - since } })
    } catch (cause) {
      this.#settle(id)
      call.reject(crossingError(cause, parameters, args))
    }
  }

  /**
   * One call; resolves to the worker's answer. options: those among the arguments, checked; read: the arguments, or a promise
   * of them; encoded(args): { args, uses }, what is posted, and the handles in it.
   */
  call(method, parameters, { handle, options = {}, read = [], encoded = args => ({ args, uses: [] }) }) {
    const { signal, timeoutMs, onProgress } = options
    const id = this.next++
    const call = { method, parameters, handle, args: null, uses: [], signal, timeoutMs, onProgress, since: now(), posted: false, over: null }
    const answer = new Promise((resolve, reject) => Object.assign(call, { resolve, reject }))
    const refuse = error => this.#settle(id)?.reject(error)
    const go = args => {
      if (this.calls.get(id) !== call) return
      try {
        Object.assign(call, encoded(args))
        this.#post(id, call)
      } catch (error) {
        refuse(error)
      }
    }
    this.calls.set(id, call)
    this.#hold()
    call.unwatch = this.#watch(id, call)
    if (this.closed) refuse(invalid('the Env was disposed'))
    else if (this.lost.has(handle)) refuse(lostError(this.lost.get(handle)))
    else {
      if (!this.up) this.start().catch(() => {}) // all calls are told
      if (read instanceof Promise) read.then(go, refuse)
      else go(read)
    }
    return answer
  }

  // Cancels politely, then by force. A call that waits for its worker has nobody else to end it.
  #watch(id, call) {
    const { signal, timeoutMs } = call
    const stops = []
    const end = (error, reason) => {
      if (this.calls.get(id) !== call) return
      const { posted } = call
      this.#settle(id)
      call.reject(error)
      if (posted) this.#restart(reason, id)
    }
    const over = (error, reason) => {
      if (!call.posted) return end(error, reason)
      call.over = error
      this.#prepare()
      stops.push(after(GRACE_MS, () => end(error, reason)))
    }
    const onAbort = () => {
      if (call.posted) this.port.post({ id, cancel: true })
      over(abortedError(signal), 'aborted')
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (timeoutMs !== undefined) stops.push(after(timeoutMs, () => over(timeoutError(timeoutMs), 'timeout')))
    return () => {
      for (const stop of stops) stop()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  forget(id) {
    this.lost.delete(id)
    if (!this.journal.leave(id) || this.closed) return
    this.call('dispose', [], { handle: id }).catch(() => {})
  }

  close() {
    if (this.closed) return
    this.closed = true
    this.#fail(new OpspecError('aborted', 'the Env was disposed'))
    this.port?.end()
    this.spare?.then(port => port.end(), () => {})
  }
}

const lostError = cause => invalid(`this object could not be made again when the worker was started again: ${cause.message}`, { cause })

// Arguments with what cannot cross taken out of the options, which are the argument `at`: the signal, and who is told how far it is.
function withoutOwn(args, at) {
  const { signal, onProgress } = args[at] ?? {}
  const tells = typeof onProgress === 'function'
  if (signal === undefined && !tells) return args
  const rest = { ...args[at], ...signal !== undefined && { $signal: true }, ...tells && { $progress: true } }
  delete rest.signal
  if (tells) delete rest.onProgress
  return args.map((value, i) => i === at ? rest : value)
}

// ---- What the caller holds ----------------------------------------------------------------------------------------

function handleObject(remote, { id, handle: { kind, properties } }) {
  const object = {}
  const known = { ...properties }
  for (const name of Object.keys(properties)) Object.defineProperty(object, name, { get: () => known[name], enumerable: true })
  for (const [method, parameters] of Object.entries(handleKinds[kind].methods)) object[method] = (...args) => remote.call(method, parameters, args, id)
  if (kind === 'model') object.edit = async edits => { Object.assign(known, await remote.call('edit', handleKinds.model.methods.edit, [edits], id)) }
  object.dispose = async () => remote.forget(id)
  if (Symbol.dispose !== undefined) object[Symbol.dispose] = () => { remote.forget(id) }
  remote.handles.set(object, id)
  return Object.freeze(object)
}

async function fileBlob({ path, pieces, fresh }) {
  const blob = await (await nodeModule('fs')).openAsBlob(path)
  return joined(pieces, fresh, (offset, length) => blob.slice(offset, offset + length))
}

/** The Env's methods, each a promise. Made by createWorkerEnv. */
class WorkerEnv {
  #remote

  constructor(remote) {
    this.#remote = remote
    for (const [method, parameters] of Object.entries(envMethods)) this[method] = (...args) => remote.call(method, parameters, args)
  }

  /** How often the worker was started again, and the bytes that the engine takes. For tests and for display. */
  async status() {
    const { value } = await this.#remote.connection.call('memory', [], {})
    return { restarts: this.#remote.connection.restarts, ...value }
  }

  async dispose() {
    this.#remote.connection.close()
  }
}
withDispose(WorkerEnv)

export async function createWorkerEnvWith(wasm, options = {}) {
  if (options === null || typeof options !== 'object') throw invalid('options: must be an object')
  const { isolate, ...rest } = options
  if (isolate !== undefined) throw invalid('isolate: a function cannot cross to a worker')
  if (rest.onRestart !== undefined && typeof rest.onRestart !== 'function') throw invalid('onRestart: must be a function')
  const source = rest.wasm ?? wasm
  const connection = new Connection({ ...rest, wasm: source instanceof URL ? source.href : source })
  const handles = new WeakMap()
  const remote = {
    connection,
    handles,
    forget: id => connection.forget(id),
    async call(method, parameters, args, handle) {
      const at = parameters.indexOf('options')
      const options = optionsOf(args[at])
      checkCrossing(method, args, options)
      const encoded = read => {
        const uses = []
        const number = object => {
          const id = handles.get(object)
          if (id !== undefined) uses.push(id)
          return id
        }
        return { args: withoutOwn(encodeEach(parameters, read, number), at), uses }
      }
      const message = await connection.call(method, parameters, { handle, options, read: method === 'open' ? args : readBlobsIn(args), encoded })
      if (message.value?.[FILE_BLOB] !== undefined) return fileBlob(message.value[FILE_BLOB])
      return message.handle === undefined ? decode(message.value, () => undefined) : handleObject(remote, message)
    }
  }
  try {
    await connection.start()
  } catch (error) {
    connection.close()
    throw error
  }
  return new WorkerEnv(remote)
}
