// Numbers of core/include/opspec/status.def that are trouble, as the codes of OpspecError.
const codes = new Map([
  [10, 'invalid_argument'], [20, 'malformed'], [30, 'limit'], [31, 'limit'], [40, 'unsupported'],
  [50, 'operator_failed'], [60, 'aborted'], [61, 'timeout'], [70, 'crashed']
])

export const OK = 0
export const YIELD = 1
export const NEEDS_HOST = 2

/** "I could not do my job": wrong arguments, limits, malformed input, a failed operator. Faults of documents are findings. */
export class OpspecError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{ path?: string, findings?: object[], cause?: unknown }} [more]
   */
  constructor(code, message, more = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    if (more.path !== undefined) this.path = more.path
    if (more.findings !== undefined) this.findings = more.findings
  }
}
Object.defineProperty(OpspecError.prototype, 'name', { value: 'OpspecError', writable: true, configurable: true })

export function invalid(message, more) {
  return new OpspecError('invalid_argument', message, more)
}

export function codeOf(status) {
  return codes.get(status) ?? 'crashed'
}

// What a caller sees of an AbortSignal that has fired.
export function abortedError(signal) {
  return new OpspecError('aborted', 'the caller cancelled', { cause: signal?.reason })
}

export function timeoutError(timeoutMs) {
  return new OpspecError('timeout', `the time limit of ${timeoutMs} ms was reached`)
}

const LONGEST = 4000 // characters of a message

/** What an error says, whatever was thrown. */
export function messageOf(error) {
  try {
    const said = error !== null && typeof error === 'object' && typeof error.message === 'string' ? error.message || String(error.name) : String(error)
    return said.length > LONGEST ? `${said.slice(0, LONGEST)} …` : said || 'the kernel failed'
  } catch {
    return 'the kernel failed and does not say why'
  }
}

/** What is known of something that was thrown, by whomever: only of errors of ours more than a message. */
export function detailsOf(error) {
  try {
    if (error instanceof OpspecError) {
      const { code, message, path, findings, cause } = error
      return { code, message, path, findings, cause, ours: true }
    }
  } catch {
    // A proxy that refuses to say what it is.
  }
  return { code: 'operator_failed', message: messageOf(error), ours: false }
}

/** Hears what becomes of a promise that nobody waits for. */
export function hear(value) {
  if (typeof value?.then === 'function') Promise.resolve(value).then(undefined, () => {})
}

/** `value`, which `what` answered at once; a promise is refused. */
export function atOnce(value, what) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || typeof value.then !== 'function') return value
  hear(value)
  throw new OpspecError('operator_failed', `${what} answered a promise: it must answer at once`)
}

/** A value as messages show it, whatever it is. */
export function shown(value) {
  try {
    return String(value)
  } catch {
    return 'an object that has no text'
  }
}

const misdeeds = new WeakSet()

/** Marks an error that tells of a wrong answer of a kernel; answers it. No evidence expects such an error. */
export function misdeed(error) {
  misdeeds.add(error)
  return error
}

export const isMisdeed = error => misdeeds.has(error)
