import { bytesView } from './bytes.js'
import { elementByNumber, Float16 } from './elements.js'
import { codeOf, invalid, OK, OpspecError, shown } from './errors.js'
import { blobNow, isBlob } from './files.js'
import { KernelHost } from './kernels.js'
import { instantiate } from './loader.js'
import { isSource } from './outside.js'
import { asciiText, now } from './platform.js'
import { checkPlaces, compareText, halfBits, isHalfArray, isMap, isSparse, isTensor, normalTensor, parseType, readDims, SparseTensor, Tensor, TRUSTED, typeOfValue } from './values.js'

// One instance of the module and everything that crosses its border. Numbers go through the port's table, texts through
// its text buffer (wasm/exports.c); views are taken again whenever memory has grown.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const SHORT = 24 // UTF-16 units of a text that is put down one by one
const LONGEST_PLAIN = 2 ** 28 // bytes; of longer ones the decoder says what is wrong when they are too many
const SMALL = 1 << 16 // of a text that is encoded in place
const MOST_BYTES = 2 ** 32 - 1 // that a size of the module's can say
const TELL_MS = 40 // between two words about how far a call is
const VALUE = 8 // numbers of a value in the table, its dims left out

const KIND = { TENSOR: 1, SPARSE: 2, SEQUENCE: 3, MAP: 4, OPTIONAL: 5 }

export const isWellFormed = text => text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)

export class Engine {
  static async create(module, options) {
    const engine = new Engine(options)
    engine.exports = await instantiate(module, engine.#imports(), () => { engine.stale = true })
    engine.memory = engine.exports.memory
    engine.refresh()
    const { bytes = 0, memory = 0, findings = 0, depth = 0 } = options.limits
    engine.port = engine.exports.opspec_open(bytes, memory, findings, depth)
    if (engine.port === 0) throw new OpspecError('limit', 'memory is exhausted')
    engine.refresh()
    return engine
  }

  constructor({ float16, limits }) {
    this.limits = limits
    this.halfArray = float16 === 'array' ? Float16 : null
    this.kernels = new KernelHost(this)
    this.files = null // of the current call
    this.fileError = null
    this.progress = null // who is told how far the current call is
    this.told = 0 // when
    this.take = null // where the text goes that the current call writes piece by piece
    this.dead = false
    this.wakes = new Set() // ends of what waits for a kernel's promise
    this.busy = false
    this.stale = true
    this.typeIds = new Map()
    this.types = new Map()
    this.layouts = new Map() // fields of messages, by the names that were asked for (encode.js)
    this.clean = null // a report without findings: bytes, words, kind, rules
  }

  #imports() {
    const { kernels } = this
    return {
      now,
      file: (address, length) => this.#file(address >>> 0, length >>> 0),
      read: (number, offset, length, to) => this.#read(number, offset, length >>> 0, to >>> 0),
      take: (address, length) => this.#give(address >>> 0, length >>> 0),
      progress: part => this.#tell(part),
      create: (kernel, address, length) => kernels.create(kernel, address >>> 0, length >>> 0),
      destroy: instance => kernels.destroy(instance),
      forget: kernel => kernels.gone.push(kernel),
      infer: (kernel, address, length) => kernels.infer(kernel, address >>> 0, length >>> 0),
      compute: (instance, run, inputs, outputs) => kernels.compute(instance, run, inputs, outputs)
    }
  }

  // ---- Views --------------------------------------------------------------------------------------------------

  refresh() {
    const { buffer } = this.memory
    this.stale = false
    this.buffer = buffer
    this.i8 = new Int8Array(buffer)
    this.u8 = new Uint8Array(buffer)
    this.i16 = new Int16Array(buffer)
    this.u16 = new Uint16Array(buffer)
    this.i32 = new Int32Array(buffer)
    this.u32 = new Uint32Array(buffer)
    this.f32 = new Float32Array(buffer)
    this.f64 = new Float64Array(buffer)
    this.i64 = new BigInt64Array(buffer)
    this.u64 = new BigUint64Array(buffer)
    // By element number.
    this.heaps = [
      null, this.f32, this.u8, this.i8, this.u16, this.i16, this.i32, this.i64, null, this.u8, this.u16, this.f64, this.u32,
      this.u64, this.f32, this.f64, this.u16, this.u8, this.u8, this.u8, this.u8, this.u8, this.i8, this.u8, this.u8, this.u8, this.i8
    ]
  }

  /** Before views are used after a call: memory may have grown in it. */
  sync() {
    if (this.stale) this.refresh()
  }

  /** Index of the port's table, of which the first 1,024 numbers are always there. */
  get table() {
    return this.u32[(this.port >>> 2) + 3] >>> 3
  }

  // ---- Calls --------------------------------------------------------------------------------------------------

  /** Runs `job`, which calls exports and may ask for `files`; a trap ends the Env. */
  guard(job, files = null) {
    if (this.dead) throw this.deadError()
    this.checkIdle()
    this.busy = true
    this.files = files
    this.fileError = null
    try {
      return job()
    } catch (error) {
      throw this.#understand(error)
    } finally {
      this.busy = false
      this.files = null
    }
  }

  /** Throws inside of a call: nothing that the call uses may be taken away from it. */
  checkIdle() {
    if (this.busy) throw invalid('the Env cannot be called from inside a kernel or a `files` function of its own')
  }

  deadError() {
    if (this.exports === null) return invalid('the Env was disposed')
    return new OpspecError('crashed', 'the engine stopped in an earlier call and cannot go on; make a new Env')
  }

  #understand(error) {
    const trapped = error instanceof WebAssembly.RuntimeError || (error instanceof RangeError && /call stack/i.test(error.message))
    if (!trapped) return error
    this.dead = true
    return new OpspecError('crashed', `the engine stopped and cannot go on: ${error.message}`, { cause: error })
  }

  /** Address and size of what the last call left. */
  get resultAddress() {
    this.sync()
    return this.u32[(this.port >>> 2) + 1]
  }

  get resultSize() {
    this.sync()
    return this.u32[(this.port >>> 2) + 2]
  }

  get resultStatus() {
    this.sync()
    return this.u32[this.port >>> 2]
  }

  /** Whether it is a report in words, and not a text. */
  get hasWords() {
    return this.resultSize > 8 && this.u32[this.resultAddress >>> 2] === 0
  }

  resultText() {
    const address = this.resultAddress
    const size = this.resultSize
    const bytes = this.u8.subarray(address, address + size)
    return this.u32[(this.port >>> 2) + 5] !== 0 && size < LONGEST_PLAIN ? asciiText(bytes) : decoder.decode(bytes)
  }

  resultBytes() {
    const address = this.resultAddress
    return this.u8.slice(address, address + this.resultSize)
  }

  /** Whether the last call left these bytes, which are compared four at a time. */
  isResult({ words, bytes }) {
    const { u8, u32, resultAddress: address } = this
    if (this.resultSize !== bytes.length) return false
    let i = 0
    for (const first = address >>> 2; i < words.length; i++) if (u32[first + i] !== words[i]) return false
    for (i *= 4; i < bytes.length; i++) if (u8[address + i] !== bytes[i]) return false
    return true
  }

  resultJson() {
    return JSON.parse(this.resultText())
  }

  /** The last call's trouble as an OpspecError. */
  trouble(status) {
    if (this.fileError !== null) return this.fileError.error
    let said = {}
    try {
      if (this.resultSize > 0) said = this.resultJson()
    } catch {
      // Memory may be exhausted just then.
    }
    const code = codeOf(status)
    const message = said.message ?? (status === 31 ? 'memory is exhausted' : `the call failed (${status})`)
    return new OpspecError(code, message, { path: said.path, findings: said.findings && fixFindings(said.findings) })
  }

  check(status) {
    if (status !== OK) throw this.trouble(status)
    if (this.fileError !== null) throw this.fileError.error
  }

  outOfMemory() {
    return new OpspecError('limit', 'memory is exhausted')
  }

  // ---- Texts and bytes ------------------------------------------------------------------------------------------

  text(address, length) {
    this.sync()
    return decoder.decode(this.u8.subarray(address, address + length))
  }

  /** Puts the texts into the text buffer and their lengths into the table from `at` on; answers the bytes in all. */
  putTexts(texts, at = 0) {
    let room = 0
    for (const text of texts) room += text.length * 3
    const start = room > MOST_BYTES ? 0 : this.exports.opspec_text(this.port, room)
    const table = this.exports.opspec_table(this.port, at + texts.length)
    if (start === 0 || table === 0) throw this.outOfMemory()
    this.sync()
    let used = 0
    for (let i = 0; i < texts.length; i++) {
      const written = this.#write(texts[i], start + used, start + room)
      this.f64[(table >>> 3) + at + i] = written
      used += written
    }
    return used
  }

  putText(text) {
    return this.putTexts([text])
  }

  // Bytes written. A few characters are there before the encoder is.
  #write(text, at, end) {
    const { u8 } = this
    let i = 0
    if (text.length <= SHORT) {
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code >= 0x80) break
        u8[at + i] = code
      }
    }
    return i === text.length ? i : encoder.encodeInto(text, u8.subarray(at, end)).written
  }

  /** A block with the bytes of a string or of a view, to be handed over or dropped. */
  block(source) {
    if (typeof source === 'string') {
      const block = this.textBlock(source)
      if (block.size > source.length && !isWellFormed(source)) this.#putHalves(source, block.address)
      return block
    }
    const bytes = bytesView(source, 'bytes')
    const address = this.room(bytes.length)
    this.u8.set(bytes, address)
    return { address, size: bytes.length }
  }

  /** A block with a text in UTF-8, U+FFFD for what is no character. */
  textBlock(text) {
    return text.length <= SMALL ? this.#smallText(text) : this.#largeText(text)
  }

  // Where the encoder wrote U+FFFD for half of a surrogate pair: the half itself, which is no UTF-8 and is found as such.
  #putHalves(text, address) {
    const { u8 } = this
    for (const character of text) {
      const code = character.codePointAt(0)
      if (code >= 0xD800 && code < 0xE000) {
        u8[address] = 0xED
        u8[address + 1] = 0x80 | (code >> 6 & 0x3F)
        u8[address + 2] = 0x80 | (code & 0x3F)
      }
      address += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    }
  }

  /** A block of that size, to be handed over or dropped. */
  room(size) {
    const address = size > MOST_BYTES ? 0 : this.exports.opspec_block(this.port, size)
    if (address === 0) throw new OpspecError('limit', `memory is exhausted: ${size} bytes do not fit`)
    this.sync()
    return address
  }

  #smallText(text) {
    const room = text.length * 3 // UTF-8 of a UTF-16 unit
    const address = this.room(room)
    return { address, size: this.#write(text, address, address + room) }
  }

  // Most large texts are ASCII and fit as many bytes as they have units; of others the rest is encoded aside.
  #largeText(text) {
    const first = this.room(text.length)
    const { read, written } = encoder.encodeInto(text, this.u8.subarray(first, first + text.length))
    if (read === text.length) return { address: first, size: written }
    const rest = encoder.encode(text.slice(read))
    const size = written + rest.length
    try {
      const address = this.room(size)
      this.u8.copyWithin(address, first, first + written)
      this.u8.set(rest, address + written)
      return { address, size }
    } finally {
      this.drop({ address: first })
    }
  }

  drop(block) {
    this.exports.opspec_drop(this.port, block.address)
  }

  withBlock(source, job) {
    const block = this.block(source)
    try {
      return job(block.address, block.size)
    } finally {
      if (!this.dead) this.drop(block)
    }
  }

  // ---- Files ----------------------------------------------------------------------------------------------------

  /** Makes `files` the current call's and puts its names behind `before` other texts; answers [flags, count of names]. */
  useFiles(files, before = []) {
    this.files = files
    const names = files?.names ?? []
    this.putTexts([...before, ...names])
    return [files === null || files.given === false ? 0 : files.complete ? 4 + 8 : 4, names.length]
  }

  #file(address, length) {
    try {
      const name = this.text(address, length)
      const found = this.files?.get(name)
      if (found == null) return 1
      if (this.files.outside !== undefined && (isBlob(found) || isSource(found))) return this.#far(found)
      if (isSource(found)) return 2
      const content = isBlob(found) ? blobNow(found) : found
      if (content === null || typeof content !== 'string' && bytesView(content, `files: ${name}`) === null) return 2
      const block = this.block(content)
      this.u32[(this.port >>> 2) + 1] = block.address
      this.u32[(this.port >>> 2) + 2] = block.size
    } catch (error) {
      this.fileError ??= { error }
      return 2
    }
    return 0
  }

  #far(found) {
    const number = this.files.outside.add(found)
    this.u32[(this.port >>> 2) + 1] = number
    this.f64[this.table] = found.size
    return 3
  }

  // What bytes of the module are for. What is thrown ends the call, outside of the module.
  #lend(address, length, use) {
    try {
      this.sync()
      return use(this.u8.subarray(address, address + length))
    } catch (error) {
      this.fileError ??= { error }
      return 3
    }
  }

  #read(number, offset, length, to) {
    return this.#lend(to, length, target => this.files.outside.read(number, offset, target))
  }

  #give(address, length) {
    return this.#lend(address, length, bytes => {
      this.take(bytes)
      return 0
    })
  }

  #tell(part) {
    try {
      const time = now()
      if (time - this.told < TELL_MS) return 0
      this.told = time
      this.progress(part)
    } catch (error) {
      this.fileError ??= { error }
      return 1
    }
    return 0
  }

  /** Runs `job`, a call that tells `onProgress` (may be undefined) how far it is. */
  telling(onProgress, job) {
    if (onProgress === undefined) return job()
    this.progress = onProgress
    this.told = 0
    try {
      const answer = job()
      onProgress(1)
      return answer
    } finally {
      this.progress = null
    }
  }

  // ---- Values, outwards -----------------------------------------------------------------------------------------

  typeText(id) {
    let text = this.types.get(id)
    if (text === undefined) {
      this.exports.opspec_type_text(this.port, id)
      text = this.resultText()
      this.types.set(id, text)
    }
    return text
  }

  strings(address, count) {
    this.check(this.exports.opspec_get_strings(this.port, address))
    let at = this.resultAddress
    const { table } = this
    const list = new Array(count)
    for (let i = 0; i < count; i++) {
      const length = Math.abs(this.f64[table + i])
      list[i] = length === 0 ? '' : decoder.decode(this.u8.subarray(at, at + length))
      at += length
    }
    return list
  }

  /** A copy of `count` elements at `address`. */
  copyOut(element, address, count) {
    const start = address >>> element.shift
    const copy = this.heaps[element.number].slice(start, start + count * element.parts)
    return this.halfArray !== null && element.name === 'float16' ? new this.halfArray(copy.buffer) : copy
  }

  /** What stands at `at` (index of binary64) as { address, kind, ... , next }. */
  readHead(at) {
    const { f64 } = this
    const rank = f64[at + 3]
    const dims = new Array(rank)
    for (let i = 0; i < rank; i++) dims[i] = f64[at + VALUE + i]
    return {
      address: f64[at], kind: f64[at + 1], element: f64[at + 2], count: f64[at + 4], data: f64[at + 5], items: f64[at + 6],
      type: f64[at + 7], dims, next: at + VALUE + rank
    }
  }

  /** { kind, type }: its number and type expression, '' where the type is not known. */
  describe(address) {
    this.exports.opspec_describe(this.port, address)
    this.sync()
    const { kind, type } = this.readHead(this.table)
    return { kind, type: type === 0 ? '' : this.typeText(type) }
  }

  /** A value of the module as a value of JavaScript, copied. */
  toValue(address) {
    this.exports.opspec_describe(this.port, address)
    this.sync()
    return this.#fromHead(this.readHead(this.table))
  }

  #fromHead(head) {
    switch (head.kind) {
      case KIND.TENSOR: {
        const element = elementByNumber[head.element]
        const data = element.array === null ? this.strings(head.address, head.count) : this.copyOut(element, head.data, head.count)
        return new Tensor(element.name, data, head.dims, TRUSTED)
      }
      case KIND.SEQUENCE: return this.#items(head)
      case KIND.OPTIONAL: return head.items === 0 ? null : this.toValue(this.exports.opspec_item(head.address, 0))
      case KIND.MAP: return this.#map(head)
      default: {
        const [values, indices] = this.#items(head)
        return new SparseTensor(elementByNumber[head.element].name, values, indices, head.dims)
      }
    }
  }

  #items(head) {
    const list = new Array(head.items)
    for (let i = 0; i < head.items; i++) list[i] = this.toValue(this.exports.opspec_item(head.address, i))
    return list
  }

  #map(head) {
    const keys = this.toValue(this.exports.opspec_keys(head.address)).data
    const map = new Map()
    this.#items(head).forEach((item, i) => {
      const scalar = isTensor(item) && item.dims.length === 0
      map.set(keys[i], scalar ? item.toArray() : item)
    })
    return map
  }

  // ---- Values, inwards ------------------------------------------------------------------------------------------

  /** Whether typeId has been asked for it. */
  knowsType(text) {
    return this.typeIds.has(text)
  }

  typeId(text) {
    let id = this.typeIds.get(text)
    if (id === undefined) {
      id = this.exports.opspec_type_of(this.port, this.putText(text))
      this.typeIds.set(text, id)
    }
    return id
  }

  #putDims(dims) {
    if (dims.length >= 1000) this.exports.opspec_table(this.port, dims.length)
    this.sync()
    const { table, f64 } = this
    for (let i = 0; i < dims.length; i++) f64[table + i] = dims[i]
  }

  newTensor(element, dims, data) {
    this.#putDims(dims)
    const address = this.exports.opspec_new_tensor(this.port, element.number, dims.length)
    if (address === 0) throw new OpspecError('limit', `memory is exhausted: a tensor of shape [${Array.from(dims).join(', ')}] does not fit`)
    this.sync()
    this.fill(element, address, this.f64[this.table], data)
    return address
  }

  /** Writes data of a tensor at `address`, whose elements lie at `to`. */
  fill(element, address, to, data) {
    if (element.array === null) {
      const bytes = data.length === 0 ? 0 : this.textBlock(data.join(''))
      if (bytes === 0) return
      this.#putLengths(data)
      const status = this.exports.opspec_set_strings(this.port, address, bytes.address)
      this.drop(bytes)
      this.check(status)
      return
    }
    const heap = this.heaps[element.number]
    const own = element.name === 'float16' && isHalfArray(data) ? halfBits(data) : data
    heap.set(own, to >>> element.shift)
  }

  #putLengths(strings) {
    const table = this.exports.opspec_table(this.port, strings.length) >>> 3
    this.sync()
    for (let i = 0; i < strings.length; i++) this.f64[table + i] = utf8Length(strings[i])
  }

  /**
   * A value of the caller's in the module. `type`: what is expected (parseType), or null. The caller owns the address.
   * `held`: it must be of that type; else whoever takes it will say so.
   */
  fromValue(value, type, argument, held = false) {
    if (type !== null && type.kind === 'optional') {
      const inner = value === null ? 0 : this.fromValue(value, type.of, argument, held)
      return this.#made(this.exports.opspec_new_optional(this.port, this.typeId(type.text), inner))
    }
    if (isTensor(value)) {
      const { element, dims, data } = normalTensor(value, argument)
      if (held) checkType(type, 'tensor', element, argument)
      return this.newTensor(element, dims, data)
    }
    if (isSparse(value)) return this.#newSparse(value, held ? type : null, argument)
    if (Array.isArray(value)) return this.#newSequence(value, type, argument, held)
    if (isMap(value)) return this.#newMap(value, type, argument, held)
    const wanted = type === null || type.kind === 'unknown' ? 'a value' : `a ${type.text}`
    throw invalid(`${argument}: must be ${wanted}, not ${value === null ? 'null' : `a ${typeof value}`}`)
  }

  #made(address) {
    if (address === 0) throw this.outOfMemory()
    return address
  }

  // type: what it must be, or null.
  #newSparse(value, type, argument) {
    const { element, dims, data } = normalTensor(value.values, `${argument}.values`)
    if (type !== null) checkType(type, 'sparse', element, argument)
    const indices = normalTensor(value.indices, `${argument}.indices`)
    const whole = readDims(value.dims, argument)
    checkPlaces(dims, indices, whole, argument)
    const first = this.newTensor(element, dims, data)
    const second = this.newTensor(indices.element, indices.dims, indices.data)
    this.#putDims(whole)
    return this.#made(this.exports.opspec_new_sparse(this.port, element.number, first, second, whole.length))
  }

  // What is inside has the type that the whole has.
  #newSequence(list, type, argument, held) {
    if (held) checkType(type, 'sequence', null, argument)
    const text = type !== null && type.kind === 'sequence' ? type.text : typeOfValue(list)
    if (text === '') throw invalid(`${argument}: an empty list does not say its type`)
    const { of } = parseType(text)
    const sequence = this.#made(this.exports.opspec_new_sequence(this.port, this.typeId(text)))
    try {
      list.forEach((item, i) => {
        const address = this.fromValue(item, of, `${argument}[${i}]`, true)
        this.check(this.exports.opspec_add(sequence, address))
      })
    } catch (error) {
      this.release(sequence)
      throw error
    }
    return sequence
  }

  #newMap(map, type, argument, held) {
    if (held) checkType(type, 'map', null, argument)
    const text = type !== null && type.kind === 'map' ? type.text : typeOfValue(map)
    if (text === '') throw invalid(`${argument}: an empty Map does not say its type`)
    const { element, of } = parseType(text)
    const id = this.typeId(text) // which may use the table
    for (const key of map.keys()) {
      if (!['string', 'number', 'bigint'].includes(typeof key)) throw invalid(`${argument}: keys must be strings or integers, not ${shown(key)}`)
    }
    const entries = [...map].sort(([a], [b]) => typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : a < b ? -1 : a > b ? 1 : 0)
    // 1 and 1n are two keys of a Map, and one here.
    const twice = entries.find(([key], i) => i > 0 && String(key) === String(entries[i - 1][0]))
    if (twice !== undefined) throw invalid(`${argument}: the key ${twice[0]} is there twice`)
    const scalar = item => of.kind !== 'tensor' || item === null || typeof item === 'object' ? item : new Tensor(of.element.name, [item], [])
    const values = []
    try {
      for (const [key, item] of entries) values.push(this.fromValue(scalar(item), of, `${argument}[${key}]`, true))
      const keys = normalTensor(new Tensor(element.name, entries.map(([key]) => key)), argument)
      const address = this.newTensor(keys.element, keys.dims, keys.data)
      this.#putDims(values)
      return this.#made(this.exports.opspec_new_map(this.port, id, address, values.length))
    } catch (error) {
      for (const address of values) this.release(address)
      throw error
    }
  }

  release(address) {
    if (!this.dead) this.exports.opspec_release(address)
  }

  /** Lets go of the instance and its memory. */
  close() {
    this.checkIdle()
    this.dead = true
    for (const wake of this.wakes) wake()
    const { kernels } = this
    this.exports = this.memory = this.buffer = null
    this.i8 = this.u8 = this.i16 = this.u16 = this.i32 = this.u32 = this.f32 = this.f64 = this.i64 = this.u64 = this.heaps = null
    kernels.clear()
  }
}

function checkType(type, kind, element, argument) {
  if (type.kind === kind && (element === null || type.element === element)) return
  const given = element === null ? `a ${kind}` : `${kind === 'sparse' ? 'sparse_tensor' : 'tensor'}(${element.onnx})`
  throw invalid(`${argument} is ${given}, not ${type.text}`)
}

function utf8Length(text) {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) length++
    else if (unit < 0x800) length += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length += 4
      i++
    } else length += 3
  }
  return length
}

// Edits of binaries come as base64.
export function fixFindings(findings) {
  for (const { fix } of findings) {
    if (fix == null) continue
    for (const edit of fix.edits) {
      if (edit.base64 === undefined) continue
      edit.bytes = fromBase64(edit.base64)
      delete edit.base64
    }
  }
  return findings
}

export function fromBase64(text) {
  const binary = atob(text)
  const out = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i)
  return out
}
