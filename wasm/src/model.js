import { flag, functionOf, optionsOf } from './arguments.js'
import { fixFindings, isWellFormed } from './engine.js'
import { detailsOf, invalid, messageOf, OpspecError, shown } from './errors.js'
import { watch } from './handles.js'
import { nodesOf } from './nodes.js'
import { bringAll, watchful } from './outside.js'
import { packedReport } from './report.js'
import { revived } from './revive.js'
import { withDispose } from './values.js'

const OBJECT = 5 // of opspec_form
const CHUNK = 4 << 20
const forms = ['json', '', 'textproto', 'onnxtxt']

const freezeInfo = ({ name, type, shape }) => Object.freeze({ name, type, shape: shape === null ? null : Object.freeze(shape) })

/** A model in memory (env.loadModel), or one whose large parts stay where they are (env.open). */
export class Model {
  #engine
  #address
  #files
  #unwatch
  #documentKind
  #described // JSON, until somebody asks for what it says
  #inputs
  #outputs

  // described: what the core says of it, in JSON. files: external data may be asked for later on.
  constructor(engine, address, described, files) {
    this.#engine = engine
    this.#files = files
    this.#address = address
    this.#documentKind = /"kind":"([\w-]+)"/.exec(described)[1]
    this.#described = described
    this.#watch()
  }

  #describe() {
    if (this.#described === null) return
    const { inputs, outputs } = JSON.parse(this.#described)
    this.#described = null
    this.#inputs = Object.freeze(inputs.filter(value => !value.initialized).map(freezeInfo))
    this.#outputs = Object.freeze(outputs.map(freezeInfo))
  }

  #watch() {
    const engine = this.#engine, address = this.#address, files = this.#files
    this.#unwatch = watch(this, () => freeModel(engine, address, files))
  }

  get inputs() {
    this.#describe()
    return this.#inputs
  }

  get outputs() {
    this.#describe()
    return this.#outputs
  }

  get kind() {
    return 'model'
  }

  /** What the document is: a model, or what the command has opened. */
  get documentKind() {
    return this.#documentKind
  }

  static address(model) {
    if (model.#address === 0) throw invalid('model: was disposed')
    return model.#address
  }

  static engine(model) {
    return model.#engine
  }

  static files(model) {
    return model.#files
  }

  static is(value) {
    return typeof value === 'object' && value !== null && #address in value
  }

  check(options) {
    const flags = checkFlags(options)
    const engine = this.#engine
    return engine.telling(flags.onProgress, () => engine.guard(() => {
      engine.check(engine.exports.opspec_check_model(engine.port, Model.address(this), flagBits(flags), flags.timeoutMs))
      return reportOf(engine)
    }, this.#files))
  }

  #write(form, lossy) {
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_write_model(engine.port, Model.address(this), form, lossy ? 1 : 0))
      return engine.resultText()
    }, this.#files)
  }

  /** toText, or the JSON (`form` json), to `take`, in pieces of bytes that are good during the call. For the command. */
  static send(model, form, lossy, take) {
    const engine = model.#engine
    engine.guard(() => {
      engine.take = take
      try {
        engine.check(engine.exports.opspec_send_model(engine.port, Model.address(model), forms.indexOf(form), lossy ? 1 : 0))
      } finally {
        engine.take = null
      }
    }, model.#files)
  }

  // [[offset (below 0: of new bytes), length]] and the new bytes, one after the other. `lent`: they hold until the next call.
  #pieces(lent = false) {
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_cut_model(engine.port, Model.address(this)))
      const fresh = lent ? this.#inMemory(engine.resultAddress, engine.resultSize) : engine.resultBytes()
      const { f64, table } = engine
      const pieces = Array.from({ length: f64[table] }, (_, i) => [f64[table + 1 + 2 * i], f64[table + 2 + 2 * i]])
      return { pieces, fresh, size: pieces.reduce((total, [, length]) => total + length, 0) }
    }, this.#files)
  }

  toBytes() {
    const outside = this.#files?.outside
    const { pieces, fresh, size } = this.#pieces(true)
    if (outside !== undefined && outside.source(0).readNow === undefined) throw new OpspecError('unsupported', 'a Blob cannot be read in a synchronous call; toBlob() gives the bytes without reading them')
    const out = newBytes(size)
    let at = 0
    let used = 0
    for (const [offset, length] of pieces) {
      const to = out.subarray(at, at += length)
      if (offset < 0) to.set(fresh.subarray(used, used += length))
      else if (outside === undefined) to.set(this.#inMemory(offset, length))
      else outside.source(0).readNow(offset, to)
    }
    return out
  }

  toBlob() {
    const { pieces, fresh } = this.#pieces()
    const outside = this.#files?.outside
    return joined(pieces, fresh, (offset, length) => outside === undefined ? this.#inMemory(offset, length) : outside.slice(offset, length))
  }

  /** Its bytes in pieces, each good until the next one is asked for. For the command. */
  static* chunks(model) {
    const { pieces, fresh } = model.#pieces()
    const outside = model.#files?.outside
    const buffer = outside === undefined ? null : new Uint8Array(CHUNK)
    let used = 0
    for (const [offset, length] of pieces) {
      if (offset < 0) yield fresh.subarray(used, used += length)
      else if (buffer === null) yield model.#inMemory(offset, length)
      else {
        for (let at = 0; at < length; at += CHUNK) {
          const part = buffer.subarray(0, Math.min(CHUNK, length - at))
          outside.source(0).readNow(offset + at, part)
          yield part
        }
      }
    }
  }

  #inMemory(address, length) {
    return this.#engine.u8.subarray(address, address + length)
  }

  /** { path, pieces, fresh } where the Blob would be of a file: in Node these do not cross to other threads. */
  static blobOfFile(model) {
    const { path } = model.#files?.outside?.source(0) ?? {}
    return path === undefined ? null : { path, ...model.#pieces() }
  }

  structure() {
    return this.#engine.guard(() => {
      const engine = this.#engine
      engine.check(engine.exports.opspec_write_model(engine.port, Model.address(this), OBJECT, 1))
      return revived(engine)
    }, this.#files)
  }

  infer(options) {
    const { timeoutMs } = checkFlags(options)
    const bodies = flag(optionsOf(options), 'graphs', false)
    const engine = this.#engine
    const byName = list => new Map(list.map(({ name, type, shape }) => [name, { type, shape }]))
    return engine.guard(() => {
      engine.check(engine.exports.opspec_infer_model(engine.port, Model.address(this), bodies ? 1 : 0, timeoutMs))
      const { values, graphs, complete } = engine.resultJson()
      return { values: byName(values), ...bodies && { graphs: new Map(graphs.map(({ path, values: inside }) => [path, byName(inside)])) }, complete }
    }, this.#files)
  }

  async load(options) {
    const look = watchful(options)
    const address = Model.address(this)
    if (this.#files?.outside !== undefined) await bringAll(this.#engine, address, this.#files, look, true)
  }

  nodes() {
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_list_nodes(engine.port, Model.address(this)))
      const start = engine.resultAddress
      return nodesOf(engine.u8, start)
    }, this.#files)
  }

  edit(edits) {
    const text = editsText(edits)
    const engine = this.#engine
    const [address, described] = engine.guard(() => engine.withBlock(text, (at, size) => {
      const model = engine.exports.opspec_edit_model(engine.port, Model.address(this), at, size)
      if (model === 0) throw engine.trouble(engine.resultStatus)
      return [model, engine.resultText()]
    }), this.#files)
    if (address !== this.#address) {
      this.#unwatch()
      this.#address = address
      this.#watch()
    }
    this.#described = described
  }

  toJSON() {
    return JSON.parse(this.#write(0, true))
  }

  toText(form = 'textproto', options) {
    if (form !== 'textproto' && form !== 'onnxtxt') throw invalid('form: must be textproto or onnxtxt')
    return this.#write(forms.indexOf(form), flag(optionsOf(options), 'lossy', false))
  }

  dispose() {
    if (this.#address === 0) return
    this.#engine.checkIdle()
    this.#unwatch()
    freeModel(this.#engine, this.#address, this.#files)
    this.#address = 0
  }
}
withDispose(Model)

// What a text of JSON would not say as it is: where, and why.
function faultOf(where, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${where}: ${value} is no integer`
  if (typeof value === 'string' && !isWellFormed(value)) return `${where}: half of a surrogate pair (U+${halfOf(value)}) is no character, so no text of a model has it`
  if (value === null || typeof value !== 'object') return null
  for (const [key, item] of Object.entries(value)) {
    const fault = faultOf(`a name in ${where}`, key) ?? faultOf(`${where}[${shown(key)}]`, item)
    if (fault !== null) return fault
  }
  return null
}

const halfOf = text => [...text].find(character => /^\p{Surrogate}$/u.test(character)).codePointAt(0).toString(16).toUpperCase()

// Integers keep their digits.
function editText(edit, i) {
  if (edit === null || typeof edit !== 'object' || Array.isArray(edit)) return JSON.stringify(typeof edit === 'object' ? edit : null)
  const members = []
  for (const [name, value] of Object.entries(edit)) {
    const fault = faultOf('a name of a member', name) ?? faultOf(name, value)
    if (fault !== null) throw invalid(`edits[${i}]: ${fault}`)
    const whole = typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < 2 ** 64)
    const text = whole ? String(BigInt(value)) : JSON.stringify(value)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}

function editsText(edits) {
  if (!Array.isArray(edits)) throw invalid('edits: must be a list of edits')
  return `[${edits.map((edit, i) => {
    try {
      return editText(edit, i)
    } catch (cause) {
      throw detailsOf(cause).ours ? cause : invalid(`edits[${i}]: cannot be written: ${messageOf(cause)}`, { cause })
    }
  }).join(',')}]`
}

/** A Blob of new bytes and of ranges. */
export function joined(pieces, fresh, range) {
  let used = 0
  return new Blob(pieces.map(([offset, length]) => offset < 0 ? fresh.subarray(used, used += length) : range(offset, length)))
}

function newBytes(size) {
  try {
    return new Uint8Array(size)
  } catch (cause) {
    throw new OpspecError('limit', `the model has ${size} bytes, more than one array can have; toBlob() gives them`, { cause })
  }
}

function freeModel(engine, address, files) {
  files?.outside?.release()
  if (engine.dead) return
  engine.exports.opspec_free_model(address)
  engine.kernels.settle()
}

export function checkFlags(given) {
  const options = optionsOf(given)
  return { strict: flag(options, 'strict', false), full: flag(options, 'full', true), timeoutMs: options.timeoutMs ?? 0, onProgress: functionOf(options, 'onProgress') }
}

export const flagBits = ({ strict, full, onProgress }) => (strict ? 1 : 0) + (full ? 2 : 0) + (onProgress === undefined ? 0 : 16)

/** The last call's result as a Report. Most have nothing to tell and are written alike: then the one before is told again. */
export function reportOf(engine) {
  const { clean } = engine
  if (clean !== null && engine.isResult(clean)) return cleanReport(clean)
  if (engine.hasWords) return packedReport(engine)
  const text = engine.resultText()
  const report = JSON.parse(text)
  const { kind, rules, findings } = report
  if (findings.length === 0 && text === JSON.stringify(cleanReport(report))) {
    const bytes = engine.resultBytes()
    engine.clean = { bytes, words: new Uint32Array(bytes.buffer, 0, bytes.length >> 2), kind, rules }
  }
  fixFindings(findings)
  return report
}

const cleanReport = ({ kind, rules }) => ({
  ok: true, complete: true, incomplete: [], kind, counts: { error: 0, warning: 0, info: 0 }, findings: [], rules
})
