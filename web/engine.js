// The package in its worker. Calls are promises; what they reject with is an OpspecError, or the reason why there is no engine.
import { createWorkerEnv } from 'opspec'
import wasmUrl from 'opspec/opspec.wasm?url'

async function fetchModule() {
  const response = await fetch(wasmUrl)
  if (!response.ok) throw new Error(`The server has no ${wasmUrl.split('/').pop()} (status ${response.status}).`)
  return response.arrayBuffer()
}

// Events: 'ready', 'failed' (detail: error), 'restarted'.
export class Engine extends EventTarget {
  #bytes = null
  #starting = null

  // Resolves to the Env; after a failure the next call tries again.
  start() {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start() {
    try {
      this.#bytes ??= await fetchModule()
      const env = await createWorkerEnv({ wasm: this.#bytes, onRestart: reason => this.#restarted(reason) })
      this.dispatchEvent(new Event('ready'))
      return env
    } catch (error) {
      this.#starting = null
      this.#bytes = null
      this.dispatchEvent(new CustomEvent('failed', { detail: error }))
      throw error
    }
  }

  // The module's bytes, for another instance.
  async module() {
    await this.start()
    return this.#bytes
  }

  // A method of the Env. The client starts a crashed engine again; the call that met the crash is made once more.
  async call(method, ...values) {
    const env = await this.start()
    try {
      return await env[method](...values)
    } catch (error) {
      if (error?.code !== 'crashed') throw error
      return env[method](...values)
    }
  }

  #restarted(reason) {
    if (reason === 'crashed') this.dispatchEvent(new Event('restarted'))
  }
}
