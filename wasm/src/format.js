import { flag, optionsOf, stringArgument, textOrBytes } from './arguments.js'
import { OK, invalid, OpspecError } from './errors.js'
import { encoded } from './encode.js'
import { evidenceForm } from './evidence-form.js'
import { findingOf } from './findings.js'
import { jsonKinds, messages, valueKinds } from './messages.js'
import { objectsOf } from './objects.js'
import { withValue } from './read-value.js'
import { sha256 } from './sha256.js'

// Documents as texts and back.

const forms = ['json', 'canonical', 'textproto', 'onnxtxt', 'summary', 'evidence']
const MOST_LOST = 100 // findings about what a form cannot hold

// What a spec is in a few lines; of another JSON document the digest alone.
function summary(value, canonical) {
  const digest = `canonical sha256 ${sha256(canonical)}`
  if (value?.kind !== 'runlocal.operator-extension') return digest
  const names = list => Array.isArray(list) ? list.map(item => item?.name).join(', ') : ''
  return [
    `${value.operator?.domain}.${value.operator?.op_type}: ${value.name} ${value.version}`,
    `(${names(value.inputs)}) -> (${names(value.outputs)})`,
    `${Object.keys(value.attributes ?? {}).length} attributes, ${value.tests?.length ?? 0} tests`,
    digest
  ].join('\n')
}

function formNumber(as, form) {
  stringArgument(as, 'as')
  if (!forms.includes(form)) throw invalid(`form: must be one of ${forms.join(', ')}`)
  if (jsonKinds.includes(as)) {
    if (['textproto', 'onnxtxt', 'evidence'].includes(form)) throw new OpspecError('unsupported', `form: a JSON document has no form ${form}`)
  } else if (form === 'canonical' || form === 'summary') {
    throw new OpspecError('unsupported', `form: only ${jsonKinds.join(', ')} have the form ${form}, not ${as}`)
  }
  return form === 'summary' ? 1 : forms.indexOf(form)
}

// ---- Values in the form of evidence documents -----------------------------------------------------------------------

function valueKind(as) {
  const kind = valueKinds.find(name => name === as || messages[name] === as)
  if (kind === undefined) throw new OpspecError('unsupported', `form: evidence is the form of values (${valueKinds.join(', ')}), not of ${as}`)
  return kind
}

const strict = new TextDecoder('utf-8', { fatal: true })

function isText(bytes) {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

// Paths of the elements in a value's message, as decode gives it, that are no UTF-8.
function* brokenTexts(message, path = '') {
  for (const [key, field] of Object.entries(message)) {
    const at = path + key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
    if (key === 'stringData' || key === 'stringKeys') {
      for (const [i, bytes] of field.entries()) if (!isText(bytes)) yield `${at}[${i}]`
    } else if (Array.isArray(field)) {
      for (const [i, item] of field.entries()) if (item !== null && typeof item === 'object') yield* brokenTexts(item, `${at}[${i}].`)
    } else if (field !== null && typeof field === 'object' && !ArrayBuffer.isView(field)) yield* brokenTexts(field, `${at}.`)
  }
}

// JSON has no other strings than texts, and reading a value puts U+FFFD where it has none.
function refuseBroken(engine, address, size, kind) {
  const findings = []
  try {
    engine.check(engine.exports.opspec_do_decode(engine.port, address, size, engine.putText(kind)))
    for (const path of brokenTexts(objectsOf(engine))) {
      findings.push({ ...findingOf('form.lost', 'the text is not UTF-8; what is not becomes U+FFFD', path), severity: 'warning' })
      if (findings.length === MOST_LOST) break
    }
  } finally {
    if (!engine.dead) engine.exports.opspec_end_decode(engine.port)
  }
  if (findings.length > 0) throw new OpspecError('unsupported', `form: evidence cannot hold ${findings[0].path}: ${findings[0].message}`, { path: findings[0].path, findings })
}

function evidenceText(engine, source, kind, { lossy, files }) {
  return withValue(engine, source, kind, files, (value, address, size) => {
    const { type } = engine.describe(value)
    const text = JSON.stringify(evidenceForm(engine.toValue(value), type === '' ? undefined : type))
    if (!lossy && text.includes('\ufffd')) refuseBroken(engine, address, size, kind)
    return text
  })
}

function readEvidence(engine, text, kind) {
  const bytes = engine.guard(() => engine.withBlock(text, (address, size) => {
    const value = engine.exports.opspec_parse(engine.port, address, size)
    engine.check(engine.resultStatus)
    if (value === 0) return null
    try {
      const is = valueKinds[engine.describe(value).kind - 1]
      if (is !== kind) throw new OpspecError('malformed', `text: is a ${is}, not a ${kind}`)
      engine.check(engine.exports.opspec_write(engine.port, value, engine.putText('')))
      return engine.resultBytes()
    } finally {
      engine.release(value)
    }
  }))
  if (bytes !== null) return bytes
  if (kind === 'optional') return encodeObject(engine, { elemType: 0 }, 'OptionalProto') // an empty one that does not say of what
  throw new OpspecError('malformed', 'text: null is no value; an empty optional is { "type": "optional(...)", "value": null }')
}

// ---- Texts ----------------------------------------------------------------------------------------------------------

/** Env.format. */
export function format(engine, document, as, form, given) {
  const source = textOrBytes(document, 'bytes')
  const number = formNumber(as, form)
  const options = optionsOf(given)
  const lossy = flag(options, 'lossy', false)
  if (form === 'evidence') return evidenceText(engine, source, valueKind(as), { lossy, files: options.files })
  const text = engine.guard(() => engine.withBlock(source, (address, size) => {
    const status = engine.exports.opspec_do_format(engine.port, address, size, engine.putText(as), number, lossy ? 1 : 0)
    if (status !== OK) throw engine.trouble(status)
    return engine.resultText()
  }))
  return form === 'summary' ? summary(JSON.parse(text), text) : text
}

/** Env.parse. */
export function parse(engine, text, as, form) {
  const number = formNumber(as, form)
  if (jsonKinds.includes(as)) throw new OpspecError('unsupported', `as: ${as} is a text itself`)
  if (form === 'evidence') return readEvidence(engine, textOrBytes(text, 'text'), valueKind(as))
  return read(engine, textOrBytes(text, 'text'), new Uint8Array(0), as, number)
}

function read(engine, text, bytes, as, form) {
  return engine.guard(() => engine.withBlock(text, (address, size) => engine.withBlock(bytes, (at, length) => {
    const status = engine.exports.opspec_do_encode(engine.port, address, size, length === 0 ? 0 : at, length, engine.putText(as), form)
    if (status !== OK) throw engine.trouble(status)
    return engine.resultBytes()
  })))
}

/** Env.encode. Bytes go beside the JSON, which names their range. */
export function encodeObject(engine, object, as) {
  stringArgument(as, 'as')
  if (object === null || typeof object !== 'object') throw invalid('object: must be an object')
  const written = encoded(engine, object, as)
  if (written !== null) return written
  const chunks = []
  let length = 0
  function replace(key, value) {
    const own = this[key]
    if (own instanceof Uint8Array) {
      if (own.length === 0) return ''
      chunks.push(own)
      length += own.length
      return { $b: [length - own.length, own.length] }
    }
    if (ArrayBuffer.isView(own)) return Array.from(own)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return Object.is(value, -0) ? '-0' : String(value)
    return value
  }
  let text
  try {
    text = JSON.stringify(object, replace)
  } catch (cause) {
    throw invalid(`object: cannot be written: ${cause.message}`, { cause })
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return read(engine, text, bytes, as, 0)
}
