// What a model is run on: random numbers, what a file holds, what a person types.
import { isNpy, readNpy } from '../wasm/src/npy.js'
import { kindOfType } from '../wasm/src/values.js'
import { messageOf } from './documents/messages.js'
import { jsNames } from './values.js'

const arrays = {
  float: Float32Array, double: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array, float16: Uint16Array, bfloat16: Uint16Array
}

// Small numbers from a generator with a seed, the same for everybody.
function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function randomInput({ type, shape }, sizes, random) {
  const element = /^tensor\((\w+)\)$/.exec(type)?.[1]
  if (!element || !shape) throw new Error(`A value of type ${type} has no random one here.`)
  const dims = shape.map((dim, index) => typeof dim === 'number' || typeof dim === 'bigint' ? Number(dim) : sizes[dim ?? `#${index}`] ?? 1)
  const size = dims.reduce((product, dim) => product * dim, 1)
  if (size > 1 << 26) throw new Error(`The input would have ${size.toLocaleString('en')} elements.`)
  if (element === 'string') return { type: 'string', dims, data: Array.from({ length: size }, (_, index) => `text ${index}`) }
  const Data = arrays[element]
  if (!Data) throw new Error(`Elements of type ${element} have no random ones here.`)
  const data = new Data(size)
  for (let index = 0; index < size; index++) {
    const value = random()
    if (element === 'float' || element === 'double') data[index] = value * 2 - 1
    else if (element === 'bool') data[index] = value < 0.5 ? 0 : 1
    else if (element === 'float16') data[index] = 0x3800 + Math.floor(value * 1024)
    else if (element === 'bfloat16') data[index] = 0x3f00 + Math.floor(value * 128)
    else data[index] = data instanceof BigInt64Array || data instanceof BigUint64Array ? BigInt(Math.floor(value * 2)) : Math.floor(value * 2)
  }
  return { type: jsNames[element] ?? element, dims, data }
}

/** A value for each input, the same at each run: { name: value }. */
export function randomInputs(inputs, sizes) {
  const random = generator(1)
  return Object.fromEntries(inputs.map(input => [input.name, randomInput(input, sizes, random)]))
}

const isWhole = text => /^\s*\{/.test(text) // a value with its type

/** A .npy file, a protobuf message of the input's kind, or a text as valueOfText takes it. */
export async function valueOfFile(engine, input, file) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (isNpy(bytes)) return readNpy(bytes)
  const { kind } = await engine.call('identify', bytes)
  if (kind === 'json' || kind === 'text') return valueOfText(engine, input, new TextDecoder().decode(bytes))
  return engine.call('readValue', bytes, kindOfType(input.type))
}

/** As evidence documents write values, with or without type and shape: {"type": …, "shape": [2], "data": [1, 2]}, [[1, 2], [3, 4]], 5. */
export async function valueOfText(engine, { type }, text) {
  const whole = isWhole(text) ? text : ofLists(type, text)
  const kind = kindOfType(type)
  return engine.call('readValue', await engine.call('parse', whole, messageOf[kind], 'evidence'), kind)
}

/** Why such a text will not do; null = nothing is seen. */
export function wrongText({ type }, text) {
  try {
    if (!isWhole(text)) ofLists(type, text)
    return null
  } catch (error) {
    return error.message
  }
}

// Lists in lists of one length each, as a tensor. Numbers stay as they are written: not all fit a number of JavaScript.
function ofLists(type, text) {
  if (!type.startsWith('tensor(')) throw new Error(`A value of type ${type} is written as evidence documents write it: {"type": "${type}", …}.`)
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)|[^\s,[\]"]+/g, word => /^"|^(true|false)$/.test(word) ? word : JSON.stringify(word))
  let lists
  try {
    lists = JSON.parse(quoted)
  } catch {
    throw new Error('Numbers, or lists of them: [[1, 2], [3, 4]].')
  }
  const shape = []
  let level = [lists]
  while (level.some(Array.isArray)) {
    if (!level.every(Array.isArray)) throw new Error('Numbers and lists do not stand side by side.')
    const { length } = level[0]
    if (level.some(item => item.length !== length)) throw new Error('The lists side by side are not equally long.')
    shape.push(length)
    level = level.flat()
  }
  const plain = word => typeof word === 'string' && type !== 'tensor(string)' && !/^-?(NaN|Infinity)$/.test(word) ? word : JSON.stringify(word)
  return `{"type": ${JSON.stringify(type)}, "shape": ${JSON.stringify(shape)}, "data": [${level.map(plain).join(', ')}]}`
}
