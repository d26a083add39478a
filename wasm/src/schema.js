import { optionsOf, textOrBytes } from './arguments.js'
import { fixFindings } from './engine.js'
import { invalid, OK, OpspecError } from './errors.js'
import { normalFiles } from './files.js'
import { watch } from './handles.js'
import { reportOf } from './model.js'
import { outputOf } from './schema-output.js'
import { withDispose } from './values.js'

const forms = ['flag', 'basic', 'detailed', 'verbose']

function formOf({ output }) {
  if (output !== undefined && !forms.includes(output)) throw invalid(`output: must be one of ${forms.join(', ')}`)
  return output
}

/** A compiled JSON Schema. Made by env.compileSchema. */
export class Schema {
  #engine
  #address
  #unwatch

  constructor(engine, address, findings) {
    this.#engine = engine
    this.#address = address
    this.findings = findings
    this.#unwatch = watch(this, () => freeSchema(engine, address))
  }

  validate(instance, given) {
    const form = formOf(optionsOf(given))
    const source = textOrBytes(instance, 'instance')
    const engine = this.#engine
    if (this.#address === 0) throw invalid('schema: was disposed')
    return engine.guard(() => engine.withBlock(source, (address, size) => {
      engine.check(engine.exports.opspec_do_validate(engine.port, this.#address, address, size, form === undefined || form === 'flag' ? 0 : 1))
      const { units, ...report } = reportOf(engine)
      return form === undefined ? report : { ...report, output: outputOf(form, report.valid, units) }
    }))
  }

  dispose() {
    if (this.#address === 0) return
    this.#unwatch()
    freeSchema(this.#engine, this.#address)
    this.#address = 0
  }
}
withDispose(Schema)

function freeSchema(engine, address) {
  if (!engine.dead) engine.exports.opspec_free_schema(address)
}

/** { schema }, or { report } when the schema itself is wrong or a limit was met, and that limit. */
function compile(engine, text, given) {
  const { format = 'annotation', schemas } = optionsOf(given)
  if (format !== 'annotation' && format !== 'assertion') throw invalid("format: must be 'annotation' or 'assertion'")
  const source = textOrBytes(text, 'schema')
  const files = normalFiles(schemas, 'schemas')
  return engine.guard(() => {
    const { address, size } = engine.block(source)
    const schema = engine.exports.opspec_new_schema(engine.port, address, size, format === 'assertion' ? 1 : 0, files === null ? 0 : 1)
    const status = engine.resultStatus
    if (schema !== 0 && engine.fileError === null) {
      const { findings } = engine.resultSize > 0 ? engine.resultJson() : { findings: [] }
      fixFindings(findings)
      return { schema: new Schema(engine, schema, findings) }
    }
    if (schema !== 0) engine.exports.opspec_free_schema(schema)
    if (engine.fileError !== null) throw engine.fileError.error
    const report = status !== OK && engine.resultSize > 0 ? engine.resultJson() : null
    if (report === null || report.findings === undefined) throw engine.trouble(status)
    fixFindings(report.findings)
    return { report }
  }, files)
}

export function compileSchema(engine, text, options) {
  const { schema, report } = compile(engine, text, options)
  if (schema !== undefined) return schema
  const first = report.findings.find(({ severity }) => severity === 'error')
  throw new OpspecError(first === undefined ? 'limit' : 'malformed', first?.message ?? report.incomplete[0], { findings: report.findings })
}

export function validateJson(engine, instance, text, given) {
  const options = optionsOf(given)
  formOf(options)
  textOrBytes(instance, 'instance')
  const { schema, report } = compile(engine, text, options)
  if (schema === undefined) return { ...report, valid: false }
  try {
    const answer = schema.validate(instance, options)
    const { counts, findings } = answer
    for (const { severity } of schema.findings) counts[severity]++
    return { ...answer, findings: [...schema.findings, ...findings] }
  } finally {
    schema.dispose()
  }
}
