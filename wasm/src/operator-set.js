import { flag, optionsOf, stringArgument } from './arguments.js'
import { bytesView } from './bytes.js'
import { invalid, OpspecError } from './errors.js'
import { checkFit, parseDocument } from './kernel-check.js'

// Writes an OperatorSetProto: of the operators that an Env knows, or of specifications. Functions are what runs an operator that has
// a body; the others are listed with their signature as text, as the message has no field for it.

const IR_VERSION = 14
const STATUS = { experimental: 0, stable: 1 }

// ---- What an operator is, as text ---------------------------------------------------------------------------------

const marks = { single: '', optional: '?', variadic: '...' }

function signature(list) {
  return list.map(({ name, option, type }) => `${name}${marks[option]}${type === undefined ? '' : `: ${type}`}`).join(', ')
}

function attributeLine([name, { kind, required, default: fallback, description }]) {
  const rest = required ? ', required' : fallback === undefined || fallback === null ? '' : `, ${JSON.stringify(fallback)} when left out`
  return `- \`${name}\`: ${kind}${rest}${description ? `. ${description}` : ''}`
}

const section = (title, lines) => lines.length === 0 ? [] : ['', `${title}:`, '', ...lines]

// Markdown.
function describe({ name, inputs, outputs, types, attributes, texts = [] }) {
  return [
    `\`${name}(${signature(inputs)}) -> (${signature(outputs)})\``,
    ...section('Types', [...types].map(([label, allowed]) => `- \`${label}\`: ${allowed.join(', ')}`)),
    ...section('Attributes', Object.entries(attributes).map(attributeLine)),
    ...section('Parameters', [...inputs, ...outputs].filter(({ description }) => description).map(item => `- \`${item.name}\`: ${item.description}`)),
    ...texts.flatMap(([title, list]) => section(title, list.map(text => `- ${text}`)))
  ].join('\n')
}

function ofRegistry({ domain, name, sinceVersion, deprecated = false, inputs, outputs, attributes }) {
  const types = new Map()
  for (const { typeParameter, types: allowed } of [...inputs, ...outputs]) if (typeParameter !== undefined) types.set(typeParameter, allowed)
  const plain = list => list.map(({ name, option, typeParameter }) => ({ name, option, type: typeParameter }))
  return { domain, name, since: sinceVersion, deprecated, inputs: plain(inputs), outputs: plain(outputs), types, attributes }
}

function ofSpec(document, text) {
  const { operator, version, type_parameters: parameters } = document
  const plain = list => list.map(({ name, cardinality, type_parameter: type, description }) => ({ name, option: cardinality, type: type ?? undefined, description }))
  const rest = key => [].concat(document[key]).filter(Boolean)
  return {
    domain: operator.domain, name: operator.op_type, since: /^[1-9]\d*$/.test(version) ? Number(version) : 1, deprecated: false, document, text,
    inputs: plain(document.inputs), outputs: plain(document.outputs), types: new Map(Object.entries(parameters).map(([label, { allowed_types: allowed }]) => [label, allowed])),
    attributes: document.attributes,
    texts: [['Conditions', rest('input_conditions')], ['Shapes', rest('shape_rules')], ['Boundaries', rest('boundary_behavior')], ['Numbers', rest('numerical_behavior')],
      ['Nondeterminism', rest('nondeterminism')], ['State', rest('state_effects')]]
  }
}

// ---- Functions ----------------------------------------------------------------------------------------------------

// The main graph of a model as a function, which has no attributes; null where a function cannot hold it.
function functionOfModel({ graph = {}, opsetImport, functions = [], docString }, { domain, name }) {
  const names = list => (list ?? []).map(({ name = '' }) => name)
  const inputs = names(graph.input)
  if (functions.length > 0) return null
  const constant = (output, attribute) => ({ opType: 'Constant', output: [output], attribute: [attribute] })
  const constants = [
    ...(graph.initializer ?? []).filter(({ name }) => !inputs.includes(name)).map(t => constant(t.name, { name: 'value', type: 4, t })),
    ...(graph.sparseInitializer ?? []).filter(({ values }) => !inputs.includes(values?.name)).map(sparseTensor => constant(sparseTensor.values?.name ?? '', { name: 'sparse_value', type: 11, sparseTensor }))
  ]
  return {
    name, domain, input: inputs, output: names(graph.output), node: [...constants, ...graph.node ?? []], opsetImport, docString, valueInfo: graph.valueInfo
  }
}

// ---- The set ------------------------------------------------------------------------------------------------------

const plainDomain = domain => domain === 'ai.onnx' ? '' : domain

// Specifications, checked: a wrong one is an error with what is wrong.
function readSpecs(env, specs, textOf) {
  return specs.map((spec, i) => {
    const text = textOf(spec, `specs[${i}]`)
    const { findings } = env.validateSpec(text)
    const faults = findings.filter(({ severity }) => severity === 'error')
    if (faults.length > 0) throw new OpspecError('malformed', `specs[${i}]: ${faults[0].message}`, { findings: faults })
    return ofSpec(parseDocument(text), text)
  })
}

// Of each name the newest up to `version`.
function newest(operators, version) {
  const found = new Map()
  for (const operator of operators) {
    if (operator.since <= version && !(found.get(operator.name)?.since > operator.since)) found.set(operator.name, operator)
  }
  return [...found.values()].filter(({ deprecated }) => !deprecated).sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
}

function checkVersion(value, argument) {
  if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) throw invalid(`${argument}: must be an integer above 0`)
  return value
}

function readOptions(given) {
  const options = optionsOf(given)
  const { domain, version, specs, functions = {}, status = 'stable', irVersion, docString = '' } = options
  if (domain !== undefined) stringArgument(domain, 'domain')
  if (specs !== undefined && !Array.isArray(specs)) throw invalid('specs: must be a list')
  if (domain === undefined && !(specs?.length > 0)) throw invalid('domain: must be named, unless there are specs')
  if (!Object.hasOwn(STATUS, status)) throw invalid('status: must be stable or experimental')
  if (functions === null || typeof functions !== 'object') throw invalid('functions: must be an object, operators to bytes')
  return {
    domain: domain === undefined ? undefined : plainDomain(domain), version: checkVersion(version, 'version'), specs, functions, status: STATUS[status],
    irVersion: checkVersion(irVersion, 'irVersion') ?? IR_VERSION, docString: stringArgument(docString, 'docString'), bodies: flag(options, 'bodies', true)
  }
}

// The operators of a domain, and the domain.
function operatorsOf(env, { domain, specs }, textOf) {
  if (specs === undefined || specs.length === 0) {
    const all = env.operators()
    const mine = all.filter(operator => operator.domain === domain)
    if (mine.length > 0) return { domain, operators: mine.map(ofRegistry), standard: mine.some(({ source }) => source === 'onnx') }
    throw invalid(`domain: no operator is of the domain '${domain}'; known are ${[...new Set(all.map(operator => operator.domain || 'ai.onnx'))].join(', ')}`)
  }
  const operators = readSpecs(env, specs, textOf)
  const own = domain ?? operators[0].domain
  operators.forEach((operator, i) => {
    if (operator.domain !== own) throw invalid(`specs[${i}]: is of the domain ${operator.domain}, the set of ${own}`)
  })
  return { domain: own, operators, standard: false }
}

// The version of a set: what is asked for, else the newest there is.
function setVersion(asked, { operators, standard, domain }) {
  const last = Math.max(...operators.map(({ since }) => since))
  if (standard && asked > last) throw invalid(`version: the newest known version of ${domain || 'ai.onnx'} is ${last}`)
  return asked ?? last
}

// A FunctionProto as an object, or null.
function functionOf(env, operator, bytes, isModel) {
  const body = env.decode(bytes, isModel(bytes) ? 'ModelProto' : 'FunctionProto')
  if (operator.document !== undefined) checkFit(operator.document, body)
  return body.graph === undefined ? { ...body, domain: operator.domain, name: operator.name } : functionOfModel(body, operator)
}

/**
 * Env.writeOperatorSet.
 * @param {object} tools
 * @param {(operator: object) => Uint8Array | undefined} tools.bodyOf what runs a registered operator
 * @param {(bytes: Uint8Array) => boolean} tools.isModel
 * @param {(spec: unknown, argument: string) => string | Uint8Array} tools.textOf
 */
export function writeOperatorSet(env, given, { bodyOf, isModel, textOf }) {
  const options = readOptions(given)
  const found = operatorsOf(env, options, textOf)
  const version = setVersion(options.version, found)
  const chosen = newest(found.operators, version)
  if (chosen.length === 0) throw invalid(`version: no operator of ${found.domain || 'ai.onnx'} is there up to version ${version}`)
  const operator = [], functions = []
  for (const item of chosen) {
    const own = options.functions[item.name]
    const bytes = options.bodies ? own === undefined ? bodyOf(item) : bytesView(own, `functions.${item.name}`) : undefined
    if (bytes === null) throw invalid(`functions.${item.name}: must be bytes`)
    const docString = describe(item)
    const body = bytes === undefined ? null : functionOf(env, item, bytes, isModel)
    if (body !== null) functions.push({ ...body, docString: body.docString || docString })
    else operator.push({ opType: item.name, sinceVersion: BigInt(item.since), status: options.status, docString })
  }
  return env.encode({
    magic: 'ONNXOPSET', irVersion: BigInt(options.irVersion), domain: found.domain || 'ai.onnx', opsetVersion: BigInt(version), ...options.docString && { docString: options.docString }, operator, functions
  }, 'OperatorSetProto')
}
