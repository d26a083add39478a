// JSONTestSuite: what has to be read is read, what has to be refused is refused with a place.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'

const { folder, skip } = corpus('json-test-suite')
const files = folder === null ? [] : filesBelow(folder).filter(path => /(^|\/)[yni]_[^/]*\.json$/.test(path))

describe('JSONTestSuite', { skip }, () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const parse = path => env.check(readFileSync(join(folder, path)), { as: 'json' })

  it('has its 95 + 188 + 35 files', () => {
    const count = letter => files.filter(path => basename(path).startsWith(`${letter}_`)).length
    assert.deepEqual([count('y'), count('n'), count('i')], [95, 188, 35])
  })

  for (const path of files) {
    const name = basename(path)
    it(name, () => {
      const report = parse(path)
      assert.equal(report.complete, true)
      const errors = report.findings.filter(finding => finding.severity === 'error')
      if (name.startsWith('y_')) assert.deepEqual(errors, [])
      if (name.startsWith('n_')) {
        assert.notEqual(errors.length, 0)
        for (const { rule, range } of errors) {
          assert.match(rule, /^json\./)
          assert.ok(range.start.line >= 1 && range.start.column >= 1)
        }
      }
    })
  }
})
