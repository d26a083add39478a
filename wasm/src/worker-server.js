import { createEnvWith, Env } from './env.js'
import { invalid, messageOf } from './errors.js'
import { readBlobs } from './files.js'
import { Model } from './model.js'
import { isNode, nodeModule } from './platform.js'
import { Registration } from './registration.js'
import { Schema } from './schema.js'
import { Session } from './session.js'
import { decode, encode, encodeError, envMethods, FILE_BLOB, handleKinds } from './worker-protocol.js'

const kindOf = value => value instanceof Model ? 'model' : value instanceof Session ? 'session' : value instanceof Registration ? 'registration' : value instanceof Schema ? 'schema' : null

// The other end: onMessage and postMessage, whatever kind of worker this is.
async function port() {
  if (isNode) {
    const { parentPort } = await nodeModule('worker_threads')
    return { post: message => parentPort.postMessage(message), listen: listener => parentPort.on('message', listener) }
  }
  return { post: message => globalThis.postMessage(message), listen: listener => globalThis.addEventListener('message', event => listener(event.data)) }
}

// { kernel }, also of one given as the text or address of an ES module. It may have a `then` that nobody is to call.
async function importKernel(kernel) {
  if (kernel == null || typeof kernel === 'object' && !(kernel instanceof URL)) return { kernel }
  const text = String(kernel)
  const isAddress = kernel instanceof URL || /^(https?|blob|data|file):/.test(text)
  const address = isAddress ? text : isNode ? `data:text/javascript,${encodeURIComponent(text)}` : URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  let module
  try {
    module = await import(/* @vite-ignore */ /* webpackIgnore: true */ address)
  } catch (cause) {
    throw invalid(`kernel: the module cannot be loaded: ${messageOf(cause)}`, { cause })
  } finally {
    if (address.startsWith('blob:') && !isAddress) URL.revokeObjectURL(address)
  }
  const exported = module.default
  if (exported == null) throw invalid('kernel: the module has no default export')
  if (typeof exported !== 'object') throw invalid("kernel: the module's default export must be an object with a function compute")
  return { kernel: exported }
}

// What waits for nobody has its files read before, where the module cannot read Blobs itself: in Node.
const waits = ['open', 'createSession', 'test']

async function filesOf(given) {
  if (Array.isArray(given)) return Promise.all(given.map(filesOf))
  const files = await readBlobs(given)
  return files === null ? null : new Map(files.names.map(name => [name, files.get(name)]))
}

const unknownHandle = () => invalid('this object was disposed of, or could not be made again when the worker was started again')

class Server {
  constructor(post) {
    this.post = post
    this.env = null
    this.handles = new Map()
    this.numbers = new Map()
    this.cancels = new Map()
  }

  // Answers the compiled module: a client gives it to the next worker.
  async start(options, compiled) {
    this.env = await createEnvWith(() => new URL('./opspec.wasm', import.meta.url), options, compiled)
    return Env.inner(this.env).module
  }

  // A handle's number is the id of the call that made it.
  #describe(id, value) {
    const kind = kindOf(value)
    if (kind === null) return { value: encode(value, object => this.numbers.get(object)) }
    this.handles.set(id, value)
    this.numbers.set(value, id)
    const properties = Object.fromEntries(handleKinds[kind].properties.map(name => [name, value[name]]))
    return { handle: { kind, properties } }
  }

  #disposeHandle(number) {
    const handle = this.handles.get(number)
    this.handles.delete(number)
    this.numbers.delete(handle)
    handle?.dispose()
  }

  #handle(number) {
    const value = this.handles.get(number)
    if (value === undefined) throw unknownHandle()
    return value
  }

  async #invoke({ id, method, args, handle, late = 0 }) {
    if (method === 'start') return this.start(...args)
    if (method === 'memory') return Env.memoryUsed(this.env)
    if (handle !== undefined && method === 'dispose') return this.#disposeHandle(handle)
    const given = decode(args, ({ number }) => this.#handle(number))
    const target = handle === undefined ? this.env : this.#handle(handle)
    const known = handle === undefined ? envMethods : handleKinds[kindOf(target)].methods
    if (!Object.hasOwn(known, method)) throw invalid(`there is no method ${method}`)
    const options = given[known[method].indexOf('options')]
    if (late > 0) options.timeoutMs = Math.max(1, options.timeoutMs - late)
    this.#attach(id, options)
    if (isNode && options?.files != null && !waits.includes(method)) options.files = await filesOf(options.files)
    if (method === 'registerOperator') given[1] = (await importKernel(given[1])).kernel
    if (method === 'toBlob') {
      const file = Model.blobOfFile(target)
      if (file !== null) return { [FILE_BLOB]: file }
    }
    if (method === 'nodes') return target.nodes().toJSON()
    const answer = target[method](...given)
    return method === 'edit' ? { inputs: target.inputs, outputs: target.outputs } : answer
  }

  // Options that have a signal, or somebody to be told how far it is, are marked.
  #attach(id, options) {
    if (options?.$progress === true) {
      delete options.$progress
      options.onProgress = (...progress) => this.post({ id, progress })
    }
    if (options?.$signal !== true) return
    const controller = new AbortController()
    this.cancels.set(id, controller)
    delete options.$signal
    options.signal = controller.signal
  }

  async receive(message) {
    if (message.cancel) {
      this.cancels.get(message.id)?.abort()
      return
    }
    let answer
    try {
      answer = this.#describe(message.id, await this.#invoke(message))
    } catch (error) {
      answer = { error: encodeError(error) }
    }
    this.cancels.delete(message.id)
    try {
      this.post({ id: message.id, ...answer })
    } catch (error) {
      this.post({ id: message.id, error: encodeError(invalid(`the answer cannot be sent: ${messageOf(error)}`)) })
    }
  }
}

/** Serves one Env to the client at the other end of this worker. */
export async function serveEnv() {
  const { post, listen } = await port()
  const server = new Server(post)
  listen(message => server.receive(message))
  post({ ready: true })
}
