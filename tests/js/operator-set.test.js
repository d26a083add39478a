// Operator sets: what makes one wrong.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'

const text = (field, value) => [field << 3 | 2, value.length, ...new TextEncoder().encode(value)]
const operator = ({ name = 'Foo', since = 1, status }) => {
  const body = [...name === null ? [] : text(1, name), ...since === null ? [] : [2 << 3, since], ...status === undefined ? [] : [3 << 3, status]]
  return [8 << 3 | 2, body.length, ...body]
}
const operatorSet = ({ magic = 'ONNXOPSET', ir = 10, domain = 'com.example', version = 3, operators = [{}] }) => Uint8Array.from([
  ...magic === null ? [] : text(1, magic), ...ir === null ? [] : [2 << 3, ir], ...domain === null ? [] : text(4, domain), ...version === null ? [] : [5 << 3, version],
  ...operators.flatMap(operator)
])

describe('operator sets', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const check = (options, more) => env.check(operatorSet(options), { as: 'operator-set', ...more })

  it('a good one, found by content', () => {
    const report = env.check(operatorSet({ operators: [{ since: 2 }, { name: 'Bar', status: 1 }] }))
    assert.deepEqual([report.kind, report.ok, report.findings], ['operator-set', true, []])
  })
  it('one that is opened is checked as one in memory is', async () => {
    const bytes = operatorSet({ operators: [{ name: 'a b' }, { name: 'Bar', since: 4 }] })
    const source = { size: bytes.length, blob: null, readNow: (offset, target) => target.set(bytes.subarray(offset, offset + target.length)), close: () => {} }
    const opened = await Env.openDocument(env, source, null, 'operator-set')
    const rules = ({ findings }) => findings.map(({ rule, path }) => [rule, path])
    assert.deepEqual(rules(opened.check()), rules(env.check(bytes, { as: 'operator-set' })))
    assert.deepEqual(rules(opened.check()).map(([rule]) => rule).sort(), ['onnx.opset.name', 'onnx.opset.since'])
    opened.dispose()
  })
  const faults = {
    'no magic': [{ magic: null }, 'onnx.opset.header', 'error', 'magic'],
    'another magic': [{ magic: 'ONNX' }, 'onnx.opset.header', 'error', 'magic'],
    'no IR version': [{ ir: null }, 'onnx.opset.ir-version', 'error', 'ir_version'],
    'no version': [{ version: null }, 'onnx.opset.version', 'error', 'opset_version'],
    'no domain': [{ domain: null }, 'onnx.opset.domain', 'warning', 'domain'],
    'an operator without a name': [{ operators: [{ name: null }] }, 'onnx.opset.operator', 'error', 'operator[0].op_type'],
    'an operator without a version': [{ operators: [{}, { name: 'Bar', since: null }] }, 'onnx.opset.operator', 'error', 'operator[1].since_version'],
    'an operator twice': [{ operators: [{}, {}] }, 'onnx.opset.duplicate', 'error', 'operator[1].op_type'],
    'an operator that is too new': [{ operators: [{ since: 4 }] }, 'onnx.opset.since', 'warning', 'operator[0].since_version']
  }
  for (const [what, [options, rule, severity, path]] of Object.entries(faults)) {
    it(what, () => {
      assert.deepEqual(check(options).findings.map(finding => [finding.rule, finding.severity, finding.path]), [[rule, severity, path]])
      assert.equal(check(options, { strict: true }).ok, false)
      assert.ok(env.explain(rule).why.length > 0)
    })
  }
})
