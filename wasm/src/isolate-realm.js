// What a kernel in the child process of isolate-node.js finds besides the language. It is made inside the kernel's context,
// out of functions of the process (`host`) that stay in closures here and take and give numbers, texts, and objects of this
// context only: an object of the process in a kernel's hand would be a way out of the context.

const { apply } = Reflect
const { stringify } = JSON
const LONGEST = 4000 // characters of a text in a message

const silent = () => {}

class TextEncoder {
  #host
  constructor(host) { this.#host = host }

  encode(text = '') {
    const out = new Uint8Array(this.#host.byteLength(`${text}`))
    this.encodeInto(text, out)
    return out
  }

  encodeInto(text, into) {
    const read = this.#host.encode(`${text}`, into)
    if (read < 0) throw new TypeError('encodeInto: the second argument must be a Uint8Array')
    return { read, written: this.#host.written() }
  }
}

class TextDecoder {
  #host
  #options
  constructor(host, options) {
    this.#host = host
    this.#options = [options?.fatal === true, options?.ignoreBOM === true]
  }

  decode(bytes = new Uint8Array(0)) {
    const text = this.#host.decode(bytes, ...this.#options)
    if (text === null) throw new TypeError('decode: the bytes are no UTF-8')
    return text
  }
}

function timers({ later, soon, cancel }) {
  return {
    setTimeout: (callback, ms, ...values) => later(() => { apply(callback, undefined, values) }, +ms || 0),
    setImmediate: (callback, ...values) => soon(() => { apply(callback, undefined, values) }),
    clearTimeout: number => cancel(+number || 0)
  }
}

/** Makes the globals; answers what the process needs to go on. Before any kernel is here. */
export function furnish(host) {
  const console = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug'].map(name => [name, silent]))
  const given = {
    console,
    performance: { now: () => host.now() },
    TextEncoder: class extends TextEncoder { constructor() { super(host) } },
    TextDecoder: class extends TextDecoder { constructor(label, options) { super(host, options) } },
    ...timers(host)
  }
  for (const [name, value] of Object.entries(given)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })
  const content = number => {
    const bytes = new Uint8Array(host.size(number))
    host.copy(number, bytes)
    return bytes
  }
  const job = JSON.parse(host.header())
  job.files = job.files.map((name, number) => [name, content(number)])
  return {
    job,
    wasm: content(job.files.length),
    refusal: text => new Error(text),
    evaluate: (source, name) => new Promise((resolve, reject) => { host.evaluate(source, name, resolve, reject, text => reject(new Error(text))) }),
    post: message => host.post(stringify(message, (_, value) => {
      if (typeof value === 'string' && value.length > LONGEST) return `${value.slice(0, LONGEST)} …`
      return ArrayBuffer.isView(value) ? undefined : value
    }))
  }
}
