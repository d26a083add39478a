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
