/* global Worker */
import { abortedError, invalid, OpspecError, timeoutError } from './errors.js'
import { isBlob } from './files.js'
import { isNode, nodeModule } from './platform.js'
import { isTensor, withDispose } from './values.js'
import { decode, decodeError, encode, envMethods, handleKinds } from './worker-protocol.js'

// An Env in a worker. What made handles is remembered; when a call overstays its signal or time limit, or the engine dies,
// the worker is ended, another one started, and what made the handles that still live is done again in it.

const GRACE_MS = 100 // that a worker gets to answer a cancelled call by itself

const makers = new Set(['loadModel', 'createSession', 'registerOperator', 'loadPlugin'])

async function startWorker() {
  if (isNode) {
    const { Worker } = await nodeModule('worker_threads')
    const worker = new Worker(new URL('./worker.js', import.meta.url))
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
      post: (message, transfer) => worker.postMessage(message, transfer),
      listen(onMessage, onError) {
        worker.on('message', onMessage)
        tell = onError
        if (ended !== null) onError(ended)
      },
      hold: on => on ? worker.ref() : worker.unref(),
      end: () => worker.terminate()
    }
  }
  return browserPort(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }))
}

function browserPort(worker) {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
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
    post: (message, transfer) => worker.postMessage(message, transfer),
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

function checkCrossing(method, args) {
  for (const argument of args) {
    if (typeof argument === 'function' || typeof argument?.files === 'function') {
      throw invalid('files: a function cannot cross to a worker; give a Map or an object')
    }
  }
  const kernel = method === 'registerOperator' ? args[1] : undefined
  if (kernel !== null && typeof kernel === 'object' && typeof kernel.compute === 'function') {
    throw invalid('kernel: an object with functions cannot cross to a worker; give the text or the URL of an ES module')
  }
}

async function readBlobsIn(value) {
  if (isBlob(value)) return new Uint8Array(await value.arrayBuffer())
  if (value instanceof Map) {
    const out = new Map()
    for (const [key, item] of value) out.set(key, isBlob(item) ? await readBlobsIn(item) : item)
    return out
  }
  return value
}

// ---- The connection -----------------------------------------------------------------------------------------------

class Connection {
  constructor(options) {
    this.options = options
    this.next = 1
    this.calls = new Map()  // id -> call, answers outstanding
    this.makers = new Map() // id -> { method, args, handle }, of handles that live
    this.port = null
    this.spare = null  // a worker that was started ahead, as a promise
    this.compiled = undefined // the module, out of the first worker
    this.starting = null
    this.generation = 0
    this.restarts = 0
    this.closed = false
  }

  start() {
    this.starting ??= this.#start()
    return this.starting
  }

  async #start() {
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
    const up = new Promise((resolve, reject) => {
      port.listen(message => this.generation === generation && this.#receive(message), error => {
        reject(new OpspecError('unsupported', `the worker cannot be started: ${error.message}`, { cause: error }))
        if (this.generation === generation) this.#lost(new OpspecError('crashed', `the worker ended: ${error.message}`, { cause: error }))
      })
      this.#send('start', [options, this.compiled]).then(resolve, reject)
    })
    const { value } = await up
    this.compiled = value
    for (const [id, { method, args, handle }] of this.makers) await this.#send(method, args, handle, id)
  }

  #send(method, args, handle, id = this.next++) {
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject, internal: true })
      this.port.hold(true)
      this.port.post({ id, method, args, handle })
    })
  }

  #settle(id) {
    const call = this.calls.get(id)
    this.calls.delete(id)
    if (this.calls.size === 0) this.port?.hold(false)
    return call
  }

  #receive(message) {
    if (message.ready) return
    const call = this.#settle(message.id)
    if (call === undefined) return
    if (message.error === undefined) {
      call.resolve(message)
      return
    }
    const error = decodeError(message.error)
    call.reject(error)
    if (error.code === 'crashed') this.#restart('crashed')
  }

  #lost(error) {
    for (const id of [...this.calls.keys()]) this.#settle(id).reject(error)
    if (!this.closed) this.#restart('crashed')
  }

  // Called when the worker may have to be ended soon: starting another one takes longer than the rest.
  #prepare() {
    if (this.options.worker !== undefined || this.spare !== null || this.closed) return
    this.spare = startWorker()
    this.spare.catch(() => { this.spare = null })
  }

  /** Ends the worker; what was under way is done again in the next one, but for the calls that were rejected already. */
  #restart(reason) {
    if (this.closed || this.restarting) return
    if (this.port.given) {
      this.closed = true
      this.#fail(new OpspecError('crashed', 'the engine stopped, and the worker given in `worker` cannot be started again from here'))
      return
    }
    const again = [...this.calls].filter(([, call]) => !call.internal)
    this.calls.clear()
    this.generation++
    this.port.end()
    this.restarts++
    this.starting = null
    const repeated = async () => {
      await this.start()
      this.options.onRestart?.(reason)
      for (const [id, call] of again) {
        if (!this.makers.has(id)) this.#post(id, call)
      }
    }
    repeated().catch(error => {
      for (const [, call] of again) call.reject(error)
    })
  }

  #fail(error) {
    for (const id of [...this.calls.keys()]) this.#settle(id).reject(error)
  }

  #post(id, call) {
    this.calls.set(id, call)
    this.port.hold(true)
    this.port.post(call.message)
  }

  /** One call; resolves to the worker's answer. */
  async call(method, args, handle) {
    if (this.closed) throw invalid('the Env was disposed')
    await this.start()
    if (this.closed) throw invalid('the Env was disposed')
    const id = this.next++
    const { sent, signal, timeoutMs } = prepare(args)
    if (signal?.aborted) throw abortedError(signal)
    const call = { message: { id, method, args: sent, handle } }
    const answer = new Promise((resolve, reject) => Object.assign(call, { resolve, reject }))
    this.#post(id, call)
    const unwatch = this.#watch(id, call, signal, timeoutMs)
    try {
      const message = await answer
      if (makers.has(method)) this.makers.set(id, { method, args: sent, handle })
      return { ...message, id }
    } finally {
      unwatch()
    }
  }

  // Cancels politely, then by force.
  #watch(id, call, signal, timeoutMs) {
    const timers = []
    const kill = (error, reason) => {
      if (this.calls.get(id) !== call) return
      this.#settle(id)
      call.reject(error)
      this.#restart(reason)
    }
    const onAbort = () => {
      this.port?.post({ id, cancel: true })
      this.#prepare()
      timers.push(setTimeout(() => kill(abortedError(signal), 'aborted'), GRACE_MS))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (timeoutMs !== undefined) {
      timers.push(setTimeout(() => this.#prepare(), timeoutMs), setTimeout(() => kill(timeoutError(timeoutMs), 'timeout'), timeoutMs + GRACE_MS))
    }
    return () => {
      timers.forEach(clearTimeout)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  forget(id) {
    if (!this.makers.delete(id) || this.closed) return
    this.call('dispose', [], id).catch(() => {})
  }

  close() {
    if (this.closed) return
    this.closed = true
    this.#fail(new OpspecError('aborted', 'the Env was disposed'))
    this.port?.end()
    this.spare?.then(port => port.end(), () => {})
  }
}

// Arguments with the signal taken out of the options; a time limit is watched here as well.
function prepare(args) {
  const last = args.at(-1)
  const options = last !== null && typeof last === 'object' && !ArrayBuffer.isView(last) && !isTensor(last) && Object.getPrototypeOf(last) === Object.prototype ? last : {}
  const { signal, timeoutMs } = options
  if (signal === undefined) return { sent: args, timeoutMs }
  const rest = { ...options }
  delete rest.signal
  return { sent: [...args.slice(0, -1), { ...rest, $signal: true }], signal, timeoutMs }
}

// ---- What the caller holds ----------------------------------------------------------------------------------------

function handleObject(remote, { id, handle: { kind, properties } }) {
  const object = { ...properties }
  for (const method of handleKinds[kind].methods) object[method] = (...args) => remote.call(method, args, id)
  object.dispose = async () => remote.forget(id)
  if (Symbol.dispose !== undefined) object[Symbol.dispose] = () => { remote.forget(id) }
  remote.handles.set(object, id)
  return Object.freeze(object)
}

/** The Env's methods, each a promise. Made by createWorkerEnv. */
class WorkerEnv {
  #remote

  constructor(remote) {
    this.#remote = remote
    for (const method of envMethods) this[method] = (...args) => remote.call(method, args)
  }

  /** How often the worker was started again, and the bytes that the engine takes. For tests and for display. */
  async status() {
    const { value } = await this.#remote.connection.call('memory', [])
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
    async call(method, args, handle) {
      checkCrossing(method, args)
      const read = await Promise.all(args.map(readBlobsIn))
      const message = await connection.call(method, encode(read, object => handles.get(object)), handle)
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
