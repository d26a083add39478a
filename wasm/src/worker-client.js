/* global Worker */
import { optionsOf } from './arguments.js'
import { abortedError, invalid, messageOf, OpspecError, timeoutError } from './errors.js'
import { isBlob } from './files.js'
import { after, isNode, leftBehind, nodeFile, nodeModule } from './platform.js'
import { withDispose } from './values.js'
import { decode, decodeError, encode, envMethods, handleKinds } from './worker-protocol.js'

// An Env in a worker. What made handles is remembered; when a call overstays its signal or time limit, or the engine dies,
// the worker is ended, another one started, and what made the handles that still live is done again in it.

const GRACE_MS = 100 // that a worker gets to answer a cancelled call by itself

const makers = new Set(['loadModel', 'createSession', 'registerOperator', 'loadPlugin'])

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

// Where nothing is to be read, nothing is awaited: a promise is no argument.
async function readBlobsIn(args) {
  const read = async blob => new Uint8Array(await blob.arrayBuffer())
  const out = []
  for (const value of args) {
    if (isBlob(value)) out.push(await read(value))
    else if (value instanceof Map) {
      const files = new Map()
      for (const [key, item] of value) files.set(key, isBlob(item) ? await read(item) : item)
      out.push(files)
    } else out.push(value)
  }
  return out
}

// ---- The connection -----------------------------------------------------------------------------------------------

class Connection {
  constructor(options) {
    this.options = options
    this.next = 1
    this.calls = new Map()  // id -> call, answers outstanding
    this.makers = new Map() // id -> { method, parameters, args, handle }, of handles that live
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
        reject(notStarted(error, worker !== undefined))
        if (this.generation === generation) this.#lost(new OpspecError('crashed', `the worker ended: ${error.message}`, { cause: error }))
      })
      this.#send('start', ['options', 'module'], [options, this.compiled]).then(resolve, reject)
    })
    const { value } = await up
    this.compiled = value
    for (const [id, { method, parameters, args, handle }] of this.makers) {
      try {
        await this.#send(method, parameters, args, handle, id)
      } catch (error) {
        // Its bytes were given away meanwhile: it alone is lost.
        if (error.code !== 'invalid_argument') throw error
        this.makers.delete(id)
      }
    }
  }

  async #send(method, parameters, args, handle, id = this.next++) {
    return this.#post(id, { message: { id, method, args, handle }, parameters, internal: true })
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
        if (!this.makers.has(id)) this.#post(id, call).catch(() => {})
      }
    }
    repeated().catch(error => {
      for (const [, call] of again) call.reject(error)
    })
  }

  #fail(error) {
    for (const id of [...this.calls.keys()]) this.#settle(id).reject(error)
  }

  // Resolves to the answer. A call that cannot be posted has never been.
  #post(id, call) {
    call.answer ??= new Promise((resolve, reject) => Object.assign(call, { resolve, reject }))
    try {
      this.calls.set(id, call)
      this.port.hold(true)
      this.port.post(call.message)
    } catch (cause) {
      this.#settle(id)
      call.reject(crossingError(cause, call.parameters, call.message.args))
    }
    return call.answer
  }

  /** One call; resolves to the worker's answer. `options`: which of the arguments they are, checked. */
  async call(method, parameters, args, handle) {
    if (this.closed) throw invalid('the Env was disposed')
    await this.start()
    if (this.closed) throw invalid('the Env was disposed')
    const id = this.next++
    const { sent, signal, timeoutMs } = prepare(args, parameters.indexOf('options'))
    if (signal?.aborted) throw abortedError(signal)
    const call = { message: { id, method, args: sent, handle }, parameters }
    const answer = this.#post(id, call)
    const unwatch = this.#watch(id, call, signal, timeoutMs)
    try {
      const message = await answer
      if (makers.has(method)) this.makers.set(id, { method, parameters, args: sent, handle })
      return { ...message, id }
    } finally {
      unwatch()
    }
  }

  // Cancels politely, then by force.
  #watch(id, call, signal, timeoutMs) {
    const stops = []
    const kill = (error, reason) => {
      if (this.calls.get(id) !== call) return
      this.#settle(id)
      call.reject(error)
      this.#restart(reason)
    }
    const onAbort = () => {
      this.port?.post({ id, cancel: true })
      this.#prepare()
      stops.push(after(GRACE_MS, () => kill(abortedError(signal), 'aborted')))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (timeoutMs !== undefined) {
      stops.push(after(timeoutMs, () => this.#prepare()), after(timeoutMs + GRACE_MS, () => kill(timeoutError(timeoutMs), 'timeout')))
    }
    return () => {
      for (const stop of stops) stop()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  forget(id) {
    if (!this.makers.delete(id) || this.closed) return
    this.call('dispose', [], [], id).catch(() => {})
  }

  close() {
    if (this.closed) return
    this.closed = true
    this.#fail(new OpspecError('aborted', 'the Env was disposed'))
    this.port?.end()
    this.spare?.then(port => port.end(), () => {})
  }
}

// Arguments with the signal taken out of the options, which are the argument `at`; a time limit is watched here as well.
function prepare(args, at) {
  const { signal, timeoutMs } = args[at] ?? {}
  if (signal === undefined) return { sent: args, timeoutMs }
  const rest = { ...args[at] }
  delete rest.signal
  return { sent: args.map((value, i) => i === at ? { ...rest, $signal: true } : value), signal, timeoutMs }
}

// ---- What the caller holds ----------------------------------------------------------------------------------------

function handleObject(remote, { id, handle: { kind, properties } }) {
  const object = { ...properties }
  for (const [method, parameters] of Object.entries(handleKinds[kind].methods)) object[method] = (...args) => remote.call(method, parameters, args, id)
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
    for (const [method, parameters] of Object.entries(envMethods)) this[method] = (...args) => remote.call(method, parameters, args)
  }

  /** How often the worker was started again, and the bytes that the engine takes. For tests and for display. */
  async status() {
    const { value } = await this.#remote.connection.call('memory', [], [])
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
      checkCrossing(method, args, optionsOf(args[parameters.indexOf('options')]))
      const read = await readBlobsIn(args)
      const message = await connection.call(method, parameters, encodeEach(parameters, read, object => handles.get(object)), handle)
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
