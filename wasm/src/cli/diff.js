import { Env } from '../env.js'
import { messages } from '../messages.js'
import { diffReport } from './diff-report.js'
import { exitCode, openEnv, packageVersion } from './engine.js'
import { CommandError } from './options.js'
import { plural } from './output.js'
import { filesBeside } from './paths.js'
import { specAndBody } from './spec-file.js'
import { documentBytes } from './text-file.js'

// opspec diff: two specifications, or the bundles that hold them; two ONNX documents of one kind.

function compare(env, paths, documents, { as, timeout }, output) {
  try {
    return env.diff(...documents, { as, timeoutMs: timeout, files: paths.map(path => filesBeside(path)) })
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
    const documents = positionals.map(path => documentBytes(env, path, specAndBody(path).text, options.as, output))
    const { changes, breaking } = compare(env, positionals, documents, options, output)
    const [a, b] = positionals
    const as = options.as ?? Env.sniff(env, documents[0]).kind
    const kind = Object.keys(messages).find(name => messages[name] === as) ?? as
    const count = changes.filter(change => change.breaking).length
    output.json({ version: packageVersion(), a, b, kind, changes, breaking, summary: { breaking: count, others: changes.length - count } })
    if (output.wantsReport) output.report(diffReport({ env, version: packageVersion(), path: b, bytes: kind === 'spec' ? documents[1] : new Uint8Array(0), changes, breaking }))
    for (const { rule, message, pointer, path, breaking: breaks } of changes) {
      output.line(paint => `${breaks ? paint('error', 'breaking') : 'change  '} ${paint('bold', (pointer ?? path) || kind)}: ${message} ${paint('dim', `[${rule}]`)}`)
    }
    output.summary(paint => paint(breaking ? 'error' : 'good', changes.length === 0 ? 'no change' : `${plural(changes.length, 'change')}, ${count} breaking`))
    return exitCode({ bad: breaking })
  } finally {
    env.dispose()
  }
}
