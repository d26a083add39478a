import { diffReport } from './diff-report.js'
import { exitCode, openEnv, packageVersion } from './engine.js'
import { CommandError } from './options.js'
import { plural } from './output.js'
import { bundleFiles, jsonRole, pathKind, readPath } from './paths.js'

// opspec diff: two specifications, or the bundles that hold them.

function readSpec(path) {
  if (pathKind(path) === 'file') return readPath(path)
  const specs = [...bundleFiles(path)].filter(([name, bytes]) => name.endsWith('.json') && jsonRole(name, bytes) === 'spec')
  if (specs.length !== 1) throw new CommandError(`${path}: ${specs.length === 0 ? 'no specification is' : `${specs.length} specifications are`} in there; name the file`)
  return specs[0][1]
}

function compare(env, paths, as, output) {
  const documents = paths.map(readSpec)
  try {
    return env.diff(...documents, { as })
  } catch (error) {
    if (error.code === undefined) throw error
    const at = error.message.startsWith('b:') ? 1 : 0
    for (const { rule, message, range } of error.findings ?? []) output.problem(`${paths[at]}${range === undefined ? '' : `:${range.start.line}:${range.start.column}`}: ${message} [${rule}]`)
    throw new CommandError(`${paths[at]} cannot be compared: ${error.message.replace(/^[ab]: /, '')}`)
  }
}

export async function diff({ options, positionals, output }) {
  if (positionals.length !== 2) throw new CommandError('diff: which two files?')
  const env = await openEnv(options)
  try {
    const { changes, breaking } = compare(env, positionals, options.as, output)
    const [a, b] = positionals
    const count = changes.filter(change => change.breaking).length
    output.json({ version: packageVersion(), a, b, kind: 'spec', changes, breaking, summary: { breaking: count, others: changes.length - count } })
    if (output.wantsReport) output.report(diffReport({ env, version: packageVersion(), path: b, bytes: readSpec(b), changes, breaking }))
    for (const { rule, message, pointer, breaking: breaks } of changes) {
      output.line(paint => `${breaks ? paint('error', 'breaking') : 'change  '} ${paint('bold', pointer)}: ${message} ${paint('dim', `[${rule}]`)}`)
    }
    output.summary(paint => paint(breaking ? 'error' : 'good', changes.length === 0 ? 'no change' : `${plural(changes.length, 'change')}, ${count} breaking`))
    return exitCode({ bad: breaking })
  } finally {
    env.dispose()
  }
}
