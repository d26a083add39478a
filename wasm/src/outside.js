/* global FileReaderSync */
import { bytesArgument, optionsOf } from './arguments.js'
import { checkHeld } from './bytes.js'
import { abortedError, invalid, messageOf, NEEDS_HOST, OK, OpspecError, timeoutError } from './errors.js'
import { isBlob } from './files.js'
import { isNode, nodeModule, now, turn } from './platform.js'

// Bytes that stay outside of the module's memory: a Blob, or a file where there is Node. Of each the module reads what it
// needs, at once where that can be (Node's files; Blobs in workers of browsers), else through a window that is filled in between.

const FAILED = 3
const WINDOW = 1 << 20   // most that is read ahead
const TURN_MS = 25
const PIECE = 4 << 20    // of what is brought in
const WANTED = 64 << 20  // most of it that is read without being asked for
const MEMORY = 2 ** 32   // of a module
const UNREADABLE = {}    // a file that is there

const gone = (name, cause) => new OpspecError('unsupported', `${name} can no longer be read: ${messageOf(cause)}`, { cause })

class BlobSource {
  constructor(blob) {
    this.size = blob.size
    this.blob = blob
    if (typeof FileReaderSync === 'function') {
      const reader = new FileReaderSync()
      this.ahead = true
      this.readNow = (offset, target) => target.set(new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + target.length))))
    }
  }

  async read(offset, length) {
    return new Uint8Array(await this.blob.slice(offset, offset + length).arrayBuffer())
  }

  close() {}
}

/** Bytes that stay the caller's. */
export class BytesSource {
  constructor(bytes) {
    this.bytes = bytes
    this.size = bytes.length
    this.blob = { slice: (start, end) => bytes.slice(start, end) }
  }

  readNow(offset, target) {
    checkHeld(this.bytes, 'the bytes')
    target.set(this.bytes.subarray(offset, offset + target.length))
  }

  close() {}
}

/** A file by its path. `fs`: Node's module. */
export class FileSource {
  constructor(fs, path) {
    const stat = fs.statSync(path)
    if (!stat.isFile()) throw new Error('it is no file')
    this.fs = fs
    this.path = path
    this.descriptor = null
    this.size = stat.size
    this.blob = null
  }

  readNow(offset, target) {
    this.descriptor ??= this.fs.openSync(this.path, 'r')
    for (let at = 0; at < target.length;) {
      const count = this.fs.readSync(this.descriptor, target, at, Math.min(target.length - at, 1 << 30), offset + at)
      if (count === 0) throw new Error('it has become shorter')
      at += count
    }
  }

  close() {
    if (this.descriptor === null) return
    this.fs.closeSync(this.descriptor)
    this.descriptor = null
  }
}

export const isSource = value => value instanceof FileSource || value instanceof BytesSource

/** What a synchronous call can read of a file of the caller's: bytes stay where they are, a Blob is there but cannot be read in every place. */
export function fileAtOnce(found, name) {
  if (found == null || typeof found === 'string' || isSource(found)) return found
  if (isBlob(found)) return typeof FileReaderSync === 'function' ? found : UNREADABLE
  return new BytesSource(bytesArgument(found, `files: ${name}`))
}

const cannotRead = (name, cause) => new OpspecError('invalid_argument', `source: ${name} cannot be read: ${messageOf(cause)}`, { cause })

async function fileSource(given) {
  const path = given instanceof URL ? (await nodeModule('url')).fileURLToPath(given) : given
  try {
    const fs = await nodeModule('fs')
    const source = new FileSource(fs, path)
    source.blob = await fs.openAsBlob?.(path) ?? null
    return source
  } catch (cause) {
    throw cannotRead(path, cause)
  }
}

async function fetched(url) {
  try {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    return new BlobSource(await response.blob())
  } catch (cause) {
    throw cannotRead(String(url), cause)
  }
}

/** A Blob, a URL or, in Node, a path. */
export async function sourceOf(given) {
  if (isBlob(given)) return new BlobSource(given)
  const isUrl = given instanceof URL
  if (!isUrl && typeof given !== 'string') throw invalid('source: must be a Blob, a URL or a path; bytes are for loadModel')
  const address = isUrl || /^(https?|file|blob|data):/i.test(given)
  if (isNode && (!address || /^file:/i.test(given))) return fileSource(address ? new URL(given) : given)
  return fetched(address ? given : new URL(given, globalThis.location?.href))
}

/** What one opened model reads: its own bytes and the files that its data lies in. */
export class Outside {
  #list = []
  #numbers = new Map()
  #window = null // { number, offset, bytes }
  #wanted = null // what could not be read at once
  #holds = 1
  #until = Infinity
  #far = 0 // end of what was read of the first source

  /** The number of a source, or of a Blob. */
  add(given) {
    let number = this.#numbers.get(given)
    if (number === undefined) {
      number = this.#list.push(isBlob(given) ? new BlobSource(given) : given) - 1
      this.#numbers.set(given, number)
    }
    return number
  }

  source(number) {
    return this.#list[number]
  }

  /** Bytes of the first source up to the furthest one that was asked for. */
  get reached() {
    return this.#far
  }

  /** The module may have to wait for some of it. */
  get waits() {
    return this.#list.some(({ readNow }) => readNow === undefined)
  }

  /** In a call that can be resumed: reads stop when the event loop should have a turn. */
  yielding(on) {
    this.#until = on ? now() + TURN_MS : Infinity
  }

  /** For the module: [offset, offset + n) to `target`. Answers a status; throws what keeps it from being read. */
  read(number, offset, target) {
    if (now() > this.#until) {
      this.#wanted = null
      return NEEDS_HOST
    }
    const source = this.#list[number]
    if (source === undefined) return FAILED
    if (number === 0) this.#far = Math.max(this.#far, offset + target.length)
    const window = this.#window
    if (window?.number === number && offset >= window.offset && offset + target.length <= window.offset + window.bytes.length) {
      target.set(window.bytes.subarray(offset - window.offset, offset - window.offset + target.length))
      return OK
    }
    if (source.readNow === undefined) {
      this.#wanted = { number, offset, length: target.length }
      return NEEDS_HOST
    }
    try {
      if (source.ahead && target.length < WINDOW) this.#ahead(number, source, offset, target)
      else source.readNow(offset, target)
    } catch (cause) {
      throw gone('the file', cause)
    }
    return OK
  }

  // Reads that go on about where the one before has ended become larger: each takes its time, whatever its size.
  #ahead(number, source, offset, target) {
    const before = this.#window
    const steady = before?.number === number && offset >= before.offset && offset - before.offset < 2 * before.bytes.length
    const size = Math.min(Math.max(target.length, steady ? Math.min(WINDOW, before.bytes.length * 4) : 0), source.size - offset)
    const bytes = new Uint8Array(size)
    source.readNow(offset, bytes)
    target.set(bytes.subarray(0, target.length))
    this.#window = { number, offset, bytes }
  }

  /** What the last call waited for. */
  async fill() {
    const wanted = this.#wanted
    if (wanted === null) return turn()
    const { number, offset, length } = wanted
    const before = this.#window
    const steady = before?.number === number && before.offset + before.bytes.length === offset
    const size = Math.max(length, steady ? Math.min(WINDOW, before.bytes.length * 4) : 0)
    const source = this.#list[number]
    this.#window = { number, offset, bytes: await this.#bytes(source, offset, Math.min(size, source.size - offset)) }
  }

  async #bytes(source, offset, length) {
    let bytes
    try {
      bytes = await source.read(offset, length)
    } catch (cause) {
      throw gone('the file', cause)
    }
    if (bytes.length !== length) throw gone('the file', new Error('it has become shorter'))
    return bytes
  }

  /** Brings ranges, [[number, offset, length]], into the module's memory. `look` throws when it is time to stop. */
  async load(engine, model, ranges, look) {
    for (const [number, offset, length] of ranges) {
      const source = this.#list[number]
      const block = engine.guard(() => engine.room(length))
      try {
        for (let at = 0; at < length; at += PIECE) {
          const n = Math.min(PIECE, length - at)
          if (source.readNow === undefined) {
            const bytes = await this.#bytes(source, offset + at, n)
            engine.guard(() => { engine.sync(); engine.u8.set(bytes, block + at) })
          } else {
            engine.guard(() => { engine.sync(); source.readNow(offset + at, engine.u8.subarray(block + at, block + at + n)) })
            await turn()
          }
          look()
        }
      } catch (error) {
        if (!engine.dead) engine.drop({ address: block })
        throw error
      }
      engine.check(engine.guard(() => engine.exports.opspec_put_payload(model, number, offset, block, length)))
    }
  }

  /** Parts of a Blob: [offset of a source, length]. */
  slice(offset, length) {
    const { blob } = this.#list[0]
    if (blob === null) throw new OpspecError('unsupported', 'this Node has no fs.openAsBlob: toBytes() gives the bytes')
    return blob.slice(offset, offset + length)
  }

  hold() {
    this.#holds++
  }

  release() {
    if (--this.#holds === 0) for (const source of this.#list) source.close()
  }
}

/** `files` of a caller with where outside bytes are read. */
export const withOutside = (files, outside) => files === null
  ? { names: [], complete: true, given: false, get: () => null, outside }
  : { ...files, outside }

/** A function that throws once the caller has cancelled or the time is over; `left()`: milliseconds until then, 0 = no limit. */
export function watchful(given) {
  const { signal, timeoutMs } = optionsOf(given)
  const end = timeoutMs === undefined ? Infinity : now() + timeoutMs
  const look = () => {
    if (signal?.aborted) throw abortedError(signal)
    if (now() > end) throw timeoutError(timeoutMs)
  }
  look.left = () => end === Infinity ? 0 : Math.max(end - now(), 1e-3)
  return look
}

/** Opens `source` as a document; answers { address, described, files }. progress(bytes, of): how far it is, between turns of the event loop. */
export async function openOutside(engine, source, files, as, look, progress = () => {}) {
  const outside = new Outside()
  outside.add(source)
  const context = withOutside(files, outside)
  const { exports, port } = engine
  let address = 0
  const step = job => {
    outside.yielding(true)
    try {
      address = engine.guard(job, context)
      if (engine.fileError !== null) throw engine.fileError.error
      return engine.resultStatus
    } finally {
      outside.yielding(false)
    }
  }
  try {
    look()
    let status = step(() => {
      const [bits, names] = engine.useFiles(context, [as])
      return exports.opspec_open_model(port, 0, source.size, bits, names)
    })
    while (status === NEEDS_HOST) {
      progress(outside.reached, source.size)
      await outside.fill()
      look()
      status = step(() => exports.opspec_resume_model(port, address))
    }
    if (status !== OK) throw engine.trouble(status)
    progress(source.size, source.size)
    look()
    const described = engine.resultText()
    await bringWanted(engine, address, context, look)
    return { address, described, files: context }
  } catch (error) {
    if (address !== 0 && !engine.dead) exports.opspec_free_model(address)
    outside.release()
    throw error
  }
}

/** Opens bytes that stay where they are, at once; answers { address, described, files }. */
export function openBorrowed(engine, bytes, files) {
  const outside = new Outside()
  outside.add(new BytesSource(bytes))
  const context = withOutside(files, outside)
  const { exports, port } = engine
  return engine.guard(() => {
    const [bits, names] = engine.useFiles(context, ['model'])
    const address = exports.opspec_open_model(port, 0, bytes.length, bits, names)
    engine.check(engine.resultStatus)
    return { address, described: engine.resultText(), files: context }
  }, context)
}

function payloads(engine, address, files, all) {
  return engine.guard(() => {
    engine.check(engine.exports.opspec_list_payloads(engine.port, address, all ? 1 : 0))
    return engine.resultJson()
  }, files)
}

const sum = ranges => ranges.reduce((total, [,, length]) => total + length, 0)

// A check is a synchronous call: what it will want to see of a Blob is brought in before.
async function bringWanted(engine, address, files, look) {
  if (!files.outside.waits) return
  const ranges = payloads(engine, address, files, false)
  if (sum(ranges) <= WANTED) await files.outside.load(engine, address, ranges, look)
}

/** Brings all data of a model in; of sources that can be read at once only if `always`. */
export async function bringAll(engine, address, files, look, always) {
  const ranges = payloads(engine, address, files, true)
  const size = sum(ranges)
  const most = engine.limits.memory ?? MEMORY
  if (size > most) throw new OpspecError('limit', `the data of the model's tensors takes ${size} bytes, more than the ${most} that there can be of memory`)
  if (!always && !files.outside.waits) return
  try {
    await files.outside.load(engine, address, ranges, look)
  } catch (error) {
    if (error.code !== 'limit') throw error
    throw new OpspecError('limit', `the data of the model's tensors takes ${size} bytes: ${error.message}`)
  }
}
