/* global process, setImmediate */
// What differs between Node and browsers. No Node module is imported by name at load time, so that bundlers for browsers
// have nothing to resolve.

export const isNode = typeof process === 'object' && process !== null && typeof process.versions?.node === 'string' &&
  typeof globalThis.window === 'undefined' && typeof globalThis.Deno === 'undefined'

/** A module of Node, by name without prefix. */
export async function nodeModule(name) {
  const id = `node:${name}`
  if (typeof process.getBuiltinModule === 'function') return process.getBuiltinModule(id)
  return import(/* @vite-ignore */ /* webpackIgnore: true */ id)
}

// One turn of the event loop: timers, messages and input are served before it resolves.
export const turn = typeof setImmediate === 'function'
  ? () => new Promise(resolve => setImmediate(resolve))
  : typeof MessageChannel === 'function'
    ? () => new Promise(resolve => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(null)
    })
    : () => new Promise(resolve => setTimeout(resolve, 0))

export const now = () => performance.now()

const LONGEST_MS = 2 ** 31 - 1 // of a timer

/**
 * Calls `act` once `ms` have gone by, however many they are and not before: timers fire up to a millisecond early. Infinity is
 * never. Answers what ends the wait.
 */
export function after(ms, act) {
  const end = now() + ms
  let timer
  const wait = () => { timer = setTimeout(look, Math.min(LONGEST_MS, Math.max(0, Math.ceil(end - now())))) }
  const look = () => now() < end ? wait() : act()
  if (ms !== Infinity) wait()
  return () => clearTimeout(timer)
}

// ---- Files of this package ------------------------------------------------------------------------------------------

// In a variable, as bundlers take `new URL('./name', import.meta.url)` for a file that pages need. Empty in bundles that are
// no ES modules.
const here = import.meta.url

/** The address of a file of this package that only Node needs, from wasm/js on. */
export const nodeFile = name => new URL(name, here)

// Vite's development server moves the scripts of packages to node_modules/.vite/deps, and nothing that lies beside them.
const moved = /^(.*\/node_modules\/)\.vite\/(?:.*\/)?deps[^/]*\/[^/]*$/.exec(here ?? '')

/** Where a file that lies beside this script is when the script was moved away from it; undefined if it was not. */
export const leftBehind = name => moved === null ? undefined : new URL(`opspec/wasm/js/${name}`, moved[1])

const utf8 = new TextDecoder()

/** The text of bytes that are ASCII: Node has a way of its own, several times as fast. */
export const asciiText = isNode && typeof globalThis.Buffer?.prototype.latin1Slice === 'function'
  ? bytes => globalThis.Buffer.prototype.latin1Slice.call(bytes, 0, bytes.length)
  : bytes => utf8.decode(bytes)
