// What a file is: by its content, and of texts by their name and how they begin.
import { textForm } from '../../wasm/src/text-form.js'
import { kindOf, messageOf } from './messages.js'

const formNames = { json: 'protobuf’s JSON', textproto: 'protobuf’s text format', onnxtxt: 'ONNX’s syntax' }
const ofSyntax = ['ModelProto', 'GraphProto', 'FunctionProto']

/**
 * Reads a text as the message that fits: { kind, message, bytes, form, evidence }; where none does { kind: 'unknown', form, findings } of
 * the message that comes furthest.
 */
export function readText(env, name, text) {
  const { form, byName } = textForm(name, text)
  const why = byName ? 'its name' : 'how it begins'
  const tried = []
  for (const message of form === 'onnxtxt' ? ofSyntax : Object.values(messageOf)) {
    try {
      const bytes = env.parse(text, message, form)
      const fits = bytes.length > 0 && env.identify(bytes).kind === kindOf[message]
      tried.push({ message, bytes, fits })
      if (fits) break
    } catch (error) {
      if (error.code !== 'malformed') throw error
      tried.push({ message, error, reach: error.findings?.[0]?.range?.start.byte ?? 0 })
    }
  }
  const read = tried.find(({ fits }) => fits) ?? tried.find(({ bytes }) => bytes !== undefined)
  if (read === undefined) {
    const { message, error } = tried.reduce((best, one) => one.reach > best.reach ? one : best)
    return { kind: 'unknown', message, form, findings: error.findings ?? [], evidence: `by ${why} a text in ${formNames[form]}, of which most can be read as ${message}`, problem: error.message }
  }
  return { kind: kindOf[read.message], message: read.message, bytes: read.bytes, form, evidence: `by ${why} a text in ${formNames[form]}, and its fields are those of ${read.message}` }
}
