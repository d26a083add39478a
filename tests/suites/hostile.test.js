// Damaged inputs: cut and bit-flipped copies of models and documents. Each ends in findings or a status, and the Env lives on.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError } from '../../wasm/js/index.js'
import { fetchModel, modelNames } from '../models.js'
import { customSpec } from '../support/spec.js'
import * as onnx from '../support/onnx.js'

const mutations = 1000

/** A generator of 32-bit numbers: the same damage in every run. */
function random (seed) {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

function damage (bytes, next) {
  if (next(4) === 0) return bytes.slice(0, next(bytes.length))
  const out = bytes.slice()
  // Most of a model is weights; the faults that matter lie in its skeleton, so half of the flips go to its ends.
  for (let flips = 1 + next(4); flips > 0; flips--) {
    const near = Math.min(bytes.length, 4096)
    const at = next(2) === 0 ? next(bytes.length) : next(2) === 0 ? next(near) : bytes.length - 1 - next(near)
    out[at] ^= 1 << next(8)
  }
  return out
}

/** Whether the Env still answers as it should. */
function alive (env) {
  const ok = onnx.model({
    ir: 8,
    opsets: { '': 17 },
    inputs: [onnx.value('x', 'float32', [2])],
    outputs: [onnx.value('y', 'float32', [2])],
    nodes: [onnx.node('Relu', ['x'], ['y'])]
  })
  return env.check(ok).ok
}

async function tryModel (env, bytes) {
  const report = env.check(bytes)
  assert.equal(typeof report.ok, 'boolean')
  try {
    const session = await env.createSession(bytes)
    session.dispose()
  } catch (error) {
    assert.ok(error instanceof OpspecError, String(error.stack))
    assert.notEqual(error.code, 'crashed', error.message)
  }
}

describe('damaged inputs', async () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  for (const [index, name] of modelNames.entries()) {
    const path = await fetchModel(name)
    it(`${mutations} damaged copies of ${name}`, { skip: path === null && `the model ${name} cannot be had` }, async () => {
      const bytes = new Uint8Array(await readFile(path)), next = random(index + 1)
      for (let i = 0; i < mutations; i++) await tryModel(env, damage(bytes, next))
      assert.ok(alive(env))
    })
  }

  it('1000 damaged copies of a document', () => {
    const bytes = new TextEncoder().encode(customSpec({
      domain: 'com.example',
      opType: 'Scale',
      attributes: { factor: { kind: 'float', required: false, default: 1.5, allowed_values: [1.5, 2], description: 'Factor.' } }
    }))
    const next = random(9)
    let faulty = 0
    for (let i = 0; i < 1000; i++) {
      const report = env.validateSpec(damage(bytes, next))
      if (!report.ok) faulty++
      for (const finding of report.findings) assert.match(finding.rule, /^[a-z]+(\.[A-Za-z0-9-]+)+$/)
    }
    assert.ok(faulty > 900, `${faulty} of 1000 had findings`)
    assert.ok(alive(env))
  })

  it('names and sizes that lie', async () => {
    const long = 'n'.repeat(1 << 20)
    const hostile = [
      onnx.model({ nodes: [onnx.node(long, [long], [long])], inputs: [onnx.value(long, 'float32', [2 ** 40, 2 ** 40])], outputs: [onnx.value(long, 'float32')] }),
      onnx.model({ nodes: [onnx.node('__proto__', ['constructor'], ['toString'])], inputs: [onnx.value('constructor', 'float32', [1])], outputs: [onnx.value('toString', 'float32', [1])] }),
      onnx.model({ inputs: [onnx.value('x', 'float32', [-1])], outputs: [onnx.value('x', 'float32', [-1])] }),
      onnx.model({ initializers: [onnx.tensor('w', 'float32', [2 ** 31, 2 ** 31, 2 ** 31], new Uint8Array(4))], outputs: [onnx.value('w', 'float32')] })
    ]
    for (const bytes of hostile) await tryModel(env, bytes)
    assert.ok(alive(env))
  })
})
