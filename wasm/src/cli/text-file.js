import { Env } from '../env.js'
import { jsonKinds, messages } from '../messages.js'
import { textForm } from '../text-form.js'
import { isNpyFile, readNpyFile } from './npy-file.js'
import { CommandError } from './options.js'

// Files that are an ONNX document in another form than bytes: NumPy's arrays, protobuf's JSON and text format, ONNX's syntax.

const ONNX_TEXT = /; convert it to its binary form first$/ // how the module's evidence for such a text ends
const messageNamed = as => Object.hasOwn(messages, as) ? messages[as] : Object.values(messages).find(name => name === as)

/** { type, form } of a text that is an ONNX document's, or is said to be one (`as`); null: it is none. JSON is one where it is said. */
export function textOf(env, path, bytes, as) {
  const { kind, evidence } = Env.sniff(env, bytes)
  const type = messageNamed(as)
  const isText = jsonKinds.includes(kind) ? type !== undefined : kind === 'text' && (type !== undefined || (as === undefined && ONNX_TEXT.test(evidence)))
  return isText ? { type: type ?? 'ModelProto', form: textForm(path, new TextDecoder().decode(bytes.subarray(0, 4096))).form } : null
}

// What is wrong with a text is said by its findings.
function parsed(env, path, bytes, { type, form }, output) {
  try {
    return env.parse(bytes, type, form)
  } catch (error) {
    if (error.findings === undefined) throw error
    for (const { rule, message, range } of error.findings) output.problem(`${path}${range === undefined ? '' : `:${range.start.line}:${range.start.column}`}: ${message} [${rule}]`)
    throw new CommandError(`${path} cannot be read as a ${type} in the form ${form}`)
  }
}

/** The bytes of a document: of a NumPy file those of a TensorProto, of a text those of the message that it says. */
export function documentBytes(env, path, bytes, as, output) {
  if (isNpyFile(path, bytes)) return env.writeValue(readNpyFile(path, bytes), '')
  const text = textOf(env, path, bytes, as)
  return text === null ? bytes : parsed(env, path, bytes, text, output)
}

/** The report of a document that was not read to its end, from what reading it has thrown. */
export function failedReport({ code, message, findings = [] }, kind) {
  const count = severity => findings.filter(finding => finding.severity === severity).length
  const counts = { error: count('error'), warning: count('warning'), info: count('info') }
  return { ok: false, complete: code !== 'limit', incomplete: code === 'limit' ? [message] : [], kind, counts, findings, rules: '' }
}

/** The report of a text: of what it says, whose places are fields; where it cannot be read, of the text. */
export function checkText(env, bytes, { type, form }, options) {
  try {
    const report = env.check(env.parse(bytes, type, form), { ...options, as: type })
    const placeless = item => {
      const rest = { ...item, ...item.related !== undefined && { related: item.related.map(placeless) } }
      delete rest.range // of bytes that nobody has
      delete rest.fix
      return rest
    }
    return { ...report, findings: report.findings.map(placeless) }
  } catch (error) {
    if (error.findings === undefined) throw error
    return failedReport(error, 'text')
  }
}
