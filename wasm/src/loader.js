import { OpspecError, invalid } from './errors.js'
import { isNode, nodeModule } from './platform.js'

// Version of the package and number of the interface between exports.c and engine.js: both sides must say the same.
export const build = '0.1.0/4'

function bytesOf(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  return null
}

function checkMagic(bytes, from) {
  if (bytes.length >= 8 && bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d) return bytes
  const head = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart()
  const found = head.startsWith('<') ? 'HTML' : bytes.length === 0 ? 'an empty file' : `${bytes.length} bytes that are no WebAssembly module`
  throw new OpspecError('unsupported', `the WebAssembly module cannot be loaded: got ${found} from ${from}; the server must serve opspec.wasm there, or pass it as createEnv({ wasm })`)
}

async function readFile(url) {
  const { readFile } = await nodeModule('fs/promises')
  return new Uint8Array(await readFile(url))
}

async function fetchBytes(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return new Uint8Array(await response.arrayBuffer())
}

async function readUrl(url) {
  const text = String(url)
  let bytes
  try {
    bytes = isNode && text.startsWith('file:') ? await readFile(new URL(text)) : await fetchBytes(text)
  } catch (cause) {
    throw new OpspecError('unsupported', `the WebAssembly module cannot be loaded from ${text}: ${cause.message}`, { cause })
  }
  return checkMagic(bytes, text)
}

// A path or URL as the caller names it.
async function locate(wasm) {
  if (wasm instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(wasm)) return String(wasm)
  if (!isNode) return new URL(wasm, globalThis.location?.href).href
  const { pathToFileURL } = await nodeModule('url')
  return pathToFileURL(wasm).href
}

/** @returns {Promise<WebAssembly.Module>} */
export async function loadModule(wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm
  const bytes = bytesOf(wasm)
  try {
    if (bytes !== null) return await WebAssembly.compile(checkMagic(bytes, 'the bytes in `wasm`'))
    if (typeof wasm === 'string' || wasm instanceof URL) return await WebAssembly.compile(await readUrl(await locate(wasm)))
  } catch (cause) {
    if (cause instanceof OpspecError) throw cause
    throw new OpspecError('unsupported', `this engine does not take the WebAssembly module: ${cause.message}`, { cause })
  }
  throw invalid('wasm: must be a URL, a path, bytes or a WebAssembly.Module')
}

/** A plug-in: as loadModule; text is a path or URL. */
export async function readModule(source) {
  try {
    return await loadModule(source)
  } catch (error) {
    if (!(error instanceof OpspecError)) throw error
    throw new OpspecError(error.code, error.message.replace('wasm:', 'plug-in:').replace('the WebAssembly module', 'the plug-in').replace(/ from the bytes.*/, ''), { cause: error })
  }
}

// The few functions that libc may want: nothing is written anywhere, and leaving is a trap.
export const wasi = {
  fd_write: () => 52,
  fd_read: () => 52,
  fd_seek: () => 52,
  fd_close: () => 52,
  proc_exit: () => { throw new WebAssembly.RuntimeError('the module ended itself') }
}

function buildOf(instance) {
  const { opspec_build: address, memory } = instance.exports
  if (typeof address !== 'function' || memory === undefined) return 'another module'
  const bytes = new Uint8Array(memory.buffer)
  const start = address()
  return new TextDecoder().decode(bytes.subarray(start, bytes.indexOf(0, start)))
}

/**
 * An instance whose imports are `host` (functions of exports.c) and nothing that touches the outside. `grown` is called
 * when its memory has grown.
 * @returns {Promise<WebAssembly.Exports>}
 */
export async function instantiate(module, host, grown) {
  const imports = { host, env: { emscripten_notify_memory_growth: grown }, wasi_snapshot_preview1: wasi }
  for (const { module: space, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind === 'function' && typeof imports[space]?.[name] === 'function') continue
    throw new OpspecError('unsupported', `the WebAssembly module is not the one of this package (it wants ${space}.${name}); both must come from the same version`)
  }
  // In Node at once: a promise of the engine's waits there until the functions that its start made hot are optimized.
  const instance = isNode ? new WebAssembly.Instance(module, imports) : await WebAssembly.instantiate(module, imports)
  const found = buildOf(instance)
  if (found !== build) {
    throw new OpspecError('unsupported', `the WebAssembly module is of another version: it is ${found}, this package is ${build}`)
  }
  instance.exports._initialize?.()
  return instance.exports
}
