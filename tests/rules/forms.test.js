// The three forms of evidence, one meaning: a folder in ONNX's layout, a zip of it, a document.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

const domain = 'org.test'
const kernel = 'export default { compute: ([x, by], { factor }) => [{ ...x, data: x.data.map((v, i) => v * factor + (by ? by.data[i] : 0)) }] }'
const factor = { kind: 'float', required: false, default: 2, allowed_values: null, description: 'Factor.' }

describe('forms of evidence', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const tensor = (name, ...data) => env.writeValue(new Tensor('float32', Float32Array.from(data)), name)
  const set = (input, output, ...more) => ({ 'input_0.pb': tensor('x', ...input), ...more.length > 0 && { 'input_1.pb': tensor('by', ...more[0]) }, 'output_0.pb': tensor('y', ...output) })
  const model = attributes => onnx.model({
    opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('x', 'float32', [2])], outputs: [onnx.value('y', 'float32', [2])],
    nodes: [onnx.node('Scale', ['x'], ['y'], attributes, { domain })]
  })
  const folder = (name, sets, more = {}) => Object.fromEntries([
    ...sets.flatMap((files, n) => Object.entries(files).map(([file, bytes]) => [`${name}test_data_set_${n}/${file}`, bytes])), ...Object.entries(more).map(([file, bytes]) => [name + file, bytes])
  ])
  function bundle(tests, files) {
    const document = JSON.parse(customSpec({ domain, opType: 'Scale', tests, attributes: { factor } }))
    document.inputs.push({ name: 'by', cardinality: 'optional', type_parameter: 'T', description: 'What is added.' })
    return { 'scale.opspec.json': JSON.stringify(document), 'kernel.js': kernel, ...files }
  }
  const results = async files => (await env.test(files)).tests.map(({ name, status, message }) => [name, status, ...message ? [message] : []])
  const said = async files => env.validateSpec(files['scale.opspec.json'], { files }).findings.map(({ rule, file }) => [rule, file])

  it('a folder and a zip of it: attributes are those of the model\'s node, else the defaults', async () => {
    const tripled = [set([1, -2], [3, -6]), set([0, 5], [0, 15])]
    const doubled = [set([1, -2], [2, -4])]
    const node = { 'model.onnx': model({ factor: 3 }) }
    const files = bundle(['with-model', 'plain', 'packed', 'packed-plain.zip'], {
      ...folder('with-model/', tripled, node), ...folder('plain/', doubled),
      'packed.zip': zip(folder('', tripled, node)), 'packed-plain.zip': zip(folder('top/', doubled), { deflate: true })
    })
    assert.deepEqual(await said(files), [])
    assert.deepEqual(await results(files), [
      ['with-model/test_data_set_0', 'passed'], ['with-model/test_data_set_1', 'passed'], ['plain/test_data_set_0', 'passed'],
      ['packed/test_data_set_0', 'passed'], ['packed/test_data_set_1', 'passed'], ['packed-plain.zip/test_data_set_0', 'passed']
    ])
  })

  it('data sets compare as the standard does: rtol 1e-3, atol 1e-7', async () => {
    const of = (...outputs) => bundle(['sets'], folder('sets/', outputs.map(output => set([1, 0], output))))
    assert.deepEqual((await results(of([2.0015, 0], [2, 9e-8], [2.003, 0], [2, 2e-7], [2, -0]))).map(([, status]) => status), ['passed', 'passed', 'failed', 'failed', 'passed'])
  })

  it('inputs that have no file are left out', async () => {
    const files = bundle(['sets'], folder('sets/', [set([1, 2], [2, 4]), set([1, 2], [3, 5], [1, 1])]))
    assert.deepEqual((await results(files)).map(([, status]) => status), ['passed', 'passed'])
  })

  it('a finding names the data set', async () => {
    const { tests: [{ findings: [finding] }] } = await env.test(bundle(['sets'], folder('sets/', [set([1, 2], [2, 5])])))
    assert.equal(finding.rule, 'evidence.value')
    assert.match(finding.file, /^sets\/test_data_set_0/)
    assert.deepEqual([finding.expected, finding.actual], ['5', '4'])
  })

  it('what is no form of evidence is said when it is checked, and is an error when it is run', async () => {
    const { 'input_0.pb': input } = set([1, 2], [2, 4])
    for (const [name, files] of Object.entries({
      'a data set without an output': { 'case/test_data_set_0/input_0.pb': input },
      'a folder without data': { 'case/notes.json': '{}' }, 'a text': { 'case.txt': 'hello' }, 'another JSON': { 'case.json': '{ "kind": "other" }' }, 'a list': { 'case.json': '[]' }
    })) {
      const whole = bundle([Object.keys(files)[0].replace(/\/.*|\.json$/, '')], files)
      if (!name.endsWith('an output')) assert.ok((await said(whole)).some(([rule]) => rule === 'evidence.form'), name)
      const tests = await results(whole)
      assert.deepEqual(tests.map(([, status]) => status), ['error'], `${name}: ${tests}`)
    }
  })
})
