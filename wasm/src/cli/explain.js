import { Env } from '../env.js'
import { openEnv } from './engine.js'
import { CommandError } from './options.js'

const indent = text => text.split('\n').map(line => `  ${line}`).join('\n')

export async function explain({ options, positionals, output }) {
  const env = await openEnv(options)
  try {
    if (positionals.length !== 1) throw new CommandError(`explain: which rule? There are ${Env.rules(env).length}, as in model.node.ssa`)
    const told = env.explain(positionals[0])
    output.json(told)
    output.line(paint => `${paint('bold', told.rule)} (${told.severity}): ${told.title}\n\n${told.why}\n`)
    output.line(paint => `${paint('good', 'Good')}:\n${indent(told.good)}\n${paint('error', 'Bad')}:\n${indent(told.bad)}\n`)
    output.line(paint => paint('dim', `Source: ${told.source}`))
    return 0
  } finally {
    env.dispose()
  }
}
