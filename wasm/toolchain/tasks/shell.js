// How the npm scripts start programs and speak. Builtins only: a fresh checkout has no node_modules.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

export class TaskError extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export function say(message) {
  process.stderr.write(`opspec: ${message}\n`)
}

// Runs a program in the checkout, its output shown; throws TaskError when it fails.
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options })
  if (result.error) throw new TaskError(`cannot start ${command}: ${result.error.message}`)
  if (result.status !== 0) {
    throw new TaskError(`failed (${result.signal ?? result.status}): ${[command, ...args].join(' ')}`, result.status === 2 ? 2 : 1)
  }
}

// The same, its output shown only when it fails.
export function runQuietly(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: 1 << 28, ...options
  })
  if (result.error) throw new TaskError(`cannot start ${command}: ${result.error.message}`)
  if (result.status !== 0) {
    process.stderr.write(result.stdout + result.stderr)
    throw new TaskError(`failed (${result.signal ?? result.status}): ${[command, ...args].join(' ')}`)
  }
  return result.stdout
}

// Runs a program until it ends or this one is told to stop; resolves to its exit code.
export function serve(command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => resolve(code ?? 0))
  })
}

// What every script's main is wrapped in: a TaskError ends it with its message, anything else with its stack.
export async function main(task) {
  try {
    const code = await task(process.argv.slice(2))
    process.exitCode = code ?? 0
  } catch (error) {
    if (error instanceof TaskError) say(error.message)
    else console.error(error)
    process.exitCode = error.exitCode ?? 1
  }
}
