import { openEnv } from './engine.js'
import { CommandError } from './options.js'

const indent = text => text.split('\n').map(line => `  ${line}`).join('\n')

// A fence that the text itself does not end.
function block(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

const section = ({ rule, severity, title, why, good, bad, source }) =>
  `### ${rule}\n\n**${title}** (${severity})\n\n${why}\n\nGood:\n\n${block(good)}\n\nBad:\n\n${block(bad)}\n\nSource: ${source}\n`

/** A page of Markdown with a chapter for each family, the first part of its rules' ids. */
export function markdown(all) {
  const chapters = new Map()
  for (const told of all) {
    const [family] = told.rule.split('.')
    if (!chapters.has(family)) chapters.set(family, [])
    chapters.get(family).push(section(told))
  }
  return ['# Rules\n', ...[...chapters].flatMap(([family, sections]) => [`## ${family}\n`, ...sections])].join('\n')
}

function explainAll(env, output) {
  const all = env.rules().map(rule => env.explain(rule))
  output.json(all)
  output.line(() => markdown(all).trimEnd())
}

function explainOne(env, rule, output) {
  const told = env.explain(rule)
  output.json(told)
  output.line(paint => `${paint('bold', told.rule)} (${told.severity}): ${told.title}\n\n${told.why}\n`)
  output.line(paint => `${paint('good', 'Good')}:\n${indent(told.good)}\n${paint('error', 'Bad')}:\n${indent(told.bad)}\n`)
  output.line(paint => paint('dim', `Source: ${told.source}`))
}

export async function explain({ options, positionals, output }) {
  const env = await openEnv(options)
  try {
    if (options.all && positionals.length > 0) throw new CommandError('explain: either one rule or --all')
    if (options.all) explainAll(env, output)
    else if (positionals.length === 1) explainOne(env, positionals[0], output)
    else throw new CommandError(`explain: which rule? There are ${env.rules().length}, as in model.node.ssa; --all tells of all`)
    return 0
  } finally {
    env.dispose()
  }
}
