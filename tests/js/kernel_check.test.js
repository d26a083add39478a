// What a check says of a bundle's kernel.onnx: of its own faults, what it needs, and whether it fits the document. Nothing of it is run.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, createWorkerEnv } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

const domain = 'org.test'
const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const fn = (nodes = [onnx.node('Relu', ['X'], ['Y'])], more = {}) => onnx.functionProto({ domain, name: 'Own', inputs: ['X'], outputs: ['Y'], opsets: { '': 21 }, nodes, ...more })
const custom = (name, of = domain) => fn([onnx.node(name, ['X'], ['Y'], {}, { domain: of })], { opsets: { '': 21, [of]: 1 } })
const spec = customSpec({ domain, opType: 'Own' })
const other = customSpec({ domain, opType: 'Beside' })

// Bytes, and what is found: 'severity rule path', after them what is incomplete.
const cases = {
  'good': [fn(), []],
  'a model that is good': [onnx.model({ inputs: [onnx.value('X', 'float32', ['N'])], outputs: [onnx.value('Y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['X'], ['Y'])] }), []],
  'no protobuf': [Uint8Array.of(1, 2, 3), ['error wire.tag']],
  'empty': [new Uint8Array(0), ['error wire.empty']],
  'cut': [fn().subarray(0, fn().length - 3), ['error wire.truncated domain']],
  'a node with too few inputs': [fn([onnx.node('Mul', ['X'], ['Y'])]), ['error model.node.arity node[0]']],
  'a name that nothing makes': [fn([onnx.node('Relu', ['Z'], ['Y'])]), ['error model.node.input-unknown node[0].input[0]']],
  'an operator that ONNX does not have': [fn([onnx.node('Rulu', ['X'], ['Y'])]), ['error model.node.unknown-operator node[0]', /Rulu/]],
  'an operator that nobody knows': [custom('Foo', 'org.else'), ['warning model.node.unknown-operator node[0]', /Foo/]],
  'an operator of a document beside it': [custom('Beside'), []],
  'itself': [custom('Own'), ['error model.function.recursive']],
  'a domain that it does not import': [fn(undefined, { opsets: { [domain]: 1 } }), ['error model.node.domain node[0]', /Relu/]],
  'no operator sets': [fn(undefined, { opsets: {} }), ['info model.opset.assumed', 'error spec.bundle.function-signature opsetImport']],
  'an operator set of the future': [fn(undefined, { opsets: { '': 999 } }), ['warning model.opset.newer opset_import[0]']],
  'another name': [fn(undefined, { name: 'Other' }), ['error spec.bundle.function-signature name']],
  'data in another file': [onnx.model({ inputs: [onnx.value('X', 'float32', [3])], outputs: [onnx.value('Y', 'float32', [3])], initializers: [onnx.externalTensor('w', 'float32', [3], 'w.bin')], nodes: [onnx.node('Mul', ['X', 'w'], ['Y'])] }), ['error onnx.external.missing graph.initializer[0].external_data']]
}

const told = ({ findings, incomplete }, name) => [...findings.filter(({ file }) => file === name).map(({ severity, rule, path }) => `${severity} ${rule}${path === undefined ? '' : ` ${path}`}`), ...incomplete]
const same = (given, expected) => assert.ok(given.length === expected.length && expected.every((item, i) => item instanceof RegExp ? item.test(given[i]) && given[i].includes('kernel.onnx') : item === given[i]), JSON.stringify(given))

describe('a kernel.onnx in a check', () => {
  let env
  let folder
  before(async () => {
    env = await createEnv()
    folder = mkdtempSync(join(tmpdir(), 'opspec-kernel-'))
  })
  after(() => {
    env.dispose()
    rmSync(folder, { recursive: true })
  })

  for (const [name, [bytes, expected]] of Object.entries(cases)) {
    it(name, () => {
      const listed = env.operators()
      const report = env.check(zip({ 'own/own.opspec.json': spec, 'own/kernel.onnx': bytes, 'beside/beside.opspec.json': other }))
      same(told(report, 'own/kernel.onnx'), expected)
      const errors = expected.some(item => String(item).startsWith('error'))
      const cut = expected.some(item => item instanceof RegExp)
      assert.deepEqual([report.kind, report.ok, report.complete], ['bundle', !errors && !cut, !cut])
      assert.equal(report.counts.error, report.findings.filter(({ severity }) => severity === 'error').length)
      assert.deepEqual(env.operators(), listed)
      if (name === 'an operator of a document beside it') return
      const single = env.validateSpec(spec, { files: { 'kernel.onnx': bytes } })
      same(told(single, 'kernel.onnx'), expected)
      assert.equal(single.ok, report.ok)
    })
  }

  it('is not compared with a document that has errors, and is looked at all the same', () => {
    const report = env.check(zip({ 'a.opspec.json': spec.replace('"single"', '"twice"'), 'kernel.onnx': fn([onnx.node('Mul', ['X'], ['Y'])], { name: 'Other' }) }))
    assert.deepEqual(told(report, 'kernel.onnx'), ['error model.node.arity node[0]'])
  })
  it('is compared with a document behind a byte-order mark', () => {
    const files = { 'kernel.onnx': fn(undefined, { name: 'Other' }) }
    for (const marked of [`\uFEFF${spec}`, new TextEncoder().encode(`\uFEFF${spec}`)]) same(told(env.validateSpec(marked, { files }), 'kernel.onnx'), cases['another name'][1])
  })
  it('is found with an operator that is registered, in a worker, strictly and without inference', async () => {
    const registration = env.registerOperator(spec, { compute: inputs => inputs })
    same(told(env.check(zip({ 'a.opspec.json': spec, 'kernel.onnx': fn(undefined, { name: 'Other' }) })), 'kernel.onnx'), cases['another name'][1])
    registration.dispose()
    const bytes = zip({ 'a.opspec.json': spec, 'kernel.onnx': custom('Foo', 'org.else') })
    assert.deepEqual(told(env.check(bytes, { full: false }), 'kernel.onnx'), ['warning model.node.unknown-operator node[0]'])
    assert.match(told(env.check(bytes, { strict: true }), 'kernel.onnx')[0], /^error model\.node\.unknown-operator/)
    const worker = await createWorkerEnv()
    same(told(await worker.check(bytes), 'kernel.onnx'), cases['an operator that nobody knows'][1])
    worker.dispose()
  })
  it('explains its rule, and marks the same finding the same way', () => {
    assert.ok(env.rules().includes('spec.bundle.function-signature'))
    const bytes = zip({ 'a.opspec.json': spec, 'kernel.onnx': fn(undefined, { name: 'Other' }) })
    const [once, again] = [1, 2].map(() => env.check(bytes).findings.find(({ rule }) => rule === 'spec.bundle.function-signature'))
    assert.match(once.fingerprint, /^[0-9a-f]{16}$/)
    assert.equal(once.fingerprint, again.fingerprint)
  })
  it('opspec check says it with the place', () => {
    const path = join(folder, 'own')
    mkdirSync(path)
    for (const [name, content] of Object.entries({ 'own.opspec.json': spec, 'kernel.onnx': fn([onnx.node('Relu', ['Z'], ['Y'])]) })) writeFileSync(join(path, name), content)
    for (const target of [path, join(folder, 'own.zip')]) {
      if (target !== path) writeFileSync(target, zip({ 'own.opspec.json': spec, 'kernel.onnx': fn([onnx.node('Relu', ['Z'], ['Y'])]) }))
      const { status, stdout } = spawnSync(process.execPath, [cli, 'check', target], { encoding: 'utf8' })
      assert.equal(status, 1)
      assert.match(stdout, /kernel\.onnx.*node\[0\]\.input\[0\]/)
      assert.match(stdout, /model\.node\.input-unknown/)
    }
    for (const format of ['json', 'sarif', 'junit', 'github']) {
      const { status, stdout } = spawnSync(process.execPath, [cli, 'check', path, '--format', format], { encoding: 'utf8' })
      assert.equal(status, 1)
      assert.match(stdout, /kernel\.onnx/, format)
    }
  })
})
