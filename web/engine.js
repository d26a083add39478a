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
  #env = null
  #bytes = null
  #starting = null

  start() {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start() {
    try {
      this.#bytes ??= await fetchModule()
      this.#env = await createWorkerEnv({ wasm: this.#bytes.slice(0) })
      this.dispatchEvent(new Event('ready'))
      return this.#env
    } catch (error) {
      this.#starting = null
      this.dispatchEvent(new CustomEvent('failed', { detail: error }))
      throw error
    }
  }

  // The module's bytes, for another instance.
  async module() {
    await this.start()
    return this.#bytes.slice(0)
  }

  // A method of the Env. After a crash the call is made once more, on the new engine.
  async call(method, ...values) {
    const env = await this.start()
    try {
      return await env[method](...values)
    } catch (error) {
      if (error?.code !== 'crashed') throw error
      await this.#replace(env)
      return (await this.start())[method](...values)
    }
  }

  async #replace(dead) {
    if (this.#env !== dead) return
    this.#env = null
    this.#starting = null
    this.dispatchEvent(new Event('restarted'))
    await Promise.resolve(dead.dispose()).catch(() => {})
    await this.start()
  }
}
