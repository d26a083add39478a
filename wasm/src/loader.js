import { bytesView } from './bytes.js'
import { OpspecError, invalid } from './errors.js'
import { isNode, leftBehind, nodeModule } from './platform.js'

// Version of the package and number of the interface between exports.c and engine.js: both sides must say the same.
export const build = '0.1.0/17'

// What is loaded, as messages call it, and what helps when it is not there.
const own = { what: 'the WebAssembly module', argument: 'wasm', help: '; serve opspec.wasm there, pass createEnv({ wasm }), or import opspec/inline, which carries it' }
const plugin = { what: 'the plug-in', argument: 'plug-in', help: '' }

/** The address of the package's module; `literal` answers `new URL('./opspec.wasm', import.meta.url)`, written where bundlers see it. */
export function ownModule(literal) {
  try {
    return leftBehind('opspec.wasm') ?? literal()
  } catch (cause) {
    throw new OpspecError('unsupported', 'the WebAssembly module cannot be found: this bundle does not know its own address (import.meta.url); import opspec/inline, which carries the module, or pass createEnv({ wasm })', { cause })
  }
}

/** How the bytes of every WebAssembly module begin. */
export const isModule = bytes => bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d

function checkMagic(bytes, { what, help }, from) {
  if (bytes.length >= 8 && isModule(bytes)) return bytes
  const head = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart()
  const found = head.startsWith('<') ? 'HTML' : bytes.length === 0 ? 'an empty file' : `${bytes.length} bytes that are no WebAssembly module`
  throw new OpspecError('unsupported', `${what} cannot be loaded: got ${found}${from === undefined ? '' : ` from ${from}${help}${viteHelp(from)}`}`)
}

// Where the development server of Vite does not have the package in its own folder.
const viteHelp = url => leftBehind('opspec.wasm')?.href === url ? "; with Vite, `optimizeDeps: { exclude: ['opspec'] }` helps, too" : ''

async function readFile(url) {
  const { readFile } = await nodeModule('fs/promises')
  return new Uint8Array(await readFile(url))
}

async function fetchBytes(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return new Uint8Array(await response.arrayBuffer())
}

async function readUrl(url, kind) {
  const text = String(url)
  let bytes
  try {
    bytes = isNode && text.startsWith('file:') ? await readFile(new URL(text)) : await fetchBytes(text)
  } catch (cause) {
    throw new OpspecError('unsupported', `${kind.what} cannot be loaded from ${text}: ${cause.message}${kind.help}`, { cause })
  }
  return checkMagic(bytes, kind, text)
}

// A path or URL as the caller names it.
async function locate(wasm) {
  if (wasm instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(wasm)) return String(wasm)
  if (!isNode) return new URL(wasm, globalThis.location?.href).href
  const { pathToFileURL } = await nodeModule('url')
  return pathToFileURL(wasm).href
}

/** @returns {Promise<WebAssembly.Module>} */
export async function loadModule(wasm, kind = own) {
  if (wasm instanceof WebAssembly.Module) return wasm
  const bytes = bytesView(wasm, kind.argument)
  try {
    if (bytes !== null) return await WebAssembly.compile(checkMagic(bytes, kind))
    if (typeof wasm === 'string' || wasm instanceof URL) return await WebAssembly.compile(await readUrl(await locate(wasm), kind))
  } catch (cause) {
    if (cause instanceof OpspecError) throw cause
    throw new OpspecError('unsupported', `this engine does not take ${kind.what}: ${cause.message}`, { cause })
  }
  throw invalid(`${kind.argument}: must be a URL, a path, bytes or a WebAssembly.Module`)
}

/** A plug-in: as loadModule; text is a path or URL. */
export const readModule = source => loadModule(source, plugin)

// The few functions that libc may want: nothing is written anywhere, and leaving is a trap.
export const wasi = {
  fd_write: () => 52,
  fd_read: () => 52,
  fd_seek: () => 52,
  fd_close: () => 52,
  proc_exit: () => { throw new WebAssembly.RuntimeError('the module ended itself') }
}

// An i32 comes out of the module with a sign. By number of arguments, so that calls stay as fast as those of the exports.
const unsigned = [
  f => () => f() >>> 0,
  f => a => f(a) >>> 0,
  f => (a, b) => f(a, b) >>> 0,
  f => (a, b, c) => f(a, b, c) >>> 0,
  f => (a, b, c, d) => f(a, b, c, d) >>> 0,
  f => (a, b, c, d, e) => f(a, b, c, d, e) >>> 0,
  f => (a, b, c, d, e, g) => f(a, b, c, d, e, g) >>> 0,
  f => (a, b, c, d, e, g, h) => f(a, b, c, d, e, g, h) >>> 0,
  f => (a, b, c, d, e, g, h, i) => f(a, b, c, d, e, g, h, i) >>> 0
]
const binary64 = ['opspec_used']

/** The exports with answers that are addresses in all of the 4 GiB, and not only in the lower half. */
export const unsignedExports = exports => Object.fromEntries(Object.entries(exports).map(([name, item]) =>
  [name, typeof item === 'function' && !binary64.includes(name) ? unsigned[item.length](item) : item]))

function buildOf({ opspec_build: address, memory }) {
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
  const exports = unsignedExports(instance.exports)
  const found = buildOf(exports)
  if (found !== build) {
    throw new OpspecError('unsupported', `the WebAssembly module is of another version: it is ${found}, this package is ${build}`)
  }
  instance.exports._initialize?.()
  return exports
}
