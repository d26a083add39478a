import { bytesArgument, flag, functionOf, optionsOf, stringArgument, textOrBytes } from './arguments.js'
import { bytesView } from './bytes.js'
import { diffRules } from './diff-rules.js'
import { diff } from './diff.js'
import { elementwiseKernel } from './elementwise.js'
import { Engine } from './engine.js'
import { detailsOf, invalid, messageOf, OK, OpspecError, timeoutError } from './errors.js'
import { Float16 } from './elements.js'
import { testBundle } from './evidence.js'
import { encodeObject, format, parse } from './format.js'
import { isBlob, normalFiles, readBlobs } from './files.js'
import { checkFit, functionRule, parseDocument, withFunctions } from './kernel-check.js'
import { isModule, loadModule, ownModule, readModule } from './loader.js'
import { checkFlags, flagBits, Model, reportOf } from './model.js'
import { identityOf, matchDocuments, Plugin, pluginModule } from './plugin.js'
import { valueKinds } from './messages.js'
import { objectsOf } from './objects.js'
import { writeOperatorSet } from './operator-set.js'
import { bringAll, openBorrowed, openOutside, sourceOf, watchful } from './outside.js'
import { turn } from './platform.js'
import { withValue } from './read-value.js'
import { Registration } from './registration.js'
import { compileSchema, validateJson } from './schema.js'
import { Session } from './session.js'
import { parseType, withDispose } from './values.js'

const LARGE = 64 << 20 // bytes of a Blob that is not read as a whole
const BORROWED = 1 << 20 // bytes from which on it pays to leave them where they are
const HAS_KERNEL = 1, INFERS = 2, SHAPES = 4, ROLES = 8

// Rules that the core does not know.
const ruleHere = rule => rule === functionRule.rule ? functionRule : diffRules.get(rule)

// A signal fires between turns of the event loop.
async function lookAround({ signal }, look) {
  if (signal !== undefined) await turn()
  look()
}

/** One instance of the module: its operators, settings and limits. Made by createEnv. */
export class Env {
  #engine
  #options
  #module
  #operators = null
  #sources = new Map() // of what is registered, by identity
  #bodies = new Map() // of functions that are, the same

  constructor(engine, module, options) {
    this.#engine = engine
    this.#module = module
    this.#options = options
  }

  /** What an Env of the same kind needs: for tests and isolation. */
  static inner(env) {
    return { engine: env.#engine, module: env.#module, options: env.#options }
  }

  // ---- Checking ---------------------------------------------------------------------------------------------------

  validateSpec(spec, options) {
    return this.#check(textOrBytes(spec, 'spec'), options, 'spec')
  }

  check(document, options) {
    return this.#check(textOrBytes(document, 'document'), options, '')
  }

  #check(document, given, as) {
    const options = optionsOf(given)
    const flags = checkFlags(given)
    if (options.as !== undefined && as === '') as = stringArgument(options.as, 'as')
    const files = normalFiles(options.files)
    const engine = this.#engine
    const report = engine.telling(flags.onProgress, () => engine.guard(() => engine.withBlock(document, (address, size) => {
      const [bits, names] = engine.useFiles(files, [as])
      engine.check(engine.exports.opspec_do_check(engine.port, address, size, flagBits(flags) + bits, flags.timeoutMs, names))
      return reportOf(engine)
    })))
    if (report.kind === 'bundle' && typeof document !== 'string') return this.#withFunctions({ zip: document, files: null }, report, flags)
    return report.kind === 'spec' && files !== null ? this.#withFunctions({ text: document, files }, report, flags) : report
  }

  #withFunctions(source, report, { strict, full, timeoutMs }) {
    return withFunctions(this, source, report, bytes => Env.sniff(this, bytes), { strict, full, ...timeoutMs > 0 && { timeoutMs } })
  }

  /** Report of a bundle that is given by its files. For the command. */
  static checkFiles(env, given, options) {
    const engine = env.#engine
    const flags = checkFlags(options)
    const files = normalFiles(given)
    const report = engine.guard(() => {
      const [bits, names] = engine.useFiles(files, [''])
      engine.check(engine.exports.opspec_do_check(engine.port, 0, 0, flagBits({ ...flags, onProgress: undefined }) + bits, flags.timeoutMs, names))
      return reportOf(engine)
    })
    return env.#withFunctions({ zip: null, files }, report, flags)
  }

  // ---- JSON Schema ------------------------------------------------------------------------------------------------

  compileSchema(schema, options) {
    return compileSchema(this.#engine, schema, options)
  }

  validateJson(instance, schema, options) {
    return validateJson(this.#engine, instance, schema, options)
  }

  // ---- Models -----------------------------------------------------------------------------------------------------

  loadModel(bytes, options) {
    const given = optionsOf(options)
    const source = bytesArgument(bytes, 'bytes')
    const files = normalFiles(given.files)
    if (!flag(given, 'borrow', false) || source.length < BORROWED) return this.#load(source, files)
    const { address, described, files: context } = openBorrowed(this.#engine, source, files)
    return new Model(this.#engine, address, described, context)
  }

  #load(bytes, files) {
    const engine = this.#engine
    return engine.guard(() => {
      const { address, size } = engine.block(bytes)
      const [bits, names] = engine.useFiles(files)
      const model = engine.exports.opspec_load(engine.port, address, size, bits, names)
      engine.check(engine.resultStatus)
      return new Model(engine, model, engine.resultText(), files)
    })
  }

  async open(source, options) {
    const { files, as = 'model' } = optionsOf(options)
    const look = watchful(options)
    const onProgress = functionOf(options ?? {}, 'onProgress')
    if (as !== 'model' && as !== 'ModelProto') throw new OpspecError('unsupported', `as: ${as} cannot be opened, models can; check and decode take the bytes of others`)
    return Env.openDocument(this, await sourceOf(source), normalFiles(files), as, look, onProgress)
  }

  /** Any document by its source, as a Model. For the command. */
  static async openDocument(env, source, files, as, look = () => {}, progress = undefined) {
    const engine = env.#engine
    const { address, described, files: context } = await openOutside(engine, source, files, as, look, progress)
    return new Model(engine, address, described, context)
  }

  async createSession(model, given) {
    return this.#createSession(model, given, watchful(given))
  }

  // `look` throws when the call is to end; it is asked between the steps.
  async #createSession(model, given, look) {
    const options = optionsOf(given)
    if (Model.is(model)) {
      if (Model.files(model)?.outside !== undefined && Model.engine(model) === this.#engine) await bringAll(this.#engine, Model.address(model), Model.files(model), look, false)
      const session = this.#session(model, look.left(), options.timeoutMs)
      try {
        await lookAround(options, look)
        return session
      } catch (error) {
        session.dispose()
        throw error
      }
    }
    const isLarge = content => isBlob(content) && content.size > LARGE
    if (isLarge(model)) return this.#sessionOf(await this.open(model, given), given, look)
    if (isBlob(model)) model = new Uint8Array(await model.arrayBuffer())
    const bytes = bytesView(model, 'model')
    if (bytes === null) throw invalid('model: must be a model of this Env, bytes or a Blob')
    const files = normalFiles(options.files)
    if (files !== null && files.names.some(name => isLarge(files.get(name)))) return this.#sessionOf(await this.open(new Blob([bytes]), given), given, look)
    return this.#sessionOf(this.#load(bytes, await readBlobs(options.files)), given, look)
  }

  async #sessionOf(own, given, look) {
    try {
      await lookAround(optionsOf(given), look)
      return await this.#createSession(own, given, look)
    } finally {
      own.dispose()
    }
  }

  // Both in milliseconds: what is left, 0 = no limit, of how much.
  #session(model, left, timeoutMs) {
    const engine = this.#engine
    if (Model.engine(model) !== engine) throw invalid('model: belongs to another Env')
    return engine.guard(() => {
      const seed = () => Math.floor(Math.random() * 2 ** 32)
      const fixed = this.#options.seed
      engine.kernels.cause = undefined
      const session = engine.exports.opspec_new_session(engine.port, Model.address(model), fixed ?? seed(), fixed === undefined ? seed() : 0, left)
      if (session === 0) {
        const error = engine.trouble(engine.resultStatus)
        throw error.code === 'timeout' ? timeoutError(timeoutMs) : this.#withCause(error)
      }
      const described = engine.resultJson()
      const size = engine.putTexts(described.inputs.map(({ name }) => name))
      const named = engine.exports.opspec_name_inputs(engine.port, session, described.inputs.length, size)
      if (named === 0) {
        engine.exports.opspec_free_session(engine.port, session)
        throw engine.outOfMemory()
      }
      return new Session(engine, named, described, Model.files(model))
    }, Model.files(model))
  }

  #withCause(error) {
    const { cause } = this.#engine.kernels
    if (cause === undefined || error.code !== 'operator_failed') return error
    return new OpspecError(error.code, error.message, { path: error.path, findings: error.findings, cause })
  }

  // ---- Messages and values ------------------------------------------------------------------------------------------

  decode(bytes, as) {
    stringArgument(as, 'as')
    const engine = this.#engine
    const source = bytesArgument(bytes, 'bytes')
    return engine.guard(() => engine.withBlock(source, (address, size) => {
      try {
        engine.check(engine.exports.opspec_do_decode(engine.port, address, size, engine.putText(as)))
        return objectsOf(engine)
      } finally {
        if (!engine.dead) engine.exports.opspec_end_decode(engine.port)
      }
    }))
  }

  diff(a, b, options) {
    return diff(this, this.#engine, a, b, options)
  }

  format(bytes, as, form, options) {
    return format(this.#engine, bytes, as, form, options)
  }

  parse(text, as, form) {
    return parse(this.#engine, text, as, form)
  }

  encode(object, as) {
    return encodeObject(this.#engine, object, as)
  }

  readValue(bytes, kind, options) {
    if (!valueKinds.includes(kind)) throw invalid(`kind: must be one of ${valueKinds.join(', ')}`)
    const source = bytesArgument(bytes, 'bytes')
    return withValue(this.#engine, source, kind, optionsOf(options).files, address => this.#engine.toValue(address))
  }

  #take(address) {
    try {
      return this.#engine.toValue(address)
    } finally {
      this.#engine.release(address)
    }
  }

  writeValue(value, name, type) {
    stringArgument(name ?? '', 'name')
    const engine = this.#engine
    return engine.guard(() => {
      const expected = type === undefined ? null : this.#typeArgument(type)
      if (value === null && expected === null) throw invalid('value: an empty optional needs its type, as in writeValue(null, name, \'optional(tensor(float))\')')
      const address = engine.fromValue(value, expected, 'value')
      try {
        engine.check(engine.exports.opspec_write(engine.port, address, engine.putText(name ?? '')))
        return engine.resultBytes()
      } finally {
        engine.release(address)
      }
    })
  }

  #typeArgument(text) {
    const id = this.#engine.typeId(stringArgument(text, 'type'))
    if (id === 0) throw invalid(`type: '${text}' is no type expression`)
    return parseType(this.#engine.typeText(id))
  }

  /** A value as evidence documents write it. For the command. */
  static parseValue(env, json) {
    const engine = env.#engine
    return engine.guard(() => engine.withBlock(json, (address, size) => {
      const value = engine.exports.opspec_parse(engine.port, address, size)
      if (engine.resultStatus !== OK) throw engine.trouble(engine.resultStatus)
      return value === 0 ? undefined : env.#take(value)
    }))
  }

  identify(document) {
    return Env.sniff(this, textOrBytes(document, 'document'))
  }

  static sniff(env, bytes) {
    const engine = env.#engine
    return engine.guard(() => engine.withBlock(bytes, (address, size) => {
      engine.check(engine.exports.opspec_do_sniff(engine.port, address, size))
      return engine.resultJson()
    }))
  }

  // ---- Operators ----------------------------------------------------------------------------------------------------

  registerOperator(spec, kernel, options = {}) {
    const { sinceVersion } = optionsOf(options)
    if (sinceVersion !== undefined && !(Number.isInteger(sinceVersion) && sinceVersion > 0 && sinceVersion < 2 ** 31)) throw invalid('sinceVersion: must be an integer above 0 and of 31 bits')
    const body = bytesView(kernel, 'kernel')
    if (body !== null && !isModule(body)) return this.#registerFunction(specText(spec), body, sinceVersion ?? 0)
    if (body !== null || kernel instanceof WebAssembly.Module) return this.#registerPlugin(pluginModule(kernel), [].concat(spec).map(item => specText(item)), { sinceVersion, all: true })
    const document = specText(spec)
    const expanded = expandKernel(kernel)
    return this.#registered(document, () => this.#add(document, expanded.kernel, sinceVersion), expanded.bind)
  }

  // What `add` has registered, unless `fit` finds that it does not fit the document, which is good in itself.
  #registered(document, add, fit) {
    const engine = this.#engine
    const registration = new Registration(engine, [engine.guard(add)], made => this.#forget(made))
    try {
      fit?.(parseDocument(document))
    } catch (error) {
      registration.dispose()
      throw error
    }
    return registration
  }

  // `body`: a FunctionProto or a ModelProto.
  #registerFunction(document, body, since) {
    const engine = this.#engine
    const add = () => {
      const added = this.#added(engine.withBlock(document, (at, size) => engine.withBlock(body, (bodyAt, bodySize) =>
        engine.exports.opspec_add_function(engine.port, at, size, since, bodyAt, bodySize))), 'function')
      this.#bodies.set(added.key, body.slice())
      return added
    }
    const message = () => Env.sniff(this, body).kind === 'model' ? 'ModelProto' : 'FunctionProto'
    return this.#registered(document, add, parsed => checkFit(parsed, this.decode(body, message())))
  }

  // What the core answered to a registration.
  #added(address, source) {
    const engine = this.#engine
    if (address === 0) throw engine.trouble(engine.resultStatus)
    this.#operators = null
    const operator = engine.resultJson()
    const { domain, name } = operator
    const key = identity(operator)
    this.#sources.set(key, source)
    return { address, name: domain === '' ? name : `${domain}.${name}`, key }
  }

  #forget(made) {
    this.#operators = null
    for (const { key } of made) {
      this.#sources.delete(key)
      this.#bodies.delete(key)
    }
  }

  // What runs each operator that was registered, or says of it that it is only declared. It stands behind one of the standard that
  // it replaces.
  #sourced(operators) {
    const left = new Map(this.#sources)
    for (const operator of [...operators].reverse()) {
      const key = identity(operator)
      const source = left.get(key)
      if (source === undefined) continue
      left.delete(key)
      operator.source = source === 'spec' && operator.kernel ? 'builtin' : source
    }
    return operators
  }

  // Registers one operator; answers its address and name. In a guard.
  #add(document, kernel, sinceVersion) {
    const engine = this.#engine
    const number = kernel == null ? 0 : engine.kernels.add(kernel)
    // Made from a schema in the roles of MLOperatorAuthor.
    const flags = kernelFlags(kernel) + (kernel?.roles === true && document === kernel.document ? ROLES : 0)
    const since = sinceVersion ?? 0
    // Without a document: a kernel for an operator that is known.
    const address = document === null
      ? (engine.putTexts([kernel.domain, kernel.name]), engine.exports.opspec_add_kernel(engine.port, since, number, flags))
      : engine.withBlock(document, (at, size) => engine.exports.opspec_add_operator(engine.port, at, size, since, number, flags))
    if (address === 0 && number !== 0) engine.kernels.forget(number)
    const added = this.#added(address, number === 0 ? 'spec' : kernel.plugin === undefined ? 'js' : 'plug-in')
    if (number !== 0 && kernel.plugin === undefined) engine.kernels.describe(number, parseDocument(document))
    return added
  }

  /** A plug-in's operators, with documents that are theirs; what has no counterpart is listed in `unmatched`. */
  async loadPlugin(source, given) {
    const { documents = [] } = optionsOf(given)
    if (!Array.isArray(documents)) throw invalid('documents: must be a list')
    const texts = documents.map((item, i) => specText(item, `documents[${i}]`))
    return this.#registerPlugin(await readModule(source), texts, {})
  }

  // `all`: every document must have an operator in the plug-in.
  #registerPlugin(module, texts, { sinceVersion, all = false }) {
    const engine = this.#engine
    const decoder = new TextDecoder()
    return engine.guard(() => {
      const plugin = new Plugin(engine, module)
      const documents = texts.map(text => ({ text, ...identityOf(typeof text === 'string' ? text : decoder.decode(text), sinceVersion) }))
      for (const document of documents) if (document.name === undefined) this.#refuse(document)
      const { pairs, rest } = matchDocuments(plugin.operators, documents)
      const alone = pairs.filter(({ operator }) => operator === null).map(({ document }) => document)
      const lost = alone.map(nameOf)
      if (all && lost.length > 0) {
        this.#refuse(alone[0])
        throw invalid(`kernel: the plug-in has no operator ${lost.join(', ')}; it has ${plugin.operators.map(nameOf).join(', ') || 'none'}`)
      }
      const made = []
      try {
        for (const { document, operator } of pairs) if (operator !== null) made.push(this.#add(document.text, operator, document.since))
        const unknown = rest.filter(operator => !this.#addAlone(operator, made)).map(nameOf)
        return new Registration(engine, made, gone => this.#forget(gone), { documents: lost, operators: unknown })
      } catch (error) {
        if (!engine.dead) for (const { address } of made) engine.exports.opspec_remove_operator(address)
        this.#forget(made)
        engine.kernels.settle()
        throw error
      }
    })
  }

  // Throws what is wrong with a document itself, if anything is.
  #refuse({ text, since }) {
    const engine = this.#engine
    const address = engine.withBlock(text, (at, size) => engine.exports.opspec_add_operator(engine.port, at, size, since, 0, 0))
    if (address === 0) throw engine.trouble(engine.resultStatus)
    engine.exports.opspec_remove_operator(address)
  }

  // An operator that no document was given for: by what the plug-in says of it, or as a kernel of a known one.
  #addAlone(operator, made) {
    try {
      made.push(this.#add(operator.document ?? null, operator, operator.since))
      return true
    } catch (error) {
      if (operator.document === undefined && error.code === 'unsupported') return false
      throw error
    }
  }

  operators() {
    const engine = this.#engine
    this.#operators ??= engine.guard(() => {
      engine.check(engine.exports.opspec_list_operators(engine.port))
      return freezeDeep(this.#sourced(engine.resultJson()))
    })
    return this.#operators
  }

  writeOperatorSet(options) {
    return writeOperatorSet(this, options, {
      bodyOf: ({ domain, name, since }) => this.#bodies.get(identity({ domain, name, sinceVersion: since })),
      isModel: bytes => Env.sniff(this, bytes).kind === 'model',
      textOf: specText
    })
  }

  explain(rule) {
    const known = ruleHere(stringArgument(rule, 'rule'))
    if (known !== undefined) {
      const { severity, title, why, good, bad, source } = known
      return { rule, severity, title, why, good, bad, source }
    }
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_do_explain(engine.port, engine.putText(rule)))
      return engine.resultJson()
    })
  }

  rules() {
    const engine = this.#engine
    return engine.guard(() => {
      engine.check(engine.exports.opspec_list_rules(engine.port))
      return [...engine.resultJson(), functionRule.rule, ...diffRules.keys()]
    })
  }

  /** Bytes that the Env's documents, models and values take. For tests. */
  static memoryUsed(env) {
    const engine = env.#engine
    return { used: engine.exports.opspec_used(engine.port), memory: engine.memory.buffer.byteLength }
  }

  // ---- Evidence -----------------------------------------------------------------------------------------------------

  async test(bundle, options) {
    const given = optionsOf(options)
    return testBundle(this, bundle, given)
  }

  dispose() {
    if (this.#engine.exports !== null) this.#engine.close()
  }
}
withDispose(Env)

function specText(spec, argument = 'spec') {
  if (typeof spec === 'string') return spec
  const bytes = bytesView(spec, argument)
  if (bytes !== null) return bytes
  if (spec === null || typeof spec !== 'object') throw invalid(`${argument}: must be a text, bytes or an object`)
  let text
  try {
    text = JSON.stringify(spec)
  } catch (cause) {
    throw invalid(`${argument}: is no JSON: ${messageOf(cause)}`, { cause })
  }
  if (text === undefined) throw invalid(`${argument}: is no JSON`)
  return text
}

const identity = ({ domain, name, overload = '', sinceVersion }) => [domain, name, overload, sinceVersion].join('\0')

const nameOf = ({ domain, name, since }) => `${domain ? `${domain}.` : ''}${name} (version ${since})`

function expandKernel(kernel) {
  try {
    checkKernel(kernel)
    return typeof kernel?.elementwise === 'function' ? elementwiseKernel(kernel) : { kernel }
  } catch (error) {
    // A kernel's getters are its own.
    const { ours, message } = detailsOf(error)
    throw ours ? error : invalid(`kernel: cannot be read: ${message}`, { cause: error })
  }
}

function checkKernel(kernel) {
  if (kernel == null) return
  if (typeof kernel !== 'object') throw invalid('kernel: must be an object with a function compute')
  if (kernel.elementwise !== undefined) return checkElementwise(kernel)
  if (typeof kernel.compute !== 'function') throw invalid('kernel: has no function compute or elementwise')
  for (const name of ['create', 'inferTypes', 'inferShapes', 'dispose']) {
    if (kernel[name] !== undefined && typeof kernel[name] !== 'function') throw invalid(`kernel: ${name} must be a function`)
  }
}

function checkElementwise(kernel) {
  if (typeof kernel.elementwise !== 'function') throw invalid('kernel: elementwise must be a function')
  for (const name of ['compute', 'inferTypes', 'inferShapes']) {
    if (kernel[name] !== undefined) throw invalid(`kernel: has elementwise, and so no ${name} of its own`)
  }
}

function kernelFlags(kernel) {
  if (kernel == null) return 0
  if (kernel.plugin !== undefined) return kernel.flags
  const shapes = typeof kernel.inferShapes === 'function'
  return HAS_KERNEL + (shapes || typeof kernel.inferTypes === 'function' ? INFERS : 0) + (shapes ? SHAPES : 0)
}

function freezeDeep(value) {
  if (value !== null && typeof value === 'object') {
    for (const item of Object.values(value)) freezeDeep(item)
    Object.freeze(value)
  }
  return value
}

const limitNames = ['bytes', 'memory', 'findings', 'depth']

function checkOptions(options) {
  if (options === null || typeof options !== 'object') throw invalid('options: must be an object')
  const { float16 = 'bits', limits = {}, isolate, seed } = options
  if (float16 !== 'bits' && float16 !== 'array') throw invalid("float16: must be 'bits' or 'array'")
  if (float16 === 'array' && Float16 === null) throw new OpspecError('unsupported', 'float16: this JavaScript engine has no Float16Array')
  if (limits === null || typeof limits !== 'object') throw invalid('limits: must be an object')
  for (const [name, value] of Object.entries(limits)) {
    if (!limitNames.includes(name)) throw invalid(`limits.${name}: is no limit; known are ${limitNames.join(', ')}`)
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) throw invalid(`limits.${name}: must be an integer above 0`)
  }
  if (isolate !== undefined && typeof isolate !== 'function') throw invalid('isolate: must be a function')
  if (seed !== undefined && !(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)) throw invalid('seed: must be an integer of 32 bits')
  return { float16, limits, isolate, seed }
}

/**
 * @param {string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module | (() => URL)} wasm where the module is, if options
 *   do not say; a function answers the address that the package's own one has beside its scripts
 * @param {object} [options]
 * @param {WebAssembly.Module} [compiled] the same, where it was compiled before
 */
export async function createEnvWith(wasm, options = {}, compiled = undefined) {
  const checked = checkOptions(options)
  const source = options.wasm ?? (typeof wasm === 'function' ? ownModule(wasm) : wasm)
  const module = compiled ?? await loadModule(source)
  return new Env(await Engine.create(module, checked), module, { ...checked, wasm: source })
}
