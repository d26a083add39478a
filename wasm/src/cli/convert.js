import { Env } from '../env.js'
import { jsonKinds, messages, valueKinds } from '../messages.js'
import { Model } from '../model.js'
import { writeNpy } from '../npy.js'
import { textForm } from '../text-form.js'
import { readEdits, resolveNodes } from './edits.js'
import { openEnv } from './engine.js'
import { isNpyFile } from './npy-file.js'
import { CommandError } from './options.js'
import { Target, writeFile } from './output.js'
import { filesBeside, isLarge, openFile, pathKind, readPath, sha256 } from './paths.js'
import { specAndBody } from './spec-file.js'
import { documentBytes } from './text-file.js'

// opspec convert: a document in another form.

// What can become which form.
const sources = {
  canonical: 'specifications, evidence and other JSON can',
  json: 'JSON and ONNX documents can, and texts of these',
  textproto: 'ONNX documents can, and texts of these',
  onnxtxt: 'models, graphs and functions can, and texts of these',
  protobuf: 'ONNX documents can, and texts of these',
  evidence: 'tensors, sequences, maps, optionals and sparse tensors can',
  npy: 'tensors can',
  'operator-set': 'specifications can, and folders that hold one'
}
export const targets = Object.keys(sources)

// Forms that are written while a large document is read.
const streamed = ['json', 'textproto', 'onnxtxt', 'protobuf']

const ofSyntax = ['ModelProto', 'GraphProto', 'FunctionProto']

// What a document is, for a person, by its kind.
const what = (kind, evidence = '') => ({
  spec: 'a specification', evidence: 'evidence', json: 'JSON that is no specification', bundle: 'a folder', optional: 'an optional', npy: 'a NumPy array',
  'operator-set': 'an operator set', 'sparse-tensor': 'a sparse tensor'
})[kind] ?? (Object.hasOwn(messages, kind) ? `a ${kind}` : null) ?? (evidence || kind)

const kindNamed = as => Object.keys(messages).find(kind => messages[kind] === as) ?? as

function noSource(path, to, kind, evidence) {
  const is = what(kind, evidence)
  return new CommandError(`${path} cannot be converted to ${to}: ${/^(it|its|the) /.test(is) ? is : `it is ${is}`}; ${sources[to]}`)
}

function place({ range, path }) {
  return `${range === undefined ? '' : `:${range.start.line}:${range.start.column}`}${path === undefined ? '' : ` ${path}`}`
}

// What to throw for what a conversion threw, whose findings are printed.
function refusal(error, path, to, output, read = '') {
  if (error.findings === undefined) return error.code === 'unsupported' ? new CommandError(`${path}: ${error.message}`) : error
  if (error.findings.length === 0) return new CommandError(`${path} cannot be converted to ${to}: ${error.message}`)
  for (const finding of error.findings) output.problem(`${path}${place(finding)}: ${finding.message} [${finding.rule}]`)
  return new CommandError(`${path} cannot be converted to ${to}: ${error.code === 'unsupported' ? 'that would lose what is said above; --lossy does it' : `it is malformed${read}`}`)
}

// `read`: what it was taken for, where the document does not say it.
function told(path, to, output, job, read) {
  try {
    return job()
  } catch (error) {
    throw refusal(error, path, to, output, read)
  }
}

// ---- Values -----------------------------------------------------------------------------------------------------------

// A value as an evidence document has it: by its type, which no message in JSON has as a text.
function evidenceKind(bytes) {
  try {
    const { type } = JSON.parse(new TextDecoder().decode(bytes))
    const word = /^(tensor|sparse_tensor|seq|map|optional) *\(/.exec(type)?.[1]
    return { seq: 'sequence', sparse_tensor: 'sparse-tensor' }[word] ?? word
  } catch {
    return undefined
  }
}

function valueContent(env, { type, bytes }, to, path, lossy) {
  const kind = kindNamed(type)
  const files = filesBeside(path)
  if (to === 'evidence') return `${env.format(bytes, kind, 'evidence', { lossy, files })}\n`
  const tensor = env.readValue(bytes, kind, { files })
  try {
    return writeNpy(tensor, { widen: lossy })
  } catch (error) {
    throw new CommandError(`${path} cannot be converted to npy: ${error.message}`)
  }
}

// ---- Messages ---------------------------------------------------------------------------------------------------------

// The message of a file, which may be a text, as bytes.
function messageOf(env, bytes, path, sniffed, { as, to }, output) {
  if (isNpyFile(path, bytes)) return { type: 'TensorProto', bytes: documentBytes(env, path, bytes, as, output) }
  const value = jsonKinds.includes(sniffed.kind) ? evidenceKind(bytes) : undefined
  if (value !== undefined && (as === undefined || (messages[as] ?? as) === messages[value])) {
    return { type: messages[value], bytes: told(path, to, output, () => env.parse(bytes, value, 'evidence')) }
  }
  const text = sniffed.kind === 'text' || jsonKinds.includes(sniffed.kind)
  const type = messages[as] ?? as ?? (text ? 'ModelProto' : messages[sniffed.kind])
  const own = as === undefined && ['spec', 'evidence'].includes(sniffed.kind)
  if (own || !Object.values(messages).includes(type)) throw noSource(path, to, sniffed.kind, sniffed.evidence)
  if (!text) return { type, bytes }
  const { form } = textForm(path, new TextDecoder().decode(bytes.subarray(0, 4096)))
  const looks = sniffed.kind === 'text' ? `; ${sniffed.evidence.replace(/; convert it .*/, '')}` : ''
  const read = as === undefined ? `, read as a ModelProto in the form ${form}, --as names another message${looks}` : ''
  return { type, bytes: told(path, to, output, () => env.parse(bytes, type, form), read) }
}

// The bytes of an edited model.
function edited(env, { type, bytes }, path, edits) {
  if (type !== 'ModelProto') throw new CommandError(`${path} cannot be edited: it is ${what(kindNamed(type))}; models can`)
  const model = env.loadModel(bytes, { files: filesBeside(path) })
  try {
    edit(model, path, edits)
    return model.toBytes()
  } finally {
    model.dispose()
  }
}

function edit(model, path, given) {
  const edits = resolveNodes(given, model)
  try {
    model.edit(edits)
  } catch (error) {
    throw new CommandError(`${path}${error.path === undefined ? '' : ` ${error.path}`}: ${error.message.replace(/^edits\[(\d+)\]: /, (_, i) => `${JSON.stringify(edits[i])}: `)}`)
  }
}

// A document that is not read as a whole: it is written while it is read. The file may be the one that it is read from.
async function convertLarge(path, target, edits, options, output) {
  const { to, lossy = false, as = edits.length > 0 ? 'model' : '' } = options
  const env = await openEnv(options)
  const file = openFile(path)
  try {
    const document = await Env.openDocument(env, file, null, as)
    checkSource(path, to, document.documentKind)
    if (edits.length > 0) edit(document, path, edits)
    if (to === 'protobuf') for (const chunk of Model.chunks(document)) target.write(chunk)
    else {
      Model.send(document, to, lossy, bytes => target.write(bytes))
      target.write(Buffer.from('\n'))
    }
  } catch (error) {
    if (error.code === 'limit') throw new CommandError(`${path} has ${file.size} bytes, too many to be converted to ${to}: ${error.message}`)
    throw refusal(error, path, to, output)
  } finally {
    file.close()
    env.dispose()
  }
}

// Texts that are no JSON, and JSON that means to be a specification, say themselves what is wrong.
function checkSpec(env, path, bytes, to) {
  const { kind, evidence } = isNpyFile(path, bytes) ? { kind: 'npy' } : Env.sniff(env, bytes)
  if (kind === 'spec' || (kind === 'json' && !isOtherJson(bytes))) return
  throw noSource(path, to, kind, evidence)
}

function isOtherJson(bytes) {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes))
    return value === null || typeof value !== 'object' || !Object.hasOwn(value, 'operator')
  } catch {
    return false
  }
}

// An operator set of specifications, or bundles, each with the function that it has.
function setOf(env, paths, { 'opset-version': version, to }, output) {
  const found = paths.map(path => ({ path, ...specAndBody(path) }))
  for (const { path, text } of found) checkSpec(env, path, text, to)
  const functions = Object.fromEntries(found.filter(({ body }) => body !== null).map(({ text, body }) => [JSON.parse(new TextDecoder().decode(text)).operator.op_type, body]))
  return told(paths.join(', '), to, output, () => env.writeOperatorSet({ specs: found.map(({ text }) => text), functions, version }))
}

// Throws when a message of this kind cannot become that form.
function checkSource(path, to, kind) {
  const can = to === 'canonical' ? false : to === 'npy' ? kind === 'tensor' : to === 'evidence' ? valueKinds.includes(kind) : to === 'onnxtxt' ? ofSyntax.includes(messages[kind]) : true
  if (!can) throw noSource(path, to, kind)
}

// The content to be written: a text, or bytes.
function converted(env, bytes, path, edits, options, output) {
  const sniffed = Env.sniff(env, bytes)
  const { as, to, lossy = false } = options
  const kind = as ?? sniffed.kind
  if (edits.length === 0 && jsonKinds.includes(kind) && (to === 'canonical' || to === 'json')) {
    const text = told(path, to, output, () => env.format(bytes, kind, to))
    // A digest is of these bytes: the canonical form ends without a line end.
    return to === 'canonical' ? text : `${text}\n`
  }
  if (to === 'canonical') throw noSource(path, to, isNpyFile(path, bytes) ? 'npy' : kindNamed(kind), sniffed.evidence)
  const message = messageOf(env, bytes, path, sniffed, options, output)
  checkSource(path, to, kindNamed(message.type))
  if (edits.length > 0) message.bytes = edited(env, message, path, edits)
  if (to === 'protobuf') return message.bytes
  if (to === 'evidence' || to === 'npy') return told(path, to, output, () => valueContent(env, message, to, path, lossy))
  return told(path, to, output, () => `${env.format(message.bytes, message.type, to, { lossy })}\n`)
}

function sayWritten(output, path, to, bytes, digest) {
  output.json({ path, to, bytes, sha256: digest })
  output.summary(paint => paint('good', `${path}: ${to}, ${bytes} bytes, sha256 ${digest}`))
}

export async function convert({ options, positionals, output }) {
  if (options.to === 'operator-set' ? positionals.length === 0 : positionals.length !== 1) throw new CommandError('convert: which file?')
  const [path] = positionals
  const edits = readEdits(options)
  if (edits.length > 0) options.to ??= 'protobuf'
  if (edits.length > 0 && options.to === 'operator-set') throw new CommandError('convert: edits are of a model')
  if (options.to === undefined) throw new CommandError(`convert: --to says the form: ${targets.join(', ')}`)
  const { to, output: target = '-' } = options
  if (target === '-' && output.wantsJson) throw new CommandError('convert: --format json needs -o, as standard output takes the document')
  if (to !== 'operator-set' && options['opset-version'] !== undefined) throw new CommandError('convert: --opset-version is for --to operator-set')
  if (streamed.includes(to) && isLarge(path)) {
    const writing = new Target(target)
    try {
      await convertLarge(path, writing, edits, options, output)
      const digest = writing.end()
      if (target !== '-') sayWritten(output, target, to, writing.bytes, digest)
      return 0
    } finally {
      writing.drop()
    }
  }
  if (to !== 'operator-set' && pathKind(path) === 'folder') throw noSource(path, to, 'bundle')
  const bytes = to === 'operator-set' ? null : readPath(path)
  const env = await openEnv(options)
  try {
    const content = bytes === null ? setOf(env, positionals, options, output) : converted(env, bytes, path, edits, options, output)
    if (target === '-') process.stdout.write(content)
    else {
      writeFile(target, content)
      sayWritten(output, target, to, Buffer.byteLength(content), sha256(content))
    }
    return 0
  } finally {
    env.dispose()
  }
}
