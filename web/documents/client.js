// The page's side of the worker of opened documents. `ended()` is told when it ended by itself: what was open is open no more; `progress(part)` how far the opening of one is.
import workerUrl from './worker.js?worker&url'

export class Documents {
  ended = () => {}
  progress = () => {}
  #engine
  #worker = null
  #starting = null
  #script = null // where the worker's script is
  #calls = new Map()
  #next = 1

  constructor(engine) {
    this.#engine = engine
  }

  // Fetches the script, so that a document can be opened, and another worker started, without a network.
  prepare() {
    this.#script ??= import.meta.env.DEV ? Promise.resolve(workerUrl) : fetch(workerUrl).then(async response => {
      if (!response.ok) throw new Error(`The server has no ${workerUrl.split('/').pop()} (status ${response.status}).`)
      return URL.createObjectURL(new Blob([await response.text()], { type: 'text/javascript' }))
    })
    this.#script.catch(() => { this.#script = null })
    return this.#script
  }

  // Another worker: what the one before was at work on is given up.
  restart() {
    this.#worker?.terminate()
    this.#worker = null
    this.#starting = null
    this.#fail({ message: 'The document was closed.', code: 'aborted' })
  }

  #end(worker) {
    if (worker !== this.#worker) return
    this.restart()
    this.ended()
  }

  #fail(error) {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const { reject } of calls) reject(Object.assign(new Error(error.message), error))
  }

  #start() {
    this.#starting ??= (async () => {
      const [wasm, script] = await Promise.all([this.#engine.module(), this.prepare()])
      const worker = new Worker(script, { type: 'module' })
      this.#worker = worker
      worker.addEventListener('message', ({ data: [id, value, error] }) => {
        if (id === 0) return this.progress(value)
        const call = this.#calls.get(id)
        this.#calls.delete(id)
        if (error === undefined) call?.resolve(value)
        else call?.reject(Object.assign(new Error(error.message), error))
        if (error?.code === 'crashed') this.#end(worker)
      })
      worker.addEventListener('error', event => {
        event.preventDefault()
        this.#end(worker)
      })
      await this.#post('start', [wasm])
    })()
    this.#starting.catch(() => { this.#starting = null })
    return this.#starting
  }

  #post(method, values) {
    return new Promise((resolve, reject) => {
      const id = this.#next++
      this.#calls.set(id, { resolve, reject })
      this.#worker.postMessage([id, method, values])
    })
  }

  async call(method, ...values) {
    await this.#start()
    return this.#post(method, values)
  }
}
