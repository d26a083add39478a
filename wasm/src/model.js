import { flag, optionsOf } from './arguments.js'
import { fixFindings } from './engine.js'
import { invalid } from './errors.js'
import { watch } from './handles.js'
import { withDispose } from './values.js'

const BYTES = 4 // of opspec_form

const freezeInfo = ({ name, type, shape }) => Object.freeze({ name, type, shape: shape === null ? null : Object.freeze(shape) })

/** A model in memory. Made by env.loadModel. */
export class Model {
  #engine
  #address
  #files
  #unwatch

  // files: external data may be asked for later on.
  constructor(engine, address, described, files) {
    this.#engine = engine
    this.#files = files
    this.#address = address
    this.inputs = Object.freeze(described.inputs.filter(value => !value.initialized).map(freezeInfo))
    this.outputs = Object.freeze(described.outputs.map(freezeInfo))
    this.#unwatch = watch(this, () => freeModel(engine, address))
  }

  get kind() {
    return 'model'
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
    const { strict, full, timeoutMs } = checkFlags(options)
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_check_model(engine.port, Model.address(this), flagBits(strict, full), timeoutMs))
      return reportOf(engine)
    }, this.#files)
  }

  #write(form, lossy) {
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_write_model(engine.port, Model.address(this), form, lossy ? 1 : 0))
      return form === BYTES ? engine.resultBytes() : engine.resultText()
    }, this.#files)
  }

  toBytes() {
    return this.#write(BYTES, false)
  }

  toJSON() {
    return JSON.parse(this.#write(0, true))
  }

  toText(form = 'textproto', options) {
    if (form !== 'textproto' && form !== 'onnxtxt') throw invalid('form: must be textproto or onnxtxt')
    return this.#write(form === 'textproto' ? 2 : 3, flag(optionsOf(options), 'lossy', false))
  }

  dispose() {
    if (this.#address === 0) return
    this.#engine.checkIdle()
    this.#unwatch()
    freeModel(this.#engine, this.#address)
    this.#address = 0
  }
}
withDispose(Model)

function freeModel(engine, address) {
  if (engine.dead) return
  engine.exports.opspec_free_model(address)
  engine.kernels.settle()
}

export function checkFlags(given) {
  const options = optionsOf(given)
  return { strict: flag(options, 'strict', false), full: flag(options, 'full', true), timeoutMs: options.timeoutMs ?? 0 }
}

export const flagBits = (strict, full) => (strict ? 1 : 0) + (full ? 2 : 0)

/** The last call's result as a Report. Most have nothing to tell and are written alike: then the one before is told again. */
export function reportOf(engine) {
  const { clean } = engine
  if (clean !== null && engine.isResult(clean)) return cleanReport(clean)
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
