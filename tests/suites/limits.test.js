// Documents that are small and ask for much: each is answered, with little memory (npm run bench -- documents says how soon).
import { describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { names, tryHostile } from '../support/limit-cases.js'

describe('hostile documents', () => {
  for (const name of names) it(name, () => tryHostile(name, createEnv, env => Env.memoryUsed(env).memory, 1000 * 2 ** 20))
})
