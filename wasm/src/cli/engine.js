import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createEnv } from '../index.js'
import { CommandError } from './options.js'

/** An Env with the command's limits and plug-ins. */
export async function openEnv(options, more) {
  const limits = options['max-memory'] === undefined ? {} : { memory: options['max-memory'] }
  const env = await createEnv({ limits, ...more })
  for (const path of options.plugin ?? []) await addPlugin(env, path)
  return env
}

// The documents of a plug-in are those that lie beside it.
async function addPlugin(env, path) {
  try {
    const folder = dirname(path)
    const documents = readdirSync(folder).filter(name => name.endsWith('.opspec.json')).map(name => readFileSync(join(folder, name), 'utf8'))
    const { operators, unmatched } = await env.loadPlugin(readFileSync(path), { documents })
    if (operators.length === 0) throw new CommandError(`${path}: registers no operator that can be used`)
    for (const name of unmatched.operators) process.stderr.write(`opspec: ${basename(path)}: ${name} has no document; put its NAME.opspec.json beside the plug-in\n`)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`--plugin ${path}: ${error.message}`)
  }
}

/** Exit code out of flags: 2 wins over 1. */
export const exitCode = ({ impossible, bad }) => impossible ? 2 : bad ? 1 : 0

export const packageVersion = () => JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
