import { extname } from 'node:path'
import { Env } from '../env.js'
import { jsonKinds, messages, valueKinds } from '../messages.js'
import { Model } from '../model.js'
import { readEdits, resolveNodes } from './edits.js'
import { openEnv } from './engine.js'
import { readNpy, writeNpy } from './npy.js'
import { CommandError } from './options.js'
import { Target, writeFile } from './output.js'
import { filesBeside, isLarge, openFile, readPath, sha256 } from './paths.js'
import { specAndBody } from './spec-file.js'

// opspec convert: a document in another form.

export const targets = ['canonical', 'json', 'textproto', 'onnxtxt', 'protobuf', 'evidence', 'npy', 'operator-set']

function place({ range, path }) {
  return `${range === undefined ? '' : `:${range.start.line}:${range.start.column}`}${path === undefined ? '' : ` ${path}`}`
}

// What to throw for what a conversion threw, whose findings are printed.
function refusal(error, path, to, output) {
  if (error.findings === undefined) return error.code === 'unsupported' ? new CommandError(`${path}: ${error.message}`) : error
  for (const finding of error.findings) output.problem(`${path}${place(finding)}: ${finding.message} [${finding.rule}]`)
  return new CommandError(`${path} cannot be converted to ${to}: ${error.code === 'unsupported' ? 'that would lose what is said above; --lossy does it' : 'it is malformed'}`)
}

function told(path, to, output, job) {
  try {
    return job()
  } catch (error) {
    throw refusal(error, path, to, output)
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
  const kind = valueKinds.find(name => messages[name] === type)
  if (kind === undefined) throw new CommandError(`${path} cannot be converted to ${to}: it is no value but a ${type}`)
  if (to === 'evidence') return `${env.format(bytes, kind, 'evidence', { lossy })}\n`
  if (kind !== 'tensor') throw new CommandError(`${path} cannot be converted to npy: it is a ${kind}, and such a file holds a tensor`)
  return writeNpy(env.readValue(bytes, kind))
}

// ---- Messages ---------------------------------------------------------------------------------------------------------

// Which form a text is: by the file's name, else by how it begins.
function textForm(path, bytes) {
  const named = { '.json': 'json', '.onnxtxt': 'onnxtxt', '.textproto': 'textproto', '.pbtxt': 'textproto', '.prototxt': 'textproto' }[extname(path)]
  const text = new TextDecoder().decode(bytes.subarray(0, 4096)).replace(/^\ufeff/, '').replace(/^(\s|#.*\n)+/, '')
  return named ?? (text[0] === '{' ? 'json' : /^(<|\w+ *[(<]|"[^"]*" *\()/.test(text) ? 'onnxtxt' : 'textproto')
}

// The message of a file, which may be a text, as bytes.
function messageOf(env, bytes, path, sniffed, { as, to }, output) {
  if (path.endsWith('.npy')) return { type: 'TensorProto', bytes: env.writeValue(readNpy(bytes, path), '') }
  const value = jsonKinds.includes(sniffed.kind) ? evidenceKind(bytes) : undefined
  if (value !== undefined && (as === undefined || (messages[as] ?? as) === messages[value])) {
    return { type: messages[value], bytes: told(path, to, output, () => env.parse(bytes, value, 'evidence')) }
  }
  const text = sniffed.kind === 'text' || jsonKinds.includes(sniffed.kind)
  const type = messages[as] ?? as ?? (text ? 'ModelProto' : messages[sniffed.kind])
  if (!Object.values(messages).includes(type)) throw new CommandError(`${path} cannot be converted to ${to}: ${sniffed.evidence || `it is ${sniffed.kind}`}`)
  return { type, bytes: text ? told(path, to, output, () => env.parse(bytes, type, textForm(path, bytes))) : bytes }
}

// The bytes of an edited model.
function edited(env, { type, bytes }, path, edits) {
  if (type !== 'ModelProto') throw new CommandError(`${path} cannot be edited: it is no model`)
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
    if (to === 'canonical') throw new CommandError(`${path} cannot be converted to ${to}: it is ${document.documentKind}`)
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

// An operator set of specifications, or bundles, each with the function that it has.
function setOf(env, paths, { 'opset-version': version, to }, output) {
  const found = paths.map(path => ({ path, ...specAndBody(path) }))
  const functions = Object.fromEntries(found.filter(({ body }) => body !== null).map(({ text, body }) => [JSON.parse(new TextDecoder().decode(text)).operator.op_type, body]))
  return told(paths.join(', '), to, output, () => env.writeOperatorSet({ specs: found.map(({ text }) => text), functions, version }))
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
  if (to === 'canonical') throw new CommandError(`${path} cannot be converted to ${to}: ${sniffed.evidence || `it is ${kind}`}`)
  const message = messageOf(env, bytes, path, sniffed, options, output)
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
  if (to !== 'operator-set' && isLarge(path)) {
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
