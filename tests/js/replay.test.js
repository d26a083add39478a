// A worker's Env that is started again, in Node. In a page: tests/browser/worker.test.js.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as entry from '../../wasm/js/index.js'
import { cases } from '../support/worker-cases.js'

describe("a worker's Env", () => {
  for (const [name, ask, expected] of cases) it(name, { timeout: 120_000 }, async () => assert.deepEqual(await ask(entry), expected))
})
