import { commands } from './commands.js'
import { packageVersion as version } from './engine.js'
import { CommandError, parseArguments, suggest } from './options.js'
import { Output } from './output.js'

function usage() {
  const lines = Object.values(commands).map(({ usage: text, summary }) => `  ${text.padEnd(22)} ${summary}`)
  return `usage: opspec COMMAND [OPTIONS] [--] PATH...

${lines.join('\n')}

Everywhere: - is standard input; --format text|json[:FILE] (repeatable; check, test and
diff also sarif|junit|github); --fail-on error|warning|never; --timeout 500ms|10s;
--max-memory 512M; --quiet; --version; opspec COMMAND --help shows a command's options.
Exit: 0 clean; 1 errors found, a check that was cut, or a failed test; 2 it could not be done.
`
}

function commandUsage(name, { usage: text, summary, options }) {
  const lines = Object.entries(options).map(([option, { value, short, help }]) => `  --${`${option}${value ? ` ${value}` : ''}${short ? `, ${short}` : ''}`.padEnd(26)} ${help}`)
  return `usage: opspec ${text}\n\n${summary}\n\n${lines.join('\n')}\n`
}

function fail(message) {
  process.stderr.write(`opspec: ${message}\n`)
  return 2
}

async function run(name, args) {
  const command = commands[name]
  const { options, positionals, help } = parseArguments(args, command.options)
  if (help) {
    process.stdout.write(commandUsage(name, command))
    return 0
  }
  const output = new Output(options, command.reports)
  const code = await command.run({ options, positionals, output })
  output.flush()
  return code
}

/** Runs the command; answers its exit code. */
export async function main(args) {
  const [name, ...rest] = args
  if (name === '--version') {
    process.stdout.write(`${version()}\n`)
    return 0
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const asked = name !== undefined
    ;(asked ? process.stdout : process.stderr).write(usage())
    return asked ? 0 : 2
  }
  if (!Object.hasOwn(commands, name)) return fail(`there is no command '${name}'${suggest(name, Object.keys(commands))}; opspec --help lists them`)
  if (rest.includes('--version') && !rest.slice(0, rest.indexOf('--version')).includes('--')) {
    process.stdout.write(`${version()}\n`)
    return 0
  }
  try {
    return await run(name, rest)
  } catch (error) {
    if (error instanceof CommandError) return fail(error.message)
    if (typeof error?.code === 'string') return fail(`${error.message}${error.path && !error.message.includes(error.path) ? ` (${error.path})` : ''}`)
    throw error
  }
}
