import { createEnvWith } from './env.js'
import { createWorkerEnvWith } from './worker-client.js'

export { OpspecError } from './errors.js'
export { applyFixes } from './fixes.js'
export { SparseTensor, Tensor } from './values.js'

/** An Env whose module is the opspec.wasm beside this file, or what `wasm` says. */
export async function createEnv(options) {
  return createEnvWith(() => new URL('./opspec.wasm', import.meta.url), options)
}

/** The same in a worker: each method answers a promise. */
export async function createWorkerEnv(options) {
  return createWorkerEnvWith(undefined, options)
}
