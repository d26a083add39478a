// JSON-Schema-Test-Suite, draft 2020-12, through the package: what is required, what is optional, formats as assertions,
// annotations, outputs. json-schema.floor.json has the least numbers that pass; `node json-schema.test.js --write-floor`
// writes what passes now.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, OpspecError } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'

const floorFile = fileURLToPath(new URL('./json-schema.floor.json', import.meta.url))
const writeFloor = process.argv.includes('--write-floor')
const { folder, skip } = corpus('json-schema-test-suite')
const draft = 'tests/draft2020-12'
const read = path => readFileSync(join(folder, path), 'utf8')
const json = path => JSON.parse(read(path))

/** All that the suite can refer to, by URI. */
function remotes () {
  const all = {}
  for (const path of filesBelow(join(folder, 'remotes'))) {
    if (/^draft(3|4|6|7|2019-09|-next)\//.test(path) && !path.startsWith('draft2019-09/')) continue
    all[`http://localhost:1234/${path}`] = read(`remotes/${path}`)
  }
  return all
}

const schemas = folder === null ? {} : remotes()

const source = value => JSON.stringify(value)

function runFile (env, path, format, failures) {
  let passed = 0
  let total = 0
  for (const group of json(path)) {
    total += group.tests.length
    let schema
    try {
      schema = env.compileSchema(source(group.schema), { schemas, format })
    } catch (error) {
      if (!(error instanceof OpspecError)) throw error
      failures.push(`${path}: ${group.description}: ${error.message}`)
      continue
    }
    for (const test of group.tests) {
      const report = schema.validate(source(test.data))
      if (report.valid === test.valid && report.ok === test.valid && report.complete) passed++
      else failures.push(`${path}: ${group.description}: ${test.description}`)
    }
    schema.dispose()
  }
  return { passed, total }
}

function runFiles (env, paths, format) {
  const failures = []
  const sums = paths.map(path => runFile(env, path, format, failures))
  return { passed: sums.reduce((sum, { passed }) => sum + passed, 0), total: sums.reduce((sum, { total }) => sum + total, 0), failures }
}

// ---- Annotations --------------------------------------------------------------------------------------------------

const year = 2020
function compatible ({ compatibility }) {
  return (compatibility ?? '').split(',').every(part => {
    if (part === '') return true
    if (part.startsWith('<=')) return year <= Number(part.slice(2))
    return part.startsWith('=') ? year === Number(part.slice(1)) : year >= Number(part)
  })
}

function annotationsAt (output, location, keyword) {
  const found = {}
  for (const unit of output.annotations ?? []) {
    if (unit.instanceLocation !== location || !unit.keywordLocation.endsWith(`/${keyword}`)) continue
    const place = unit.absoluteKeywordLocation.slice(0, -keyword.length - 1)
    found[place.slice(place.indexOf('#'))] = unit.annotation
  }
  return found
}

function runAnnotations (env) {
  const failures = []
  let passed = 0
  let total = 0
  for (const path of filesBelow(join(folder, 'annotations/tests'))) {
    for (const group of json(`annotations/tests/${path}`).suite) {
      if (!compatible(group)) continue
      const others = Object.fromEntries(Object.entries(group.externalSchemas ?? {}).map(([uri, schema]) => [uri, source(schema)]))
      const schema = env.compileSchema(source(group.schema), { schemas: others })
      for (const { instance, assertions } of group.tests) {
        const { output } = schema.validate(source(instance), { output: 'basic' })
        for (const { location, keyword, expected } of assertions) {
          total++
          const actual = annotationsAt(output, location, keyword)
          try {
            assert.deepEqual(actual, absolute(expected, group.schema))
            passed++
          } catch {
            failures.push(`${path}: ${group.description}: ${keyword} at ${JSON.stringify(location)}: ${JSON.stringify(actual)}`)
          }
        }
      }
    }
  }
  return { passed, total, failures }
}

// The suite counts places from the document; an output from the nearest $id.
function absolute (expected, schema) {
  const out = {}
  for (const [place, value] of Object.entries(expected)) {
    let at = schema
    let rest = ''
    for (const token of place.slice(1).split('/').slice(1)) {
      at = at?.[decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')]
      rest = at?.$id === undefined ? `${rest}/${token}` : ''
    }
    out[`#${rest}`] = value
  }
  return out
}

// ---- Outputs ------------------------------------------------------------------------------------------------------

function runOutputs (env) {
  const failures = []
  let passed = 0
  let total = 0
  const outputSchema = read('output-tests/draft2020-12/output-schema.json')
  const others = { ...schemas, [JSON.parse(outputSchema).$id]: outputSchema }
  for (const path of filesBelow(join(folder, 'output-tests/draft2020-12'))) {
    if (basename(path) === 'output-schema.json') continue
    for (const group of json(`output-tests/draft2020-12/${path}`)) {
      const schema = env.compileSchema(source(group.schema), { schemas: others })
      for (const test of group.tests) {
        for (const [form, wanted] of Object.entries(test.output)) {
          total++
          const { output } = schema.validate(source(test.data), { output: form })
          const report = env.validateJson(source(output), source(wanted), { schemas: others, format: 'assertion' })
          if (report.valid) passed++
          else failures.push(`${path}: ${group.description}: ${test.description}: ${report.findings[0]?.message}`)
        }
      }
    }
  }
  return { passed, total, failures }
}

// ---- The suite ----------------------------------------------------------------------------------------------------

describe('JSON-Schema-Test-Suite, draft 2020-12', { skip }, async () => {
  if (folder === null) return
  const floor = writeFloor ? {} : JSON.parse(readFileSync(floorFile, 'utf8'))
  const env = await createEnv()
  const files = filesBelow(join(folder, draft)).map(path => `${draft}/${path}`)
  const optional = files.filter(path => path.includes('/optional/') && !path.includes('/format/'))
  const parts = {
    required: () => runFiles(env, files.filter(path => !path.includes('/optional/')), 'annotation'),
    optional: () => runFiles(env, optional, 'annotation'),
    format: () => runFiles(env, files.filter(path => path.includes('/optional/format/')), 'assertion'),
    annotations: () => runAnnotations(env),
    outputs: () => runOutputs(env)
  }
  for (const [name, run] of Object.entries(parts)) {
    it(name, context => {
      const { passed, total, failures } = run()
      context.diagnostic(`${name}: ${passed} of ${total} pass`)
      if (writeFloor) {
        floor[name] = { passed, total }
        writeFileSync(floorFile, JSON.stringify(floor, null, 2) + '\n')
        if (failures.length > 0) console.error(failures.join('\n'))
        return
      }
      assert.equal(total, floor[name].total, 'the corpus has another number of cases')
      assert.ok(passed >= floor[name].passed, failures.join('\n'))
    })
  }
})
