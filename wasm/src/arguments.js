import { bytesView } from './bytes.js'
import { abortedError, invalid } from './errors.js'
import { isBlob } from './files.js'

// Checks of arguments that several methods share. Messages begin with the argument's name.

const isSignal = value => value !== null && typeof value === 'object' && typeof value.aborted === 'boolean' &&
  typeof value.addEventListener === 'function' && typeof value.removeEventListener === 'function'

export function optionsOf(options) {
  if (options === undefined) return {}
  if (options === null || typeof options !== 'object') throw invalid('options: must be an object')
  const { signal, timeoutMs } = options
  if (signal !== undefined && !isSignal(signal)) throw invalid('signal: must be an AbortSignal')
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) throw invalid('timeoutMs: must be a number of milliseconds above 0')
  if (signal?.aborted) throw abortedError(signal)
  return options
}

export function flag(options, name, fallback) {
  const value = options[name]
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw invalid(`${name}: must be true or false`)
  return value
}

export function functionOf(options, name) {
  const value = options[name]
  if (value !== undefined && typeof value !== 'function') throw invalid(`${name}: must be a function`)
  return value
}

export function bytesArgument(value, argument) {
  const bytes = bytesView(value, argument)
  if (bytes !== null) return bytes
  const hint = isBlob(value) ? '; read the Blob first (await blob.arrayBuffer())' : ''
  throw invalid(`${argument}: must be an ArrayBuffer or a view of one${hint}`)
}

export function textOrBytes(value, argument) {
  return typeof value === 'string' ? value : bytesArgument(value, argument)
}

export function stringArgument(value, argument) {
  if (typeof value !== 'string') throw invalid(`${argument}: must be a string`)
  return value
}
