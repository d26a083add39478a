import { readFileSync } from 'node:fs'
import { createEnv } from '../index.js'

/** An Env with the command's limits. */
export function openEnv(options, more) {
  const limits = options['max-memory'] === undefined ? {} : { memory: options['max-memory'] }
  return createEnv({ limits, ...more })
}

/** Exit code out of flags: 2 wins over 1. */
export const exitCode = ({ impossible, bad }) => impossible ? 2 : bad ? 1 : 0

export const packageVersion = () => JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
