/** What cannot be done: the message goes to standard error, the exit code is 2. */
export class CommandError extends Error {}

// Single-character edits from a to b, a swap of neighbours counting as one.
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1)
    }
    rows.push(row)
  }
  return rows[a.length][b.length]
}

/** "; did you mean X?" or nothing. */
export function suggest(word, known) {
  const [best] = known.map(name => [distance(word, name), name]).sort(([a], [b]) => a - b)
  return best !== undefined && best[0] <= Math.max(2, word.length / 3) ? `; did you mean '${best[1]}'?` : ''
}

// ---- Kinds of values ----------------------------------------------------------------------------------------------

const units = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

function bytes(text) {
  const match = /^(\d+(?:\.\d+)?)([kmg])?(?:i?b)?$/i.exec(text)
  if (match === null || Number(match[1]) === 0) throw new CommandError(`'${text}' is no amount of memory, as in 512M`)
  return Math.floor(Number(match[1]) * (units[match[2]?.toLowerCase()] ?? 1))
}

function milliseconds(text) {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text)
  if (match === null || Number(match[1]) === 0) throw new CommandError(`'${text}' is no time, as in 500ms or 10s`)
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2] ?? 'ms']
}

const formats = ['text', 'json', 'sarif', 'junit', 'github']

function format(text) {
  const colon = text.indexOf(':')
  const name = colon < 0 ? text : text.slice(0, colon)
  const file = colon < 0 ? null : text.slice(colon + 1)
  if (!formats.includes(name)) throw new CommandError(`--format ${name}: must be one of ${formats.join(', ')}`)
  if (file === '') throw new CommandError('--format: the name of a file is missing after the colon')
  return { name, file }
}

export const oneOf = (option, words) => text => {
  if (words.includes(text)) return text
  throw new CommandError(`--${option} ${text}: must be one of ${words.join(', ')}`)
}

export function pair(option) {
  return text => {
    const at = text.indexOf('=')
    if (at <= 0) throw new CommandError(`--${option} ${text}: must be NAME=VALUE`)
    return [text.slice(0, at), text.slice(at + 1)]
  }
}

export function integer(option, low = 0, high = 2 ** 32 - 1) {
  return text => {
    if (!/^\d+$/.test(text) || Number(text) < low || Number(text) > high) throw new CommandError(`--${option} ${text}: must be an integer from ${low} to ${high}`)
    return Number(text)
  }
}

export const kinds = ['spec', 'bundle', 'evidence', 'model', 'graph', 'function', 'operator-set', 'tensor', 'sparse-tensor', 'sequence', 'map', 'optional', 'json',
  'ModelProto', 'GraphProto', 'FunctionProto', 'OperatorSetProto', 'TensorProto', 'SparseTensorProto', 'SequenceProto', 'MapProto', 'OptionalProto']

/** Options that every command has. `value` names what follows; an option without it is a switch. */
export const common = {
  'format': { value: 'FORMAT[:FILE]', many: true, read: format, help: 'text or json; check, test and diff also sarif, junit, github; to a file if named' },
  'fail-on': { value: 'LEVEL', read: oneOf('fail-on', ['error', 'warning', 'never']), help: 'what gives exit 1: error (default; a failed test is one), warning, never' },
  'quiet': { help: 'no summary and no progress' },
  'timeout': { value: 'TIME', read: milliseconds, help: 'limit for each file or test, as in 500ms or 10s' },
  'plugin': { value: 'FILE', many: true, help: 'a .wasm that brings operators; their documents (*.opspec.json) lie beside it' },
  'max-memory': { value: 'BYTES', read: bytes, help: 'limit of the engine, as in 512M' }
}

export const as = { value: 'KIND', read: oneOf('as', kinds), help: `take files as this kind: ${kinds.slice(0, 13).join(', ')}` }

// ---- The command line ---------------------------------------------------------------------------------------------

function readOption(argument, known, next) {
  const at = argument.indexOf('=')
  const name = at < 0 ? argument.slice(2) : argument.slice(2, at)
  if (!Object.hasOwn(known, name)) throw new CommandError(`there is no option --${name}${suggest(name, Object.keys(known))}`)
  const option = known[name]
  if (option.value === undefined) {
    if (at >= 0) throw new CommandError(`--${name} takes no value`)
    return [name, true]
  }
  const text = at >= 0 ? argument.slice(at + 1) : next()
  if (text === undefined) throw new CommandError(`--${name} needs a value: ${option.value}`)
  return [name, option.read === undefined ? text : option.read(text)]
}

/** { options, positionals, help } of a command's arguments. */
export function parseArguments(args, known) {
  const options = {}
  const positionals = []
  let help = false
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]
    if (argument === '--') {
      positionals.push(...args.slice(i + 1))
      break
    }
    const short = Object.keys(known).find(name => known[name].short === argument)
    if (argument === '--help' || argument === '-h') help = true
    else if (argument.startsWith('--') || short !== undefined) {
      const [name, value] = readOption(short === undefined ? argument : `--${short}`, known, () => args[++i])
      if (known[name].many) (options[name] ??= []).push(value)
      else options[name] = value
    } else if (argument.startsWith('-') && argument !== '-') throw new CommandError(`there is no option ${argument}; write ./${argument} or -- before a file of that name`)
    else positionals.push(argument)
  }
  return { options, positionals, help }
}
