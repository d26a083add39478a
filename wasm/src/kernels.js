import { elementByNumber } from './elements.js'
import { KernelTypes } from './kernel-types.js'
import { atOnce, hear, invalid, isMisdeed, messageOf, misdeed, OpspecError, shown } from './errors.js'
import { PluginInstance } from './plugin.js'
import { isMap, isSparse, isTensor, normalTensor, parseType, Tensor, TRUSTED } from './values.js'

// JS kernels as the core sees them: numbers. What they throw is kept here as the cause of the error that the core reports.

const DONE = 0
const NEEDS_HOST = 2
const FAILED = 1
const VALUE = 8
const STRINGS_ELEMENT = 8

// onnx.proto, AttributeProto.AttributeType
const FLOAT = 1, INT = 2, STRING = 3, TENSOR = 4, GRAPH = 5, FLOATS = 6, INTS = 7, STRINGS = 8, TENSORS = 9, SPARSE = 11, SPARSES = 12

class KernelFailure extends Error {}

const wrongAnswer = message => misdeed(new KernelFailure(message))

/** Whether it is a fault of the kernel's code or of what it answers, as against an error that it means. */
export function isMisbehaviour(error) {
  try {
    return isFault(error)
  } catch {
    return true
  }
}

function isFault(error) {
  return isMisdeed(error) || error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError ||
    error instanceof WebAssembly.RuntimeError || (error instanceof OpspecError && error.cause instanceof WebAssembly.RuntimeError) || (error instanceof RangeError && /call stack|invalid .*length|allocation/i.test(error.message)) ||
    // From another realm, as in an isolated kernel.
    ['TypeError', 'ReferenceError', 'SyntaxError', 'InternalError'].includes(error?.name)
}

const isAsync = fn => fn?.constructor?.name === 'AsyncFunction'

class Kernel {
  constructor(object, types) {
    this.object = object
    this.types = types
    // Views of the module's memory do not survive an await.
    this.copies = isAsync(object.compute)
  }
}

// ---- What is lent for one call -----------------------------------------------------------------------------------------

const ended = what => invalid(`${what}: was lent for one call, which has ended`)

/** What a call says of itself. Once the call has ended, `requested` and `fail` refuse. */
class Context {
  #requested

  constructor({ opType, domain, sinceVersion }, requested, signal) {
    this.opType = opType
    this.domain = domain
    this.sinceVersion = sinceVersion
    this.#requested = requested
    this.signal = signal
    this.fail = message => {
      this.#during('fail')
      throw new KernelFailure(message === undefined ? 'the kernel failed' : shown(message))
    }
  }

  #during(what) {
    if (this.#requested === null) throw ended(`context.${what}`)
  }

  get requested() {
    this.#during('requested')
    return this.#requested.slice()
  }

  static end(context) {
    context.#requested = null
  }

  // For a call that goes on while others of the same instance are made.
  static keep(context) {
    context.#requested = context.#requested.slice()
    return context.#requested
  }
}

// What a tensor that was lent has for data from then on. Its memory may be something else by now.
const refuse = () => { throw ended('data of an input') }
const gone = new Proxy([], { get: refuse, set: refuse, has: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse })

export class KernelHost {
  copies = false // of what kernels are given: for those that are not trusted with the module's memory

  constructor(engine) {
    this.engine = engine
    this.byNumber = new Map()
    this.instances = new Map()
    this.gone = [] // numbers that the core has let go of
    this.next = 1
    this.cause = undefined // what a kernel threw since it was last cleared
    this.pending = null    // of the compute call that was just made, when it answered a promise
    this.signal = undefined
  }

  /** Disposes of all. Throws for the first that failed once all were asked. */
  clear() {
    const all = [...this.byNumber.values()]
    this.byNumber.clear()
    this.instances.clear()
    disposeAll(all)
  }

  add(object) {
    const number = this.next++
    this.byNumber.set(number, new Kernel(object, new KernelTypes(this.engine)))
    return number
  }

  /** The kernel's document, once the core has found it good. */
  describe(number, document) {
    this.byNumber.get(number).types.read(document)
  }

  /** Takes back what was never registered. */
  forget(number) {
    this.byNumber.delete(number)
  }

  /** Disposes of the kernels that the core has let go of, as clear does. Not from inside a call of the core. */
  settle() {
    const gone = this.gone.splice(0).map(number => {
      const kernel = this.byNumber.get(number)
      this.byNumber.delete(number)
      return kernel
    })
    disposeAll(gone.filter(kernel => kernel !== undefined))
  }

  #fail(error) {
    this.cause = error
    this.engine.exports.opspec_fail(this.engine.port, this.engine.putText(messageOf(error)))
  }

  // ---- Attributes -----------------------------------------------------------------------------------------------

  #int(text, name, bigint) {
    if (bigint) return BigInt(text)
    const number = Number(text)
    if (Number.isSafeInteger(number)) return number
    throw new KernelFailure(`attribute ${name} is ${text}, which a number cannot hold exactly; a kernel with \`bigint: true\` gets it as a bigint`)
  }

  #attribute([kind, value], name, bigint) {
    const bytesOrText = item => typeof item === 'string' ? item : Uint8Array.from(item.bytes)
    switch (kind) {
      case FLOAT: return Number(value)
      case FLOATS: return value.map(Number)
      case INT: return this.#int(value, name, bigint)
      case INTS: return value.map(item => this.#int(item, name, bigint))
      case STRING: return bytesOrText(value)
      case STRINGS: return value.map(bytesOrText)
      case TENSOR: case SPARSE: return this.engine.toValue(value.address)
      case TENSORS: case SPARSES: return value.map(({ address }) => this.engine.toValue(address))
      case GRAPH: return Object.freeze(value)
      default: return value
    }
  }

  #attributes(node, bigint) {
    const out = {}
    for (const name of Object.keys(node.attributes)) out[name] = this.#attribute(node.attributes[name], name, bigint)
    return Object.freeze(out)
  }

  // ---- What the core calls ----------------------------------------------------------------------------------------

  create(number, address, length) {
    const kernel = this.byNumber.get(number)
    try {
      const node = JSON.parse(this.engine.text(address, length))
      if (kernel.object.plugin !== undefined) return this.#add(new PluginInstance(kernel.object, node))
      const attributes = this.#attributes(node, kernel.object.bigint === true)
      this.#during(node, [], context => atOnce(kernel.object.create?.(attributes, context), 'create'))
      return this.#add({ kernel, node, attributes, requested: [], inputs: [], given: [], most: node.maxOutputs })
    } catch (error) {
      this.#fail(error)
      return 0
    }
  }

  // A call with a context that ends with it.
  #during(node, requested, act) {
    const context = new Context(node, requested, this.signal)
    try {
      return act(context)
    } finally {
      Context.end(context)
    }
  }

  #add(instance) {
    const number = this.next++
    this.instances.set(number, instance)
    return number
  }

  destroy(number) {
    const instance = this.instances.get(number)
    this.instances.delete(number)
    if (instance instanceof PluginInstance) instance.destroy()
  }

  infer(number, address, length) {
    const { object, types } = this.byNumber.get(number)
    try {
      const node = JSON.parse(this.engine.text(address, length))
      const facts = object.plugin !== undefined ? object.plugin.infer(object, node)
        : this.#during(node, node.requested, context => inferWith({ object, types, host: this }, node, this.#attributes(node, object.bigint === true), context))
      return this.engine.putText(JSON.stringify(facts, (_, value) => typeof value === 'bigint' ? Number(value) : value))
    } catch (error) {
      this.#fail(error)
      return -1
    }
  }

  // What is known of an input, as inferShapes gets it.
  inputFact(fact) {
    if (fact === null) return undefined
    const out = { type: fact.type, shape: fact.shape }
    if (fact.address !== undefined) out.value = this.engine.toValue(fact.address)
    else if (fact.integers !== undefined) {
      const { element } = parseType(fact.type)
      out.value = new Tensor(element?.name ?? 'int64', fact.integers.map(element?.wide === false ? Number : BigInt), fact.shape ?? [fact.integers.length])
    }
    return out
  }

  #tensorView(instance, index, head) {
    const { engine } = this
    const element = elementByNumber[head.element]
    if (element.array === null) return new Tensor(element.name, engine.strings(head.address, head.count), head.dims, TRUSTED)
    if (this.copies || instance.kernel.copies) return new Tensor(element.name, engine.copyOut(element, head.data, head.count), head.dims, TRUSTED)
    const Array = engine.halfArray !== null && element.name === 'float16' ? engine.halfArray : element.array
    const view = new Array(engine.buffer, head.data, head.count * element.parts)
    const tensor = new Tensor(element.name, view, head.dims, TRUSTED)
    instance.inputs[index] = { buffer: engine.buffer, data: head.data, element: head.element, count: head.count, dims: head.dims, view, tensor }
    return tensor
  }

  // This input with the view of the last call, when it still says what the table does.
  #cached(instance, index, at) {
    const known = instance.inputs[index]
    const { f64, buffer } = this.engine
    if (known === undefined || known.buffer !== buffer || known.data !== f64[at + 5] || known.element !== f64[at + 2] ||
        known.count !== f64[at + 4] || f64[at + 1] !== 1) return null
    const { dims } = known
    if (dims.length !== f64[at + 3]) return null
    for (let i = 0; i < dims.length; i++) if (dims[i] !== f64[at + VALUE + i]) return null
    known.tensor = new Tensor(known.tensor.type, known.view, dims, TRUSTED)
    return known.tensor
  }

  // The call has ended, and with it what its inputs were lent for.
  #endInputs({ inputs }) {
    for (let i = 0; i < inputs.length; i++) if (inputs[i] !== undefined) inputs[i].tensor.data = gone
  }

  compute(number, run, inputCount, outputCount) {
    const { engine } = this
    const instance = this.instances.get(number)
    let context = null
    try {
      if (instance instanceof PluginInstance) {
        instance.compute(run, inputCount, outputCount)
        return DONE
      }
      engine.sync()
      const inputs = new Array(inputCount).fill(undefined)
      if (instance.kernel.types.beyondTensors) instance.given = this.#readTypes(inputCount)
      const late = this.#readInputs(instance, inputs, outputCount)
      // These use the table themselves.
      if (late !== null) for (let i = 0; i < late.length; i += 2) inputs[late[i]] = engine.toValue(late[i + 1])
      context = new Context(instance.node, instance.requested, this.signal)
      const outputs = instance.kernel.object.compute(inputs, instance.attributes, context)
      if (!Array.isArray(outputs) && typeof outputs?.then === 'function') {
        const call = this.#later(instance, outputs, run, context)
        context = null
        return call
      }
      this.writeOutputs(instance, run, outputs)
      return DONE
    } catch (error) {
      this.#fail(error)
      return FAILED
    } finally {
      if (context !== null) this.#end(instance, context)
    }
  }

  #end(instance, context) {
    Context.end(context)
    this.#endInputs(instance)
  }

  // Fills `inputs` with the tensors that the table describes, and says which outputs are wanted; answers number and
  // address of those inputs that are something else, or null.
  #readInputs(instance, inputs, outputCount) {
    const { engine } = this
    const { f64 } = engine
    let late = null
    let at = engine.table
    for (let i = 0; i < inputs.length; i++) {
      const kind = f64[at + 1]
      const rank = f64[at + 3]
      if (kind === 1 && f64[at + 2] !== STRINGS_ELEMENT) inputs[i] = this.#cached(instance, i, at) ?? this.#tensorView(instance, i, engine.readHead(at))
      else if (kind !== 0) (late ??= []).push(i, f64[at])
      at += VALUE + rank
    }
    const { requested } = instance
    if (requested.length !== outputCount) requested.length = outputCount
    for (let i = 0; i < outputCount; i++) requested[i] = f64[at + i] !== 0
    return late
  }

  // By input, what it is: a number of the core's, 0 where it is left out.
  #readTypes(count) {
    const { f64 } = this.engine
    let at = this.engine.table
    return Array.from({ length: count }, () => {
      const type = f64[at + 1] === 0 ? 0 : f64[at + 7]
      at += VALUE + f64[at + 3]
      return type
    })
  }

  // From the next call on it gets copies; what it has now becomes one.
  #later(instance, promise, run, context) {
    instance.kernel.copies = true
    for (const known of instance.inputs) if (known !== undefined && known.tensor.data === known.view) known.tensor.data = known.view.slice()
    instance.inputs.length = 0
    // Until it is settled, another run may use the same instance.
    this.pending = { promise, run, instance: { ...instance }, context, requested: Context.keep(context) }
    return NEEDS_HOST
  }

  /** Of a call that answered a promise. */
  endLater({ context }) {
    Context.end(context)
  }

  writeOutputs(instance, run, outputs, requested = instance.requested) {
    if (!Array.isArray(outputs)) throw wrongAnswer('the kernel must answer a list of its outputs')
    if (outputs.length > instance.most) throw wrongAnswer(`the kernel gave ${outputs.length} outputs, the operator has ${instance.most}`)
    if (requested.length > 1 && instance.inputs.length > 0) outputs = outputs.map(value => this.#owned(value))
    for (let i = 0; i < requested.length; i++) {
      if (!requested[i]) continue
      if (outputs[i] === undefined) throw wrongAnswer(`the kernel gave no output ${i}`)
      try {
        // A tensor may be to become an optional.
        if (isTensor(outputs[i]) && !instance.kernel.types.beyondTensors) this.#writeTensor(run, i, outputs[i])
        else this.#writeValue(instance, run, i, outputs[i])
      } catch (error) {
        throw error instanceof OpspecError && error.code === 'invalid_argument' ? misdeed(error) : error
      }
    }
  }

  #writeValue({ kernel: { object, types }, node, attributes, given }, run, index, value) {
    const inferred = inputs => this.#during(node, [], context => typesFrom(object, inputs, attributes, context))
    const type = types.choose(index, value, given, object.inferTypes === undefined ? null : inferred)
    this.engine.exports.opspec_output_value(run, index, this.engine.fromValue(this.#owned(value), type, `output ${index}`, type !== null))
  }

  #writeTensor(run, index, tensor) {
    const { engine } = this
    const { element, dims, data } = normalTensor(tensor, 'the kernel\'s output')
    // An input handed on, or a part of one: room for the output may make the memory grow and leave the view without it.
    const { buffer } = engine
    const lent = data.buffer === buffer ? { at: data.byteOffset, length: data.length } : null
    this.writeTensor(run, index, { element, dims }, (to, address) => {
      const moved = lent !== null && engine.buffer !== buffer
      engine.fill(element, address, to, moved ? new data.constructor(engine.buffer, lent.at, lent.length) : data)
    })
  }

  // The value with copies of what lies in the module's memory, for values of which one is written after another.
  #owned(value) {
    if (isTensor(value)) {
      const { type, dims, data } = value
      return data?.buffer === this.engine.buffer ? { type, dims, data: data.slice() } : value
    }
    if (Array.isArray(value)) return value.map(item => this.#owned(item))
    if (isMap(value)) return new Map([...value].map(([key, item]) => [key, this.#owned(item)]))
    if (!isSparse(value)) return value
    const { type, dims, values, indices } = value
    return { type, dims, values: this.#owned(values), indices: this.#owned(indices) }
  }

  /** Lets `write(to, address)` fill an output of that type and shape. */
  writeTensor(run, index, { element, dims }, write) {
    const { engine } = this
    engine.sync()
    const { f64, table } = engine
    for (let i = 0; i < dims.length; i++) f64[table + i] = dims[i]
    const to = engine.exports.opspec_output_data(engine.port, run, index, element.number, dims.length)
    engine.sync()
    if (to !== 0) write(to, engine.f64[engine.table + 1])
    else this.#refuse(index, element, dims)
  }

  #refuse(index, element, dims) {
    const { engine } = this
    if (engine.f64[engine.table] !== 1) throw new OpspecError('limit', 'memory is exhausted')
    const promised = engine.readHead(engine.table + 1)
    throw wrongAnswer(`output ${index} is ${element.name} [${Array.from(dims).join(', ')}], inference said ` +
      `${elementByNumber[promised.element].name} [${promised.dims.join(', ')}]`)
  }
}

// Asks every kernel, whatever another one throws.
function disposeAll(kernels) {
  let failed = null
  for (const { object } of kernels) {
    try {
      hear(object.dispose?.())
    } catch (error) {
      failed ??= { error }
    }
  }
  if (failed !== null) throw new OpspecError('operator_failed', `dispose of a kernel failed: ${messageOf(failed.error)}`, { cause: failed.error })
}

// ---- Inference --------------------------------------------------------------------------------------------------------

function checkList(answer, what, most = Infinity) {
  const list = atOnce(answer, what)
  if (!Array.isArray(list)) throw wrongAnswer(`${what} must answer a list`)
  if (list.length > most) throw wrongAnswer(`${what} answered ${list.length} outputs, the operator has ${most}`)
  return list
}

const typesFrom = (object, inputs, attributes, context) => checkList(object.inferTypes(inputs, attributes, context), 'inferTypes')

// The sizes are the core's to judge.
function readShape(shape, what) {
  if (shape === null) return null
  if (typeof shape !== 'object' || typeof shape.length !== 'number') throw wrongAnswer(`${what}: a shape is a list or null, not ${shown(shape)}`)
  return Array.from(shape, (dim, axis) => {
    if (dim == null) return null
    if (Number.isFinite(dim) || typeof dim === 'bigint' || typeof dim === 'string') return dim
    throw wrongAnswer(`${what}: dimension ${axis} is ${shown(dim)}, neither a size nor a name`)
  })
}

function inferWith({ object, types, host }, node, attributes, context) {
  const facts = node.requested.map(() => ({}))
  // '' as an input's type: it is not known.
  const say = (i, type, what) => { if (type !== '') facts[i].type = types.allowed(i, type, what) }
  if (typeof object.inferTypes === 'function') {
    const given = node.inputs.map(fact => fact === null || fact.type === '' ? undefined : fact.type)
    checkList(object.inferTypes(given, attributes, context), 'inferTypes', node.maxOutputs).forEach((type, i) => {
      if (facts[i] !== undefined && type != null) say(i, type, 'inferTypes')
    })
  }
  if (typeof object.inferShapes === 'function') {
    const inputs = node.inputs.map(fact => host.inputFact(fact))
    checkList(object.inferShapes(inputs, attributes, context), 'inferShapes', node.maxOutputs).forEach((fact, i) => {
      if (facts[i] === undefined || fact == null) return
      if (typeof fact !== 'object') throw wrongAnswer(`inferShapes: output ${i} is ${shown(fact)}, not an object with a shape`)
      const { type, shape } = fact
      if (type != null && facts[i].type === undefined) say(i, type, 'inferShapes')
      if (shape !== undefined) facts[i].shape = readShape(shape, `inferShapes: output ${i}`)
    })
  }
  return facts
}
