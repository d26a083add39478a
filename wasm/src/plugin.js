import { elementByNumber } from './elements.js'
import { messageOf, misdeed, OpspecError } from './errors.js'
import { findingOf } from './findings.js'
import { wasi } from './loader.js'
import { documentOf, PluginMemory, readSchema } from './plugin-memory.js'
import { parseType, Tensor } from './values.js'

const wrongAnswer = message => misdeed(new OpspecError('operator_failed', message))

// Plug-ins (core/include/opspec/plugin.h): modules with their own memory, of which nothing is believed. Whatever a plug-in
// answers is a number that is looked at before it is used; a trap ends the plug-in, not the Env.

const VALUE = 8 // numbers of a value in the port's table
const STRING = 8
const TENSOR = 1, SEQUENCE = 3, OPTIONAL = 5
const MOST_OPERATORS = 4096
const MOST_ITEMS = 1 << 20
const MOST_TYPES = 4096 // that it makes: an Env keeps a type for good
const MOST_REGISTERED = 1 << 25 // bytes that are read of all that a plug-in registers
const MOST_ANSWERED = 1 << 28   // bytes that are read of what one call answers, where the plug-in's memory is not larger; text in any case
const UNKNOWN = -(2n ** 63n)
const SMALL = 512 // bytes that are copied faster by a loop

const ABI = 1
const sizes = { tensor: 32, value: 64, fact: 28, attribute: 24, node: 32, infer: 28, run: 40, create: 12, registration: 40 }
const needed = ['opspec_plugin_abi', 'RegisterCustomOps', 'opspec_plugin_take', 'opspec_plugin_grab', 'opspec_plugin_drop', 'opspec_plugin_end',
  'opspec_plugin_infer', 'opspec_plugin_create', 'opspec_plugin_destroy', 'opspec_plugin_compute']

const refused = (why, findings) => new OpspecError('unsupported', `the plug-in cannot be used: ${why}`, { findings })

/** Bytes or a Module as a Module. */
export function pluginModule(source) {
  if (source instanceof WebAssembly.Module) return source
  try {
    return new WebAssembly.Module(source)
  } catch (cause) {
    throw new OpspecError('unsupported', `kernel: the bytes are no plug-in (${cause.message}); a large one is passed as a WebAssembly.Module`, { cause })
  }
}

export class Plugin {
  #open = true
  #message = ''
  #findings = undefined
  #types = 0 // that it made

  constructor(engine, module) {
    this.engine = engine
    this.operators = [] // { row, domain, name, since, flags, document, roles }
    this.dead = null    // the trap after which it cannot go on
    // Nothing is inherited here: a plug-in that asks for env.constructor gets no hold of the language's objects.
    const own = functions => Object.assign(Object.create(null), functions)
    const imports = own({
      opspec: own({ register: (registry, what) => this.#register(what), type_of: (kind, element) => this.#typeOf(kind, element) }),
      env: own({ emscripten_notify_memory_growth() {} }),
      wasi_snapshot_preview1: own(wasi)
    })
    for (const { module: space, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function' || imports[space]?.[name] === undefined) throw refused(`it wants ${space}.${name}, which a host does not have`)
    }
    const has = new Map(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]))
    for (const name of needed) if (has.get(name) !== 'function') throw refused(`it exports no function ${name}; include <opspec/plugin.h>`)
    if (has.get('memory') !== 'memory') throw refused('it does not export its memory')
    this.#start(module, imports)
  }

  #start(module, imports) {
    try {
      this.exports = new WebAssembly.Instance(module, imports).exports
      this.memory = new PluginMemory(this.exports)
      this.memory.allow(MOST_REGISTERED, MOST_REGISTERED)
      this.exports._initialize?.()
      this.#checkAbi(this.exports.opspec_plugin_abi())
      const status = this.exports.RegisterCustomOps(1)
      if (this.#message !== '') throw refused(this.#message, this.#findings)
      if (status !== 0) throw refused(`RegisterCustomOps answered ${status}`)
    } catch (error) {
      if (error instanceof OpspecError && error.code === 'unsupported') throw error
      throw new OpspecError('unsupported', `the plug-in cannot be used: ${error.message}`, { cause: error })
    } finally {
      this.#open = false
    }
  }

  #checkAbi(at) {
    const [version, count] = this.memory.words(at, 2)
    if (version !== ABI) throw refused(`it was built for version ${version} of the plug-in interface, this package has version ${ABI}`)
    const names = Object.keys(sizes)
    const given = count === names.length ? this.memory.words(at + 8, count) : []
    names.forEach((name, i) => {
      if (given[i] !== sizes[name]) throw refused(`its struct ${name} has ${given[i]} bytes, this package's has ${sizes[name]}`)
    })
  }

  // ---- What a plug-in calls -----------------------------------------------------------------------------------------

  #register(at) {
    if (!this.#open) return 10
    const { memory } = this
    const [row, domain, domainLength, name, nameLength, since, flags, document, documentLength, schema] = memory.words(at, 10)
    if (row === 0) {
      this.#message = memory.text(document, documentLength)
      return 10
    }
    if (this.operators.length === MOST_OPERATORS) {
      this.#message = `it registers more than ${MOST_OPERATORS} operators`
      return 10
    }
    const operator = { plugin: this, row, domain: memory.text(domain, domainLength), name: memory.text(name, nameLength), since: since | 0, flags: flags & 7 }
    if (operator.name === '' || operator.since < 1) {
      this.#message = 'it registers an operator without a name or without a version above 0'
      return 10
    }
    operator.domain = operator.domain === 'ai.onnx' ? '' : operator.domain
    const known = this.operators.some(other => other.name === operator.name && other.domain === operator.domain && other.since === operator.since)
    if (known) {
      this.#message = `it registers ${operator.domain}.${operator.name} of version ${operator.since} twice`
      this.#findings = [findingOf('spec.bundle.conflict', this.#message)]
      return 10
    }
    if (documentLength > 0) operator.document = memory.text(document, documentLength)
    else if (schema !== 0) {
      operator.document = documentOf(operator, readSchema(memory, schema))
      operator.roles = true
    }
    this.operators.push(operator)
    return 0
  }

  #typeOf(kind, element) {
    const { engine } = this
    const text = element > 0 && (element <= 26 || engine.types.has(element)) ? engine.typeText(element) : ''
    if (text === '' || text === '?') return 0
    if (kind === 2 && !/^(seq|optional)\(/.test(text)) return 0
    const wanted = kind === 2 ? text.slice(text.indexOf('(') + 1, -1) : `${kind === 1 ? 'optional' : 'seq'}(${text})`
    if (!engine.knowsType(wanted) && this.#types++ >= MOST_TYPES) return 0
    const id = engine.typeId(wanted)
    engine.typeText(id)
    return id
  }

  // ---- Calls --------------------------------------------------------------------------------------------------------

  /** Calls an export; a trap is the plug-in's end. */
  call(name, argument) {
    if (this.dead !== null) throw new OpspecError('operator_failed', `the plug-in stopped in an earlier call: ${messageOf(this.dead)}`, { cause: this.dead })
    try {
      return this.exports[name](argument)
    } catch (error) {
      this.dead = error
      throw error
    }
  }

  take(bytes) {
    const at = this.call('opspec_plugin_take', bytes)
    return this.memory.checked(at, bytes)
  }

  /** `what`: that is to go there, in words. */
  grab(bytes, what = `${bytes} bytes`) {
    const at = this.call('opspec_plugin_grab', bytes)
    if (at === 0 && bytes > 0) throw new OpspecError('limit', `the plug-in has no memory for ${what}`)
    return this.memory.checked(at, bytes)
  }

  drop(at, bytes) {
    if (this.dead === null && at !== 0) this.exports.opspec_plugin_drop(at, bytes)
  }

  end() {
    if (this.dead === null) this.call('opspec_plugin_end')
  }

  /** Before a call's answer is read. */
  startAnswer() {
    this.memory.sync()
    this.memory.allow(Math.max(MOST_ANSWERED, this.memory.u8.length), MOST_ANSWERED)
  }

  /** The message in a context's first two words. */
  message(at, status) {
    const [text, length] = this.memory.words(at, 2)
    if (length > 0) return this.memory.text(text, Math.min(length, 4096))
    return status === 31 ? 'the plug-in has no memory left' : `the plug-in's operator answered ${status}`
  }

  // ---- Nodes --------------------------------------------------------------------------------------------------------

  /** Writes a node where `room` gives memory; answers its address. */
  node(operator, node, room) {
    const names = Object.keys(node.attributes)
    const at = room(sizes.node)
    const list = room(names.length * sizes.attribute)
    names.forEach((name, i) => this.#attribute(list + i * sizes.attribute, name, node.attributes[name], room))
    const { memory } = this
    memory.putText(at, node.opType, room)
    memory.putText(at + 8, node.domain, room)
    memory.put(at + 16, [node.sinceVersion, names.length, list, operator.row])
    return at
  }

  #attribute(at, name, [kind, value], room) {
    const { memory, engine } = this
    memory.putText(at, name, room)
    memory.put(at + 8, [kind, Array.isArray(value) ? value.length : 1])
    const list = (size, each) => {
      const to = room(value.length * size)
      value.forEach((item, i) => each(to + i * size, item))
      memory.put(at + 16, [to])
    }
    const text = (to, item) => memory.putText(to, typeof item === 'string' ? item : Uint8Array.from(item.bytes), room)
    switch (kind) {
      case 1: memory.putFloat(at + 16, Number(value)); break
      case 2: memory.putInt(at + 16, BigInt(value)); break
      case 3: text(at + 16, value); break
      case 4: memory.put(at + 16, [this.valueAt(value.address, room)]); break
      case 6: list(4, (to, item) => memory.putFloat(to, Number(item))); break
      case 7: list(8, (to, item) => memory.putInt(to, BigInt(item))); break
      case 8: list(8, text); break
      case 13: memory.put(at + 16, [engine.typeId(value)]); break
      default: memory.put(at + 8, [0, 0])
    }
  }

  // ---- Values, into the plug-in ---------------------------------------------------------------------------------------

  /** A copy of a value of the module's; answers its address. */
  valueAt(address, room) {
    const { engine } = this
    engine.exports.opspec_describe(engine.port, address)
    engine.sync()
    return this.valueOf(engine.readHead(engine.table), room)
  }

  valueOf(head, room) {
    const { engine, memory } = this
    const at = room(sizes.value)
    if (head.kind === TENSOR) {
      const data = this.tensorHead(at, head, room)
      if (head.element === STRING) this.#strings(head, data, room)
      else this.copyIn(head.data, data, head.count * bytesOf(head.element))
      return at
    }
    if (head.kind !== SEQUENCE && head.kind !== OPTIONAL) throw new OpspecError('unsupported', 'a plug-in takes tensors, sequences and optionals')
    const list = room(head.items * 4)
    for (let i = 0; i < head.items; i++) {
      const item = this.valueAt(engine.exports.opspec_item(head.address, i), room)
      memory.put(list + 4 * i, [item])
    }
    memory.put(at + 32, [head.kind, head.type, list, head.items, head.items, 1, 1])
    return at
  }

  /** Writes the struct of a tensor; answers where its data goes. */
  tensorHead(at, { element, dims, count }, room) {
    const { memory } = this
    const list = room(dims.length * 8)
    const data = room(count * bytesOf(element))
    dims.forEach((dim, i) => memory.putInt(list + 8 * i, BigInt(dim)))
    memory.put(at, [element, dims.length, list, 0, count, 0, data])
    memory.put(at + 32, [TENSOR, element, 0, 0, 0, 1, 1])
    return data
  }

  #strings(head, data, room) {
    const { engine, memory } = this
    let bytes = 0
    const from = head.data >>> 2
    for (let i = 0; i < head.count; i++) bytes += engine.u32[from + 2 * i + 1]
    let to = room(bytes)
    for (let i = 0; i < head.count; i++) {
      const length = engine.u32[from + 2 * i + 1]
      this.copyIn(engine.u32[from + 2 * i], to, length)
      memory.put(data + 8 * i, [to, length])
      to += length
    }
  }

  copyIn(from, to, bytes) {
    this.memory.sync()
    copy(this.engine, from, this.memory, to, bytes)
  }

  // ---- Values, out of it ------------------------------------------------------------------------------------------------

  /** What a struct in the plug-in says, looked at. */
  readValue(at) {
    const { memory } = this
    const words = memory.words(at, sizes.value / 4)
    const [element, rank, list] = words
    const [kind, type, items, count] = words.slice(8)
    if (kind === SEQUENCE || kind === OPTIONAL) {
      if (count > MOST_ITEMS || (kind === OPTIONAL && count > 1)) throw wrongAnswer(`the plug-in's list has ${count} items`)
      return { kind, type, items: memory.words(items, count) }
    }
    if (kind !== TENSOR || elementByNumber[element] == null || rank > 16) throw wrongAnswer('the plug-in answered something that is no value')
    const dims = memory.ints(list, rank).map(Number)
    const size = dims.reduce((product, dim) => product * dim, 1)
    if (dims.some(dim => dim < 0) || size !== words[4] + words[5] * 2 ** 32) throw wrongAnswer(`the plug-in's tensor [${dims.join(', ')}] says that it has ${words[4]} elements`)
    memory.checked(words[6], size * bytesOf(element))
    memory.count(size * bytesOf(element))
    return { kind, element: elementByNumber[element], dims, count: size, data: words[6] }
  }

  strings({ data, count }) {
    const words = this.memory.words(data, count * 2)
    let bytes = 0
    for (let i = 1; i < words.length; i += 2) bytes += words[i]
    this.memory.countText(bytes)
    return Array.from({ length: count }, (_, i) => this.memory.text(words[2 * i], words[2 * i + 1], true))
  }

  /** A value of the module's out of the plug-in; the caller owns it. */
  toCore(at, depth = 0, expected = null) {
    const { engine, memory } = this
    if (depth > 8) throw wrongAnswer('the plug-in\'s value is nested too deep')
    const value = this.readValue(at)
    const type = value.kind === TENSOR ? `tensor(${value.element.onnx})` : engine.typeText(this.#knownType(value.type))
    if (expected !== null && type !== expected) throw wrongAnswer(`the plug-in's value holds a ${type}, and by its type a ${expected}`)
    if (value.kind === TENSOR) {
      if (value.element.number === STRING) return engine.newTensor(value.element, value.dims, this.strings(value))
      const address = engine.newTensor(value.element, value.dims, [])
      copy(memory, value.data, engine, engine.f64[engine.table], value.count * bytesOf(value.element.number))
      return address
    }
    if (!type.startsWith(value.kind === SEQUENCE ? 'seq' : 'optional')) throw wrongAnswer('the plug-in\'s value has another type than its own')
    if (value.kind === OPTIONAL) {
      const inner = value.items.length === 0 ? 0 : this.toCore(value.items[0], depth + 1, parseType(type).of.text)
      return engine.exports.opspec_new_optional(engine.port, value.type, inner)
    }
    const { of } = parseType(type)
    const sequence = engine.exports.opspec_new_sequence(engine.port, value.type)
    try {
      for (const item of value.items) engine.exports.opspec_add(sequence, this.toCore(item, depth + 1, of.text))
    } catch (error) {
      engine.release(sequence)
      throw error
    }
    return sequence
  }

  // Numbers of types that this Env has given out.
  #knownType(type) {
    if (!this.engine.types.has(type)) throw wrongAnswer(`the plug-in names a type ${type} that there is not`)
    return type
  }

  // ---- Inference ----------------------------------------------------------------------------------------------------------

  infer(operator, node) {
    if ((operator.flags & 2) === 0) return node.requested.map(() => ({}))
    const { memory } = this
    const room = bytes => this.take(bytes)
    const symbols = []
    try {
      const at = room(sizes.infer)
      const inputs = room(node.inputs.length * sizes.fact)
      const outputs = room(node.requested.length * sizes.fact)
      node.inputs.forEach((fact, i) => { if (fact !== null) this.#fact(inputs + i * sizes.fact, fact, symbols, room) })
      node.requested.forEach((wanted, i) => memory.put(outputs + i * sizes.fact, [0, -1, 0, 0, 0, 0, wanted ? 1 : 0]))
      memory.put(at, [0, 0, this.node(operator, node, room), node.inputs.length, node.requested.length, inputs, outputs])
      const status = this.call('opspec_plugin_infer', at)
      this.startAnswer()
      if (status !== 0) throw new OpspecError('operator_failed', this.message(at, status))
      return node.requested.map((wanted, i) => wanted ? this.#inferred(outputs + i * sizes.fact, symbols) : {})
    } finally {
      this.end()
    }
  }

  #fact(at, fact, symbols, room) {
    const { engine, memory } = this
    const ints = values => {
      const list = room(values.length * 8)
      values.forEach((value, i) => memory.putInt(list + 8 * i, value))
      return list
    }
    const dim = value => {
      if (typeof value === 'number') return BigInt(value)
      if (value === null) return UNKNOWN
      if (!symbols.includes(value)) symbols.push(value)
      return UNKNOWN + 1n + BigInt(symbols.indexOf(value))
    }
    let [small, count, value] = [0, 0, 0]
    if (fact.integers !== undefined) [small, count] = [ints(fact.integers.map(BigInt)), fact.integers.length]
    if (fact.address !== undefined) {
      value = this.valueAt(fact.address, room)
      const known = engine.toValue(fact.address)
      if (known instanceof Tensor && known.dims.length < 2 && /^u?int/.test(known.type)) {
        [small, count] = [ints(Array.from(known.data, BigInt)), known.data.length]
      }
    }
    const dims = fact.shape === null ? 0 : ints(fact.shape.map(dim))
    memory.put(at, [fact.type === '' ? 0 : engine.typeId(fact.type), fact.shape === null ? -1 : fact.shape.length, dims, small, count, value, 1])
  }

  #inferred(at, symbols) {
    const { engine, memory } = this
    const [type, rank, list] = memory.words(at, 3)
    const out = {}
    if (type !== 0) {
      if (type > 26) this.#knownType(type)
      out.type = engine.typeText(type)
    }
    if ((rank | 0) < 0) return out
    if (rank > 16) throw wrongAnswer(`the plug-in infers a rank of ${rank}`)
    out.shape = memory.ints(list, rank).map(dim => {
      if (dim >= 0n) return Number(dim)
      return symbols[Number(dim - UNKNOWN - 1n)] ?? null
    })
    return out
  }
}

export const bytesOf = number => number === STRING ? 8 : Math.ceil(elementByNumber[number].bits / 8)

// Between two memories, each with u8 and u32 of the same bytes.
export function copy(source, from, target, to, bytes) {
  if (bytes <= SMALL && ((from | to | bytes) & 3) === 0) {
    const { u32: a } = source
    const { u32: b } = target
    from >>>= 2
    to >>>= 2
    for (const last = from + (bytes >> 2); from < last; from++, to++) b[to] = a[from]
  } else target.u8.set(source.u8.subarray(from, from + bytes), to)
}

/** A node's kernel. Its memory in the plug-in is laid out once for each set of input shapes. */
export class PluginInstance {
  constructor(operator, node) {
    const { plugin } = operator
    this.plugin = plugin
    this.kept = [] // address and size of blocks
    this.layout = []
    this.key = []
    const room = bytes => this.#keep(bytes, this.kept)
    const at = plugin.node(operator, node, room)
    const create = room(sizes.create)
    plugin.memory.put(create, [0, 0, at])
    this.address = plugin.call('opspec_plugin_create', create)
    plugin.startAnswer()
    if (this.address === 0) {
      const message = plugin.message(create, 50)
      this.#free(this.kept)
      throw new OpspecError('operator_failed', message)
    }
    this.frame = room(sizes.run)
  }

  #keep(bytes, list, what) {
    const at = this.plugin.grab(bytes, what)
    list.push(at, bytes)
    return at
  }

  #free(list) {
    for (let i = 0; i < list.length; i += 2) this.plugin.drop(list[i], list[i + 1])
    list.length = 0
  }

  destroy() {
    const { plugin } = this
    if (plugin.dead !== null) return
    try {
      plugin.call('opspec_plugin_destroy', this.address)
      this.#free(this.layout)
      this.#free(this.kept)
    } catch {
      // It trapped: it is dead, and its memory goes with it.
    }
  }

  // Do the inputs in the table have the shapes of the call before, and are all of them plain tensors?
  #same(f64, at, inputCount, outputCount) {
    const { key } = this
    let k = 0
    if (key[k++] !== inputCount || key[k++] !== outputCount) return false
    for (let i = 0; i < inputCount; i++) {
      const rank = f64[at + 3]
      if (key[k++] !== f64[at + 1] || key[k++] !== f64[at + 2] || key[k++] !== rank) return false
      for (let j = 0; j < rank; j++) if (key[k++] !== f64[at + VALUE + j]) return false
      at += VALUE + rank
    }
    for (let i = 0; i < outputCount; i++) if (key[k++] !== f64[at + i]) return false
    return k === key.length
  }

  compute(run, inputCount, outputCount) {
    const { plugin } = this
    const { engine, memory } = plugin
    engine.sync()
    memory.sync()
    const { f64, table } = engine
    const same = this.#same(f64, table, inputCount, outputCount)
    if (same) {
      let at = table
      for (let i = 0; i < inputCount; i++) {
        if (this.sizes[i] > 0) copy(engine, f64[at + 5], memory, this.data[i], this.sizes[i])
        at += VALUE + f64[at + 3]
      }
    } else this.#layOut(run, inputCount, outputCount)
    const slots = this.outputs >>> 2
    for (let i = 0; i < outputCount; i++) memory.u32[slots + i] = this.known[i]
    const frame = this.frame >>> 2
    memory.u32[frame + 1] = 0
    memory.u32[frame + 8] = same ? 0 : 1
    const { key } = this
    this.key = [] // laid out and planned again after a call that fails
    const status = plugin.call('opspec_plugin_compute', this.frame)
    plugin.startAnswer()
    try {
      if (status !== 0) throw new OpspecError('operator_failed', plugin.message(this.frame, status))
      for (let i = 0; i < outputCount; i++) if (this.wanted[i]) this.#output(run, i, memory.u32[slots + i])
      if (this.plain) this.key = key
    } finally {
      if (memory.u32[frame + 9] !== 0) plugin.end()
    }
  }

  // Reads the table, copies the inputs, and asks for the shapes of the outputs.
  #layOut(run, inputCount, outputCount) {
    const { plugin } = this
    const { engine, memory } = plugin
    const heads = []
    plugin.startAnswer()
    this.#free(this.layout)
    const key = [inputCount, outputCount]
    let at = engine.table
    for (let i = 0; i < inputCount; i++) {
      const head = engine.readHead(at)
      heads.push(head)
      key.push(head.kind, head.element, head.dims.length, ...head.dims)
      at = head.next
    }
    this.wanted = Array.from({ length: outputCount }, (_, i) => engine.f64[at + i])
    key.push(...this.wanted)
    this.key = [] // until all is laid out
    const room = bytes => this.#keep(bytes, this.layout)
    const slots = room(inputCount * 4)
    this.outputs = room(outputCount * 4)
    const flags = room(outputCount)
    this.data = []
    this.sizes = []
    this.plain = true
    heads.forEach((head, i) => {
      let address = 0
      if (head.kind !== 0) address = plugin.valueOf(head, room)
      const tensor = head.kind === TENSOR && head.element !== STRING
      if (head.kind !== 0 && !tensor) this.plain = false
      this.data.push(tensor ? memory.words(address, 7)[6] : 0)
      this.sizes.push(tensor ? head.count * bytesOf(head.element) : 0)
      memory.put(slots + 4 * i, [address])
    })
    this.known = this.wanted.map((wanted, i) => {
      memory.checked(flags + i, 1)
      memory.u8[flags + i] = wanted
      if (!wanted) return 0
      const known = engine.exports.opspec_output_head(engine.port, run, i, 1)
      engine.sync()
      // The core knows the size, and says why.
      if (engine.f64[engine.table] < 0) throw new OpspecError('limit', `there is no memory for output ${i}`)
      if (known === 0) return 0
      const head = engine.readHead(engine.table)
      const value = room(sizes.value)
      const what = `output ${i}, tensor(${elementByNumber[head.element].onnx}) [${head.dims.join(', ')}]`
      plugin.tensorHead(value, head, bytes => this.#keep(bytes, this.layout, what))
      if (head.element === STRING) this.plain = false
      return value
    })
    this.knownSizes = this.known.map(value => value === 0 ? 0 : memory.words(value, 7)[4] * bytesOf(memory.words(value, 1)[0]))
    this.knownData = this.known.map(value => value === 0 ? 0 : memory.words(value, 7)[6])
    memory.put(this.frame, [0, 0, this.address, inputCount, outputCount, slots, this.outputs, flags, 1, 0])
    this.key = key
  }

  #output(run, index, at) {
    const { plugin } = this
    const { engine, memory } = plugin
    if (at === 0) throw wrongAnswer(`the plug-in gave no output ${index}`)
    if (at === this.known[index] && this.plain) {
      const to = engine.exports.opspec_output_head(engine.port, run, index, 0)
      engine.sync()
      copy(memory, this.knownData[index], engine, to, this.knownSizes[index])
      return
    }
    const value = plugin.readValue(at)
    if (value.kind !== TENSOR) engine.exports.opspec_output_value(run, index, plugin.toCore(at))
    else engine.kernels.writeTensor(run, index, value, (to, address) => {
      if (value.element.number === STRING) engine.fill(value.element, address, to, plugin.strings(value))
      else copy(memory, value.data, engine, to, value.count * bytesOf(value.element.number))
    })
  }
}

/**
 * Which of a plug-in's operators implements which document: the one of the document's domain and name with the highest
 * version that is not above the document's.
 * @param {object[]} documents { domain, name, since }
 */
export function matchDocuments(operators, documents) {
  const used = new Set()
  const pairs = documents.map(document => {
    const fits = operators.filter(({ domain, name, since }) => domain === document.domain && name === document.name && since <= document.since)
    const operator = fits.reduce((best, next) => best === null || next.since > best.since ? next : best, null)
    if (operator !== null) used.add(operator)
    return { document, operator }
  })
  return { pairs, rest: operators.filter(operator => !used.has(operator)) }
}

/** { domain, name, since } of a document's text; `name` is undefined where it has none. */
export function identityOf(text, sinceVersion) {
  let document
  try {
    document = JSON.parse(text)
  } catch {
    document = null
  }
  const domain = document?.operator?.domain
  const version = /^[1-9]\d{0,8}$/.test(document?.version) ? Number(document.version) : 1
  return { domain: domain === 'ai.onnx' ? '' : domain, name: document?.operator?.op_type, since: sinceVersion ?? version }
}
