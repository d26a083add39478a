import { fromBase64 } from './engine.js'
import { createEnvWith } from './env.js'
import wasmBase64 from './wasm-bytes.js'
import { createWorkerEnvWith } from './worker-client.js'

export { OpspecError } from './errors.js'
export { applyFixes } from './fixes.js'
export { SparseTensor, Tensor } from './values.js'

let bytes = null
const wasm = () => bytes ??= fromBase64(wasmBase64)

/** As in the main entry, with the module inside the script: for bundlers that copy no file. */
export async function createEnv(options) {
  return createEnvWith(options?.wasm ?? wasm(), options)
}

export async function createWorkerEnv(options) {
  return createWorkerEnvWith(wasm(), options)
}
