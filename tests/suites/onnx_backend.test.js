// ONNX's own backend tests, through the package: every directory whose operators have kernels must pass. What is skipped is
// named by the operator that is missing, and onnx_backend.floor.json keeps the set of passing directories from shrinking:
// a directory may be skipped only if it is listed there. `node onnx_backend.test.js --write-floor` writes the list anew.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv } from '../../wasm/js/index.js'
import { corpus } from '../support/corpora.js'

const floorFile = fileURLToPath(new URL('./onnx_backend.floor.json', import.meta.url))
const writeFloor = process.argv.includes('--write-floor')
const groups = ['node', 'simple', 'pytorch-converted', 'pytorch-operator']

// ---- Values -------------------------------------------------------------------------------------------------------

const kindOf = type => type.startsWith('seq(') ? 'sequence' : type.startsWith('optional(') ? 'optional' : type.startsWith('map(') ? 'map'
  : type.startsWith('sparse_tensor(') ? 'sparse-tensor' : 'tensor'

function readSet (env, folder, stem, infos) {
  const values = []
  for (let i = 0; existsSync(join(folder, `${stem}_${i}.pb`)); i++) {
    values.push(env.readValue(readFileSync(join(folder, `${stem}_${i}.pb`)), kindOf(infos[i].type)))
  }
  return values
}

// Narrow floats through the values of one of the package's own tensors.
const plain = tensor => tensor.toArray === undefined ? tensor.data : [tensor.toArray()].flat(Infinity)

function differs (actual, expected, tolerance) {
  if (typeof expected !== 'number' || typeof actual !== 'number') return actual !== expected
  if (Number.isNaN(expected) || Number.isNaN(actual)) return !(Number.isNaN(expected) && Number.isNaN(actual))
  if (expected === actual) return false
  return !(Math.abs(actual - expected) <= tolerance.atol + tolerance.rtol * Math.abs(expected))
}

function compareTensors (actual, expected, tolerance) {
  if (actual.type !== expected.type) return `type ${actual.type}, expected ${expected.type}`
  if (actual.dims.join() !== expected.dims.join()) return `shape [${actual.dims}], expected [${expected.dims}]`
  const [a, e] = [plain(actual), plain(expected)]
  for (let i = 0; i < e.length; i++) {
    if (tolerance.shapeOnly ? !(a[i] === 0 || a[i] === 1) : differs(a[i], e[i], tolerance)) return `element ${i} is ${a[i]}, expected ${e[i]}`
  }
  return null
}

function compare (actual, expected, tolerance) {
  if (actual === null || expected === null) return actual === expected ? null : 'one is an empty optional'
  if (!Array.isArray(expected)) return compareTensors(actual, expected, tolerance)
  if (!Array.isArray(actual) || actual.length !== expected.length) return `a sequence of ${actual.length}, expected ${expected.length}`
  return expected.map((item, i) => compare(actual[i], item, tolerance)).find(why => why !== null) ?? null
}

const toleranceOf = name => ({ rtol: 1e-3, atol: name.startsWith('test_dft') ? 1e-6 : 1e-7, shapeOnly: name.startsWith('test_bernoulli') })

// ---- One directory ------------------------------------------------------------------------------------------------

async function runSets (env, model, session, folder, tolerance) {
  const sets = readdirSync(folder).filter(name => name.startsWith('test_data_set_'))
  assert.ok(sets.length > 0, 'there is no data')
  for (const set of sets) {
    const inputs = readSet(env, join(folder, set), 'input', model.inputs)
    const expected = readSet(env, join(folder, set), 'output', model.outputs)
    const outputs = await session.run(Object.fromEntries(inputs.map((value, i) => [model.inputs[i].name, value])))
    for (const [i, value] of expected.entries()) {
      const why = compare(outputs[model.outputs[i].name], value, tolerance)
      if (why !== null) throw new Error(`${set}, output ${i}: ${why}`)
    }
  }
}

/** Null when it passed, { missing } or { failed } with the reason. */
async function runDirectory (env, folder, name) {
  const model = env.loadModel(readFileSync(join(folder, 'model.onnx')))
  try {
    const session = await env.createSession(model)
    try {
      await runSets(env, model, session, folder, toleranceOf(name))
    } finally {
      session.dispose()
    }
    return null
  } catch (error) {
    return error.code === 'unsupported' ? { missing: error.message } : { failed: error.message }
  } finally {
    model.dispose()
  }
}

async function runGroup (env, folder) {
  const results = { passed: [], failed: [], skipped: [] }
  for (const name of readdirSync(folder).sort()) {
    if (!existsSync(join(folder, name, 'model.onnx'))) continue
    const result = await runDirectory(env, join(folder, name), name)
    if (result === null) results.passed.push(name)
    else if (result.missing !== undefined) results.skipped.push({ name, why: result.missing })
    else results.failed.push(`${name}: ${result.failed}`)
  }
  return results
}

// ---- The suite ----------------------------------------------------------------------------------------------------

const { folder, skip } = corpus('onnx-tests-1.22')
const floor = JSON.parse(readFileSync(floorFile, 'utf8'))

describe('ONNX backend tests', async () => {
  const env = await createEnv()
  const written = {}
  for (const group of groups) {
    const results = skip ? null : await runGroup(env, join(folder, group))
    it(`${group}: what has kernels passes`, { skip }, () => {
      assert.deepEqual(results.failed, [])
      const lost = results.skipped.filter(({ name }) => !floor[group].skipped.includes(name)).map(({ name, why }) => `${name}: ${why}`)
      assert.deepEqual(lost, [], 'these passed before')
      assert.ok(results.passed.length >= floor[group].passed, `${results.passed.length} passed, ${floor[group].passed} did before`)
    })
    const byReason = new Map()
    for (const { name, why } of results?.skipped ?? []) byReason.set(why, [...byReason.get(why) ?? [], name])
    for (const [why, names] of byReason) it(`${group}: ${names.length} of ${names[0]}...`, { skip: why }, () => {})
    if (results !== null) written[group] = { passed: results.passed.length, skipped: results.skipped.map(({ name }) => name) }
  }
  env.dispose()
  if (writeFloor && !skip) writeFileSync(floorFile, `${JSON.stringify(written, null, 2)}\n`)
})
