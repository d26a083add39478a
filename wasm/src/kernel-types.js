import { invalid, OpspecError, shown } from './errors.js'
import { isMap, isSparse, isTensor, parseType, typeOfValue } from './values.js'

// The types that a document allows the outputs of a JS kernel. Tensors the core holds against them.

const bare = text => text.replace(/\s/g, '')

function scalarCouldBe(value, { kind, element }) {
  if (kind !== 'tensor') return false
  switch (typeof value) {
    case 'string': return element.name === 'string'
    case 'boolean': return element.name === 'bool'
    case 'bigint': return element.wide
    case 'number': return element.name !== 'string' && element.name !== 'bool'
    default: return false
  }
}

// Of what is in lists and maps the first is looked at.
function couldBe(value, type) {
  switch (type.kind) {
    case 'optional': return value === null || couldBe(value, type.of)
    case 'tensor': return isTensor(value) && value.type === type.element.name
    case 'sparse': return !isTensor(value) && isSparse(value) && value.type === type.element.name
    case 'sequence': return Array.isArray(value) && (value.length === 0 || couldBe(value[0], type.of))
    case 'map': {
      if (!isMap(value)) return false
      const [first] = value
      return first === undefined || ((typeof first[0] === 'string') === (type.element.name === 'string') && (couldBe(first[1], type.of) || scalarCouldBe(first[1], type.of)))
    }
    default: return false
  }
}

export class KernelTypes {
  #engine
  #inputs = []
  #outputs = null
  #parameters
  beyondTensors = false // an output may be something else than a tensor

  constructor(engine) {
    this.#engine = engine
  }

  read({ inputs, outputs, type_parameters: parameters }) {
    this.#inputs = inputs
    this.#outputs = outputs
    this.#parameters = parameters
    this.beyondTensors = outputs.some(({ type_parameter: label }) => parameters[label].allowed_types.some(text => !text.startsWith('tensor')))
  }

  #formal(index) {
    const last = this.#outputs?.at(-1)
    return this.#outputs?.[index] ?? (last?.cardinality === 'variadic' ? last : undefined)
  }

  /** The type that inference says of an output; throws where the document has no such. */
  allowed(index, type, what) {
    if (typeof type !== 'string') throw new OpspecError('operator_failed', `${what}: output ${index} is ${shown(type)}, which is no type`)
    const formal = this.#formal(index)
    if (formal === undefined) return type
    const { allowed_types: texts } = this.#parameters[formal.type_parameter]
    const [own, wrapped] = [bare(type), `optional(${bare(type)})`]
    if (texts.some(text => bare(text) === own || bare(text) === wrapped)) return type
    throw new OpspecError('operator_failed', `${what}: output ${index} (${formal.name}) cannot be ${type.slice(0, 200)}`)
  }

  /**
   * The type that a value is to have as an output, or null where nothing is known. `given`: types of the inputs, as the core's numbers, 0
   * for none; `inferred(texts)`: what inferTypes says of them, or null.
   */
  choose(index, value, given, inferred) {
    const formal = this.#formal(index)
    if (formal === undefined) return null
    const types = this.#candidates(formal, index, given, inferred)
    if (types.length === 1) return types[0]
    const fitting = types.filter(type => couldBe(value, type))
    if (fitting.length === 1) return fitting[0]
    const list = types.map(({ text }) => text).join(', ')
    const said = typeOfValue(value)
    if (fitting.length === 0) throw invalid(`output ${index} (${formal.name}) is ${said === '' ? shown(value) : said}, not one of ${list}`)
    if (said === '') throw invalid(`output ${index} (${formal.name}) is empty and does not say which it is of ${list}; inferTypes can`)
    return fitting.find(({ text }) => bare(text) === bare(said)) ?? fitting[0]
  }

  #candidates({ type_parameter: label }, index, given, inferred) {
    const engine = this.#engine
    const allowed = this.#parameters[label].allowed_types.map(text => parseType(engine.typeText(engine.typeId(text))))
    if (allowed.length === 1) return allowed
    const inputs = given.map(type => type === 0 ? undefined : engine.typeText(type))
    const place = this.#inputs.findIndex((input, i) => input.type_parameter === label && input.cardinality !== 'variadic' && inputs[i] !== undefined)
    const said = place >= 0 ? inputs[place] : inferred?.(inputs)[index]
    const exact = typeof said === 'string' ? allowed.filter(({ text }) => bare(text) === bare(said)) : []
    return exact.length === 1 ? exact : allowed
  }
}
