import { openEnv } from './engine.js'
import { CommandError, suggest } from './options.js'
import { plural, writeFile } from './output.js'
import { sha256 } from './paths.js'

// opspec ops: the registry, which is the only list of operators there is.

const qualified = ({ domain, name }) => domain === '' ? name : `${domain}.${name}`

function signature(list) {
  return list.map(({ name, option, minArity }) => option === 'optional' ? `[${name}]` : option === 'variadic' ? `${name}... (from ${minArity})` : name).join(', ')
}

function printOne(output, operator, isNewest) {
  const status = operator.deprecated ? 'deprecated' : operator.kernel ? 'has a kernel' : operator.function ? 'has a body of other operators' : 'no kernel'
  output.line(paint => `${paint('bold', qualified(operator))} since ${operator.sinceVersion}${isNewest ? '' : ' (superseded)'}: ${status}; ${operator.source}`)
  output.line(`  (${signature(operator.inputs)}) -> (${signature(operator.outputs)})`)
  const types = new Map()
  for (const { typeParameter, types: allowed } of [...operator.inputs, ...operator.outputs]) if (typeParameter !== undefined) types.set(typeParameter, allowed)
  for (const [label, allowed] of types) output.line(paint => `  ${paint('info', label)}: ${allowed.join(', ')}`)
  for (const [name, { kind, required, default: fallback }] of Object.entries(operator.attributes)) {
    output.line(paint => `  ${paint('info', name)}: ${kind}${required ? ', required' : fallback === undefined ? '' : `, ${JSON.stringify(fallback)} when left out`}`)
  }
}

function matching(operators, text) {
  const [domain, name] = text.includes('::') ? text.split('::') : [undefined, text]
  const exact = operators.filter(operator => name === qualified(operator) || (operator.name === name && (domain === undefined || operator.domain === domain || (domain === 'ai.onnx' && operator.domain === ''))))
  if (exact.length > 0) return exact
  return operators.filter(operator => operator.name.toLowerCase() === name.toLowerCase())
}

function printAll(output, operators) {
  const byName = new Map()
  for (const operator of operators) {
    const list = byName.get(qualified(operator)) ?? []
    list.push(operator)
    byName.set(qualified(operator), list)
  }
  for (const [name, versions] of byName) {
    const runs = versions.filter(({ kernel }) => kernel).map(({ sinceVersion }) => sinceVersion)
    output.line(paint => `${name.padEnd(44)} ${versions.map(({ sinceVersion, kernel }) => kernel ? sinceVersion : paint('dim', `(${sinceVersion})`)).join(' ')}${runs.length === 0 ? '  no kernel' : ''}`)
  }
  output.summary(`${byName.size} operators; since versions without a kernel in parentheses`)
}

// Of each name the newest up to the version.
function atVersion(operators, version) {
  const found = new Map()
  for (const operator of operators) if (operator.sinceVersion <= version) found.set(qualified(operator), operator)
  return [...found.values()]
}

function selected(operators, { domain, 'opset-version': version }) {
  const mine = domain === undefined ? operators : operators.filter(operator => operator.domain === (domain === 'ai.onnx' ? '' : domain))
  if (mine.length === 0) throw new CommandError(`there is no operator of the domain '${domain}'${suggest(domain, [...new Set(operators.map(operator => operator.domain || 'ai.onnx'))])}`)
  return version === undefined ? mine : atVersion(mine, version)
}

function writeSet(env, { domain, 'opset-version': version, output: target }, output) {
  if (domain === undefined) throw new CommandError('ops: -o writes the operators of one domain: --domain says which')
  const bytes = env.writeOperatorSet({ domain, version })
  const { opsetVersion, operator = [], functions = [] } = env.decode(bytes, 'OperatorSetProto')
  if (target === '-') process.stdout.write(bytes)
  else writeFile(target, bytes)
  const written = { path: target, domain, version: Number(opsetVersion), operators: operator.length, functions: functions.length, bytes: bytes.length, sha256: sha256(bytes) }
  if (target !== '-') output.json(written)
  if (target !== '-') output.summary(paint => paint('good', `${target}: ${domain} ${written.version}, ${plural(operator.length, 'operator')}${functions.length > 0 ? `, ${plural(functions.length, 'function')}` : ''}, ${bytes.length} bytes, sha256 ${written.sha256}`))
  return 0
}

export async function ops({ options, positionals, output }) {
  if (positionals.length > 1) throw new CommandError('ops: one name at most')
  if (options.output !== undefined && positionals.length > 0) throw new CommandError('ops: -o writes all operators of a domain, not one')
  if (options.output === '-' && output.wantsJson) throw new CommandError('ops: --format json needs -o FILE, as standard output takes the document')
  const env = await openEnv(options)
  try {
    return options.output === undefined ? list(env, options, positionals, output) : writeSet(env, options, output)
  } catch (error) {
    throw error.code === 'invalid_argument' ? new CommandError(`ops: ${error.message.replace(/^(domain|version): /, '')}`) : error
  } finally {
    env.dispose()
  }
}

function list(env, options, positionals, output) {
  const operators = selected(env.operators(), options)
  if (positionals.length === 0) {
    output.json(operators)
    printAll(output, operators)
    return 0
  }
  const found = matching(operators, positionals[0])
  if (found.length === 0) throw new CommandError(`there is no operator '${positionals[0]}'${suggest(positionals[0], [...new Set(operators.map(({ name }) => name))])}`)
  output.json(found)
  const newest = new Map(found.map(operator => [qualified(operator), operator]))
  for (const operator of found) printOne(output, operator, newest.get(qualified(operator)) === operator)
  return 0
}
