import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Env } from '../env.js'
import { numberToNarrow } from '../elements.js'
import { normalFiles } from '../files.js'
import { kindOfType, parseType, Tensor } from '../values.js'
import { openEnv } from './engine.js'
import { outputForm } from '../evidence-form.js'
import { isNpyFile, readNpyFile } from './npy-file.js'
import { CommandError } from './options.js'
import { filesBeside, openFile, readPath } from './paths.js'
import { describeValue } from './show.js'

// opspec run: a model with inputs from files, JSON or a seeded generator.

// ---- Random inputs ------------------------------------------------------------------------------------------------

// Uniform numbers in [0, 1): the same for a seed everywhere.
function generator(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function resolveDims(dims, symbols, name) {
  return dims.map(dim => {
    const size = typeof dim === 'string' && !/^\d+$/.test(dim) ? symbols.get(dim) : Number(dim ?? NaN)
    if (Number.isInteger(size) && size >= 0) return size
    throw new CommandError(`--input ${name}: the size of '${dim ?? '?'}' is not known; give --dim ${dim ?? 'N'}=SIZE or a shape as in random:1,3`)
  })
}

function randomTensor(info, shape, symbols, next) {
  const type = parseType(info.type)
  if (type.kind !== 'tensor') throw new CommandError(`--input ${info.name}: a random value must be a tensor, the model wants ${info.type}`)
  const dims = resolveDims(shape === '' ? info.shape ?? [] : shape.split(/[,x]/).map(part => part.trim()).filter(Boolean), symbols, info.name)
  const element = type.element
  const count = dims.reduce((product, dim) => product * dim, 1) * element.parts
  if (element.array === null) return new Tensor('string', Array.from({ length: count }, () => Math.floor(next() * 2 ** 32).toString(36)), dims)
  const data = new element.array(count)
  for (let i = 0; i < count; i++) data[i] = randomElement(element, next)
  return new Tensor(element.name, data, dims)
}

function randomElement(element, next) {
  if (element.wide) return BigInt(Math.floor(next() * 16))
  if (element.layout !== null) return numberToNarrow(element.layout, element.bits, 2 * next() - 1)
  if (element.name === 'bool') return next() < 0.5 ? 0 : 1
  return element.name.includes('int') ? Math.floor(next() * Math.min(16, 2 ** (element.bits - 1))) : 2 * next() - 1
}

// ---- Other inputs -------------------------------------------------------------------------------------------------

function fromFile(env, path, info) {
  const bytes = readPath(path)
  if (isNpyFile(path, bytes)) return readNpyFile(path, bytes)
  return env.readValue(bytes, kindOfType(info.type), { files: filesBeside(path) })
}

// A nested list, or a single element, with the type of the model's input.
function fromList(value, info) {
  const type = parseType(info.type)
  if (type.kind !== 'tensor') throw new CommandError(`--input ${info.name}: the model wants ${info.type}; give it in the form that evidence has`)
  const dims = []
  for (let level = value; Array.isArray(level); level = level[0]) dims.push(level.length)
  const flat = Array.isArray(value) ? value.flat(Infinity) : [value]
  const words = { NaN, Infinity, '-Infinity': -Infinity }
  const convert = item => {
    if (type.element.array === null || typeof item !== 'string') return item
    if (type.element.wide && /^-?\d+$/.test(item)) return BigInt(item)
    return Object.hasOwn(words, item) ? words[item] : item
  }
  return new Tensor(type.element.name, flat.map(convert), dims)
}

function fromJson(env, text, info) {
  let value
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`--input ${info.name}: '${text.slice(0, 40)}' is neither @file, random nor JSON: ${error.message}`)
  }
  if (value === null) return null
  return typeof value === 'object' && !Array.isArray(value) ? Env.parseValue(env, text) : fromList(value, info)
}

function inputValue(env, info, text, symbols, next) {
  if (text.startsWith('@')) return fromFile(env, text.slice(1), info)
  const random = /^random(?::(.*))?$/.exec(text)
  return random === null ? fromJson(env, text, info) : randomTensor(info, random[1] ?? '', symbols, next)
}

function feedsOf(env, model, options) {
  const symbols = new Map((options.dim ?? []).map(([name, size]) => {
    if (!/^\d+$/.test(size)) throw new CommandError(`--dim ${name}=${size}: must be a size`)
    return [name, Number(size)]
  }))
  const next = generator(options.seed ?? 0)
  const feeds = {}
  if (options.data !== undefined) {
    model.inputs.forEach((info, i) => {
      const path = join(options.data, `input_${i}.pb`)
      if (existsSync(path)) feeds[info.name] = fromFile(env, path, info)
    })
    if (Object.keys(feeds).length === 0 && model.inputs.length > 0) throw new CommandError(`--data ${options.data}: there is no input_0.pb`)
  }
  for (const [name, text] of options.input ?? []) {
    const info = model.inputs.find(input => input.name === name)
    if (info === undefined) throw new CommandError(`--input ${name}: the model has no such input; it has ${model.inputs.map(input => input.name).join(', ') || 'none'}`)
    feeds[name] = inputValue(env, info, text, symbols, next)
  }
  return feeds
}

// ---- Results ------------------------------------------------------------------------------------------------------

function writeOutputs(env, folder, outputs, types) {
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(outputs)) {
    const file = join(folder, `${name.replace(/[^\w.-]/g, '_')}.pb`)
    writeFileSync(file, env.writeValue(value, name, types.get(name)))
  }
}

// Weights stay in their files until the session takes them in.
async function modelOf(env, path) {
  const files = filesBeside(path)
  return path === '-' ? env.loadModel(readPath(path), { files }) : Env.openDocument(env, openFile(path), normalFiles(files), 'model')
}

export async function run({ options, positionals, output }) {
  if (positionals.length !== 1) throw new CommandError('run: which model?')
  const [path] = positionals
  const env = await openEnv(options, { seed: options.seed ?? 0 })
  try {
    const model = await modelOf(env, path)
    const feeds = feedsOf(env, model, options)
    const session = await env.createSession(model)
    const start = performance.now()
    const outputs = await session.run(feeds, { ...options.output !== undefined && { outputs: options.output }, ...options.timeout !== undefined && { timeoutMs: options.timeout } })
    const ms = performance.now() - start
    if (options['output-dir'] !== undefined) writeOutputs(env, options['output-dir'], outputs, new Map(model.outputs.map(({ name, type }) => [name, type === '' ? undefined : type])))
    if (output.wantsJson) output.json({ outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, outputForm(value)])), ms: Math.round(ms * 1000) / 1000 })
    for (const [name, value] of Object.entries(outputs)) output.line(paint => `${paint('bold', name)}: ${describeValue(value)}`)
    output.summary(paint => paint('dim', `${ms.toFixed(1)} ms`))
    return 0
  } finally {
    env.dispose()
  }
}

