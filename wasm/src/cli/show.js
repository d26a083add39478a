import { Env } from '../env.js'
import { elementNamed } from '../elements.js'
import { plainData, plainInteger } from '../evidence-form.js'
import { messages, valueKinds } from '../messages.js'
import { isTensor, typeOfValue } from '../values.js'
import { openEnv } from './engine.js'
import { CommandError } from './options.js'
import { plural } from './output.js'
import { filesBeside, isLarge, openPath, readPath, sha256 } from './paths.js'
import { documentBytes } from './text-file.js'

// opspec show: what a file says, shortly as text and in full as JSON.

const MOST = 12 // elements of a value that are shown

function plain(value) {
  if (typeof value === 'bigint') return plainInteger(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return value.map(plain)
  return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)])) : value
}

const describeElement = item => item !== null && typeof item === 'object' ? describeValue(item) : JSON.stringify(plain(item))

export function describeValue(value) {
  if (value === null) return 'empty'
  if (isTensor(value)) {
    const { length } = value.data
    const most = MOST * elementNamed(value.type).parts
    const head = plainData({ type: value.type, data: value.data.slice(0, most) })
    return `${typeOfValue(value)} [${value.dims.join(', ')}]: ${head.map(item => JSON.stringify(item)).join(', ')}${length > most ? `, ... (${length})` : ''}`
  }
  if (Array.isArray(value)) return `sequence of ${value.length}${value.slice(0, 4).map(item => `\n    ${describeValue(item)}`).join('')}`
  if (value instanceof Map) return `map of ${value.size}${[...value].slice(0, 4).map(entry => `\n    ${entry.map(describeElement).join(': ')}`).join('')}`
  return `${typeOfValue(value)} [${value.dims.join(', ')}], ${value.values.dims[0]} elements set`
}

const shapeText = shape => shape === null ? '' : ` [${shape.map(dim => dim ?? '?').join(', ')}]`

function* modelLines(model, decoded) {
  const opsets = (decoded.opsetImport ?? []).map(({ domain, version }) => `${domain || 'ai.onnx'} ${version}`)
  yield `IR ${decoded.irVersion ?? '?'}, ${opsets.join(', ') || 'no operator sets'}${decoded.producerName ? `, made by ${decoded.producerName}${decoded.producerVersion ? ` ${decoded.producerVersion}` : ''}` : ''}`
  for (const { name, type, shape } of model.inputs) yield `  in  ${name}: ${type}${shapeText(shape)}`
  for (const { name, type, shape } of model.outputs) yield `  out ${name}: ${type}${shapeText(shape)}`
  const counts = new Map()
  for (const { opType } of decoded.graph?.node ?? []) counts.set(opType, (counts.get(opType) ?? 0) + 1)
  const names = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => count > 1 ? `${name} x ${count}` : name)
  yield `${decoded.graph?.node?.length ?? 0} nodes: ${names.join(', ')}; ${decoded.graph?.initializer?.length ?? 0} initializers`
}

const firstLine = text => text.split('\n').find(line => line.trim() !== '') ?? ''

function* operatorSetLines({ domain = '', opsetVersion = 0n, irVersion = 0n, docString = '', operator = [], functions = [] }) {
  yield `${domain || 'no domain'} ${opsetVersion}, IR ${irVersion}: ${plural(operator.length, 'operator')}, ${plural(functions.length, 'function')}`
  if (docString !== '') yield `  ${firstLine(docString)}`
  for (const { opType = '', sinceVersion = 0n, status = 0, docString: text = '' } of operator) {
    yield `  ${opType || 'no name'} since ${sinceVersion}, ${['experimental', 'stable'][status] ?? `status ${status}`}${text === '' ? '' : `: ${firstLine(text)}`}`
  }
  for (const { name = '', overload = '', input = [], output = [], attribute = [], attributeProto = [], node = [], opsetImport = [] } of functions) {
    const attributes = [...attribute, ...attributeProto.map(({ name: own = '' }) => own)]
    const imports = opsetImport.map(({ domain: of, version = 0n }) => `${of || 'ai.onnx'} ${version}`)
    yield `  function ${name}${overload ? `:${overload}` : ''}(${input.join(', ')}) -> (${output.join(', ')})${attributes.length > 0 ? `, attributes ${attributes.join(', ')}` : ''}; ${plural(node.length, 'node')} of ${imports.join(', ') || 'no operator set'}`
  }
}

// Data may lie in files beside it.
function valueLine(env, bytes, kind, path) {
  try {
    return describeValue(env.readValue(bytes, kind, { files: filesBeside(path) }))
  } catch (error) {
    throw failure(error, path)
  }
}

function* documentLines(env, bytes, kind, decoded, path) {
  if (kind === 'model') {
    const model = env.loadModel(bytes)
    yield* modelLines(model, decoded)
    model.dispose()
  } else if (valueKinds.includes(kind)) yield `${decoded.name ? `${decoded.name}: ` : ''}${valueLine(env, bytes, kind, path)}`
  else if (kind === 'operator-set') yield* operatorSetLines(decoded)
  else yield JSON.stringify(plain(decoded), null, 2)
}

function showJson(bytes, path) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new CommandError(`${path}: is no JSON: ${error.message}`)
  }
}

// { text, sha256 } of the canonical form, or { problem }.
function canonicalOf(env, bytes, kind) {
  try {
    const text = env.format(bytes, kind, 'canonical')
    return { bytes: Buffer.byteLength(text), sha256: sha256(text) }
  } catch (error) {
    if (error.code !== 'malformed') throw error
    return { problem: error.message }
  }
}

function* jsonLines(env, bytes, kind, value) {
  if (kind !== 'spec') yield JSON.stringify(value, null, 2)
  else {
    const { problem } = canonicalOf(env, bytes, kind)
    yield problem === undefined ? env.format(bytes, kind, 'summary') : `no canonical form: ${problem}`
  }
}

// A document that is not read as a whole. Bytes that stay outside are shown by their place in the file.
async function showLarge(path, options, output) {
  const env = await openEnv(options)
  const { file, hash } = openPath(path)
  try {
    const document = await Env.openDocument(env, file, null, options.as ?? '')
    const { documentKind: kind } = document
    const decoded = document.structure()
    output.json({ path, kind, sha256: hash, bytes: file.size, value: plain(decoded) })
    output.line(paint => `${paint('bold', path)}: ${kind}, ${file.size} bytes, sha256 ${hash}`)
    if (output.wantsText) for (const line of kind === 'model' ? modelLines(document, decoded) : [JSON.stringify(plain(decoded), null, 2)]) output.line(line)
    document.dispose()
    return 0
  } catch (error) {
    throw failure(error, path)
  } finally {
    file.close()
    env.dispose()
  }
}

// What reading a document throws, with the file's name.
const failure = (error, path) => ['malformed', 'unsupported'].includes(error.code) ? new CommandError(`${path}${error.path ? ` ${error.path}` : ''}: ${error.message}`) : error

function decoded(env, bytes, path, type) {
  try {
    return env.decode(bytes, type)
  } catch (error) {
    throw failure(error, path)
  }
}

export async function show({ options, positionals, output }) {
  if (positionals.length !== 1) throw new CommandError('show: which file?')
  const [path] = positionals
  if (isLarge(path)) return showLarge(path, options, output)
  const file = readPath(path)
  const env = await openEnv(options)
  try {
    const bytes = documentBytes(env, path, file, options.as, output)
    const sniffed = Env.sniff(env, bytes)
    const kind = options.as === undefined ? sniffed.kind : Object.keys(messages).find(name => messages[name] === options.as) ?? options.as
    const isJson = ['spec', 'evidence', 'json'].includes(kind)
    if (!isJson && messages[kind] === undefined) throw new CommandError(`${path} cannot be shown: ${sniffed.evidence || `it is ${kind}`}`)
    const others = options.as === undefined && sniffed.candidates ? sniffed.candidates.split(', ') : []
    const value = isJson ? showJson(bytes, path) : decoded(env, bytes, path, messages[kind])
    output.json({ path, kind, sha256: sha256(file), bytes: file.length, ...others.length > 0 && { candidates: others }, ...kind === 'spec' && { canonical: canonicalOf(env, bytes, kind) }, value: isJson ? value : plain(value) })
    output.line(paint => `${paint('bold', path)}: ${kind}, ${file.length} bytes, sha256 ${sha256(file)}`)
    if (others.length > 0) output.line(`the same bytes may also be ${others.join(', ')}: --as ${others[0]}`)
    if (output.wantsText) for (const line of isJson ? jsonLines(env, bytes, kind, value) : documentLines(env, bytes, kind, value, path)) output.line(line)
    return 0
  } finally {
    env.dispose()
  }
}
