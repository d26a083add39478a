import { portablePath } from './paths.js'

// Workflow commands of GitHub Actions: an annotation a line. Columns count UTF-16 code units, as in SARIF.

const words = { error: 'error', warning: 'warning', info: 'notice' }

const data = text => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = text => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

function command(word, properties, message) {
  const list = Object.entries(properties).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${property(String(value))}`)
  return `::${word}${list.length > 0 ? ` ${list.join(',')}` : ''}::${data(message)}\n`
}

// Columns are taken only when a range stays on its line.
function placeOf(region) {
  if (region?.startLine === undefined) return {}
  const { startLine, startColumn, endLine, endColumn } = region
  return { line: startLine, endLine, ...startLine === endLine && { col: startColumn, endColumn } }
}

function annotation({ rule, severity, message, file, path, region, fix }) {
  const where = path && region?.startLine === undefined ? `${path}: ` : ''
  const hint = fix === undefined ? '' : `\nfix: ${fix.title}`
  return command(words[severity], { file: portablePath(file), ...placeOf(region), title: rule }, `${where}${message}${hint}`)
}

function unitLines({ path, name, status, message, incomplete, findings }, testing) {
  const lines = findings.map(annotation)
  const failed = testing && (status === 'failed' || status === 'error')
  if (failed && !findings.some(({ severity }) => severity === 'error')) lines.push(command('error', { file: portablePath(path), title: name }, message ?? 'the test failed'))
  const word = status === 'passed' ? 'warning' : 'error'
  return [...lines, ...incomplete.map(reason => command(word, { file: portablePath(path), title: 'incomplete' }, reason))]
}

/** The lines to be printed in a workflow. */
export function github({ command: name, units, problems }) {
  return [...problems.map(message => command('error', {}, message)), ...units.flatMap(unit => unitLines(unit, name === 'test'))].join('')
}
