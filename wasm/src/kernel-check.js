import { bytesView } from './bytes.js'
import { OpspecError } from './errors.js'
import { OpenTest } from './evidence.js'
import { isBlob } from './files.js'
import { findingOf, fingerprint } from './findings.js'
import { fitFunction } from './function.js'

// What a check of a specification or bundle finds in its kernel.onnx, the one kernel that is a document and not code. Nothing is
// run: it is checked as any function or model is, and against the specification.

/** As the rules of core/spec/*.def; here because only these scripts compare the two. */
export const functionRule = {
  rule: 'spec.bundle.function-signature', severity: 'error', title: 'A kernel.onnx of another signature',
  why: 'The function (or model) is what a node of the operator runs, so it takes the inputs, gives the outputs and knows the attributes of the document, in its order.',
  good: 'inputs X, W in the document, input: ["X", "W"] in kernel.onnx', bad: 'inputs X, W in the document, input: ["W", "X"] in kernel.onnx', source: 'onnx.proto, FunctionProto'
}

/** A document that the core has read, as an object: text or bytes, a byte-order mark before it or not. */
export const parseDocument = document => JSON.parse(typeof document === 'string' ? document.replace(/^\uFEFF/, '') : new TextDecoder().decode(document))

const within = (file, finding) => {
  const out = { ...finding, file, related: finding.related.map(item => ({ ...item, file })) }
  return { ...out, fingerprint: fingerprint(out) }
}

/** As fitFunction; what is thrown then carries the finding. */
export function checkFit(document, decoded) {
  try {
    fitFunction(document, decoded)
  } catch (error) {
    if (error.code !== 'malformed') throw error
    const { message, path } = error
    throw new OpspecError('malformed', message, { path, findings: [findingOf(functionRule.rule, message.replace(/^kernel: /, ''), path)] })
  }
}

// Answers the finding, or null where it fits.
function misfit(env, document, bytes, kind, file) {
  try {
    checkFit(document, env.decode(bytes, kind === 'model' ? 'ModelProto' : 'FunctionProto'))
    return null
  } catch (error) {
    if (error.code !== 'malformed' || error.findings === undefined) throw error
    return within(file, error.findings[0])
  }
}

// ---- Where they are -------------------------------------------------------------------------------------------------

// Documents and the kernel.onnx beside each: [{ text, file, bytes }].
function functionsOf(env, { text, zip, files }) {
  if (text !== undefined) {
    const content = files?.get('kernel.onnx')
    const bytes = content == null || isBlob(content) ? null : bytesView(content, 'files')
    return { texts: [text], found: bytes === null ? [] : [{ text, file: 'kernel.onnx', bytes }] }
  }
  const test = new OpenTest(env, { zip, files })
  try {
    const decoder = new TextDecoder()
    const specs = test.specs.map(({ file, kernels }) => ({ text: decoder.decode(test.file(file)), name: kernels.find(name => /(^|\/)kernel\.onnx$/.test(name)) }))
    return { texts: specs.map(({ text }) => text), found: specs.filter(({ name }) => name !== undefined).map(({ text, name }) => ({ text, file: name, bytes: test.file(name) })) }
  } finally {
    test.close()
  }
}

const isModel = (sniff, bytes) => {
  try {
    return sniff(bytes).kind === 'model'
  } catch {
    return false
  }
}

// Operators that documents of the bundle define are known in its functions. Answers what forgets them.
function declare(env, texts) {
  const made = texts.flatMap(text => {
    try {
      return [env.registerOperator(text)]
    } catch {
      return [] // faulty, or registered already
    }
  })
  return () => made.forEach(registration => registration.dispose())
}

function checkOne(env, { text, file, bytes }, sniff, options) {
  const kind = isModel(sniff, bytes) ? 'model' : 'function'
  const { findings, incomplete } = env.check(bytes, { ...options, as: kind, files: {} })
  const out = { findings: findings.map(finding => within(file, finding)), incomplete: incomplete.map(reason => `${file}: ${reason}`) }
  const broken = findings.some(({ severity }) => severity === 'error') || env.validateSpec(text).findings.some(({ severity }) => severity === 'error')
  const found = broken ? null : misfit(env, parseDocument(text), bytes, kind, file)
  if (found !== null) out.findings.push(found)
  return out
}

/**
 * The report with what there is to say of each kernel.onnx.
 * @param {object} source { text, files } of a specification, { zip, files } of a bundle
 * @param {(bytes: Uint8Array) => { kind: string }} sniff
 * @param {{ strict?: boolean, full?: boolean, timeoutMs?: number }} options of the check
 */
export function withFunctions(env, source, report, sniff, options) {
  let functions
  try {
    functions = functionsOf(env, source)
  } catch (error) {
    // What cannot be opened the report has said.
    if (!['malformed', 'limit', 'unsupported', 'invalid_argument'].includes(error.code)) throw error
    return report
  }
  if (functions.found.length === 0) return report
  const forget = declare(env, functions.texts)
  try {
    const more = functions.found.map(item => checkOne(env, item, sniff, options))
    const findings = [...report.findings, ...more.flatMap(({ findings }) => findings)]
    const incomplete = [...report.incomplete, ...more.flatMap(({ incomplete }) => incomplete)]
    const counts = { error: 0, warning: 0, info: 0 }
    for (const { severity } of findings) counts[severity]++
    return { ...report, findings, incomplete, counts, complete: incomplete.length === 0 && report.complete, ok: report.ok && incomplete.length === 0 && counts.error === 0 }
  } finally {
    forget()
  }
}
