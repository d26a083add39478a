import { invalid } from './errors.js'

// A view of a buffer that was given away or has become too small has no elements, and the engine throws when they are copied.
const isLost = view => {
  if (view.length !== 0) return false
  try {
    view.at(0)
    return false
  } catch {
    return true
  }
}

const isBuffer = value => value instanceof ArrayBuffer || (typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer)

const lost = argument => invalid(`${argument}: its buffer is detached: the bytes were given to somebody else`)

/** Throws for a typed array whose elements are gone. */
export function checkHeld(array, argument) {
  if (isLost(array)) throw lost(argument)
}

/**
 * Bytes of a buffer or of any view of one, not copied; null: it is neither.
 * @param {string} argument what messages call it
 */
export function bytesView(value, argument) {
  if (value instanceof Uint8Array) {
    checkHeld(value, argument)
    return value
  }
  const buffer = isBuffer(value)
  if (!buffer && !ArrayBuffer.isView(value)) return null
  try {
    return buffer ? new Uint8Array(value) : viewOf(value)
  } catch {
    throw lost(argument)
  }
}

function viewOf(view) {
  if (!(view instanceof DataView)) view.at?.(0)
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}
