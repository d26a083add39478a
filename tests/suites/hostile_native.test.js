// Damaged models under AddressSanitizer and UBSan: decoded, checked, made a session, run. The fuzz target's replay driver
// cuts files and flips bits, the same way in every run; any report of a sanitizer, and any leak, ends it with an error.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, it } from 'node:test'
import { fetchModel, modelNames } from '../models.js'
import { corpus } from '../support/corpora.js'

const build = process.env.OPSPEC_NATIVE_BUILD ?? fileURLToPath(new URL('../../build/native-san', import.meta.url))
const replay = join(build, 'core/run/fuzz_run')
const built = existsSync(replay) ? false : 'the build native-san is not there: npm test makes it'

async function mutate (count, paths) {
  const { stdout } = await promisify(execFile)(replay, ['--mutate', String(count), ...paths], { timeout: 600_000 })
  assert.equal(stdout, `${paths.length} inputs\n`)
}

describe('damaged models under sanitizers', { concurrency: 2 }, async () => {
  for (const name of modelNames) {
    const path = await fetchModel(name)
    it(`1000 copies of ${name}`, { skip: built || (path === null && `the model ${name} cannot be had`) }, () => mutate(1000, [path]))
  }
  const { folder, skip } = corpus('checker-probes')
  const probes = folder === null ? [] : readdirSync(folder).filter(name => name.endsWith('.onnx')).map(name => join(folder, name))
  it('200 copies of each checker probe', { skip: built || skip }, () => mutate(200, probes))
})
