import { stringArgument, textOrBytes } from './arguments.js'
import { OK, invalid, OpspecError } from './errors.js'
import { sha256 } from './sha256.js'

// Texts of JSON documents: canonical, indented, summarised. Messages of protobuf have no such form yet.

const jsonKinds = ['spec', 'evidence', 'json']
const forms = ['json', 'textproto', 'onnxtxt', 'canonical', 'summary']

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

/** Env.format. */
export function format(engine, document, as, form) {
  const source = textOrBytes(document, 'bytes')
  stringArgument(as, 'as')
  if (!forms.includes(form)) throw invalid(`form: must be one of ${forms.join(', ')}`)
  if (!jsonKinds.includes(as)) throw new OpspecError('unsupported', `as: only ${jsonKinds.join(', ')} can be formatted, not ${as}`)
  if (form === 'textproto' || form === 'onnxtxt') throw new OpspecError('unsupported', `form: a JSON document has no form ${form}`)
  const text = engine.guard(() => engine.withBlock(source, (address, size) => {
    const status = engine.exports.opspec_do_format(engine.port, address, size, form === 'json' ? 0 : 1)
    if (status !== OK) throw engine.trouble(status)
    return engine.resultText()
  }))
  return form === 'summary' ? summary(JSON.parse(text), text) : text
}
