import { elementByNumber } from './elements.js'
import { OpspecError } from './errors.js'

// The memory of a plug-in, read and written only after a look at the range.

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const MOST_TEXT = 1 << 24
const MOST_WORDS = 1 << 24
const MOST_MEMBERS = 1000

const outside = () => new OpspecError('operator_failed', 'the plug-in gave an address outside of its memory')

const tooMuch = (most, what) => new OpspecError('limit', `the plug-in gave more than ${most} bytes${what} at once`)

export class PluginMemory {
  #left = [0, 0] // and what they were at first
  #textLeft = [0, 0]

  constructor({ memory }) {
    this.memory = memory
    this.#refresh()
  }

  #refresh() {
    const { buffer } = this.memory
    this.u8 = new Uint8Array(buffer)
    this.u32 = new Uint32Array(buffer)
    this.f32 = new Float32Array(buffer)
    this.i64 = new BigInt64Array(buffer)
  }

  /** After a call: memory may have grown. */
  sync() {
    // What it was before then has no length.
    if (this.u8.length === 0) this.#refresh()
  }

  /** The address, when `bytes` bytes from it on are there. */
  checked(at, bytes) {
    this.sync()
    at >>>= 0
    if (!(bytes >= 0) || at + bytes > this.u8.length || (at === 0 && bytes > 0)) throw outside()
    return at
  }

  /**
   * How many bytes may be read from here on, and how many of text: what a plug-in says to be there again and again takes no
   * memory of its own.
   */
  allow(bytes, text) {
    this.#left = [bytes, bytes]
    this.#textLeft = [text, text]
  }

  count(bytes) {
    this.#left[0] -= bytes
    if (this.#left[0] < 0) throw tooMuch(this.#left[1], '')
  }

  countText(bytes) {
    this.#textLeft[0] -= bytes
    if (this.#textLeft[0] < 0) throw tooMuch(this.#textLeft[1], ' of text')
  }

  words(at, count) {
    if (count > MOST_WORDS || at % 4 !== 0) throw outside()
    this.count(count * 4)
    at = this.checked(at, count * 4)
    return Array.from(this.u32.subarray(at >>> 2, (at >>> 2) + count))
  }

  ints(at, count) {
    if (at % 8 !== 0) throw outside()
    at = this.checked(at, count * 8)
    this.count(count * 8)
    return Array.from(this.i64.subarray(at >>> 3, (at >>> 3) + count))
  }

  text(at, length, counted = false) {
    if (length > MOST_TEXT) throw outside()
    at = this.checked(at, length)
    if (!counted) this.countText(length)
    return decoder.decode(this.u8.subarray(at, at + length))
  }

  /** A text that ends with NUL; '' at 0. */
  name(at) {
    if (at === 0) return ''
    at = this.checked(at, 1)
    const end = this.u8.indexOf(0, at)
    if (end < 0) throw outside()
    return this.text(at, end - at)
  }

  put(at, words) {
    at = this.checked(at, words.length * 4) >>> 2
    for (let i = 0; i < words.length; i++) this.u32[at + i] = words[i]
  }

  putInt(at, value) {
    this.i64[this.checked(at, 8) >>> 3] = value
  }

  putFloat(at, value) {
    this.f32[this.checked(at, 4) >>> 2] = value
  }

  /** An os_str at `at`, whose bytes go where `room` says. */
  putText(at, text, room) {
    const bytes = typeof text === 'string' ? encoder.encode(text) : text
    const to = room(bytes.length)
    this.checked(to, bytes.length)
    this.u8.set(bytes, to)
    this.put(at, [to, bytes.length])
  }
}

// ---- Schemas in the roles of MLOperatorAuthor (core/include/opspec/author.h) -----------------------------------------------

const attributeKinds = { 2: 'float', 3: 'int', 4: 'string', 7: 'floats', 8: 'ints', 9: 'strings' }
const options = ['single', 'optional', 'variadic']

const typeText = (edgeType, element) => {
  const tensor = `tensor(${elementByNumber[element]?.onnx})`
  return edgeType === 2 ? `seq(${tensor})` : tensor
}

function readEdges(memory, at, count, prefix, types) {
  return Array.from({ length: count }, (_, i) => {
    const [option, format, edge, , element] = memory.words(at + 24 * i, 6)
    const label = format === 1 ? memory.name(edge) : `${prefix}${i}`
    if (format !== 1) types[label] = [typeText(edge, element)]
    return { name: `${prefix}${i}`, cardinality: options[option], type_parameter: label }
  })
}

function readDefault(memory, type, count, at) {
  const values = type === 3 || type === 8 ? memory.ints(at, count).map(Number)
    : type === 2 || type === 7 ? memory.words(at, count).map((_, i) => memory.f32[(at >>> 2) + i])
      : memory.words(at, count).map(item => memory.name(item))
  return type >= 7 ? values : values[0]
}

/** A MLOperatorSchemaDescription. */
export function readSchema(memory, at) {
  const [name, since, inputs, inputCount, outputs, outputCount, constraints, constraintCount, attributes, attributeCount, defaults, defaultCount] = memory.words(at, 12)
  if (Math.max(inputCount, outputCount, constraintCount, attributeCount, defaultCount) > MOST_MEMBERS) throw outside()
  const types = {}
  for (let i = 0; i < constraintCount; i++) {
    const [label, allowed, count] = memory.words(constraints + 12 * i, 3)
    if (count > MOST_MEMBERS) throw outside()
    types[memory.name(label)] = Array.from({ length: count }, (_, j) => {
      const [edgeType, , element] = memory.words(allowed + 16 * j, 3)
      return typeText(edgeType, element)
    })
  }
  const values = new Map()
  for (let i = 0; i < defaultCount; i++) {
    const [of, type, count, list] = memory.words(defaults + 16 * i, 4)
    values.set(memory.name(of), readDefault(memory, type, count, list))
  }
  const known = {}
  for (let i = 0; i < attributeCount; i++) {
    const [of, type, required] = memory.words(attributes + 12 * i, 3)
    known[memory.name(of)] = { kind: attributeKinds[type], required: (required & 255) !== 0, default: values.get(memory.name(of)) ?? null, allowed_values: null }
  }
  return {
    name: memory.name(name), since, types, attributes: known,
    inputs: readEdges(memory, inputs, inputCount, 'X', types), outputs: readEdges(memory, outputs, outputCount, 'Y', types)
  }
}

/** The least document that says what a schema does. */
export function documentOf({ domain, name, since }, schema) {
  const described = item => ({ ...item, description: 'Declared by a plug-in.' })
  const sorted = types => [...new Set(types)].sort()
  return JSON.stringify({
    kind: 'runlocal.operator-extension',
    protocol_version: '1.0',
    name: name.toLowerCase(),
    version: String(since),
    authority: 'specification',
    operator: { domain: domain === '' ? 'ai.onnx' : domain, op_type: name, overload: '' },
    inputs: schema.inputs.map(described),
    outputs: schema.outputs.map(described),
    type_parameters: Object.fromEntries(Object.entries(schema.types).map(([label, types]) => [label, described({ allowed_types: sorted(types) })])),
    attributes: Object.fromEntries(Object.entries(schema.attributes).map(([label, attribute]) => [label, described(attribute)])),
    input_conditions: [],
    shape_rules: ['As the plug-in infers them.'],
    boundary_behavior: 'The plug-in\'s.',
    numerical_behavior: 'The plug-in\'s.',
    nondeterminism: 'None that is declared.',
    state_effects: 'None that are declared.',
    reference: null,
    tests: []
  })
}
