// Kernels that say only what happens to one element.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, Tensor } from '../../wasm/js/index.js'
import { runTilt, tiltDocument, tiltEvidence, tiltKernel, tiltLine } from '../operators/ways.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const domain = 'org.test'

const caller = (opType, inputs, type, { outputs = 1, attributes = {} } = {}) => onnx.model({
  ir: 13, opsets: { '': 21, [domain]: 1 },
  inputs: inputs.filter(({ name }) => name !== '').map(({ name, shape = ['N'], type: own = type }) => onnx.value(name, own, shape)),
  outputs: Array.from({ length: outputs }, (_, i) => onnx.value(`y${i}`, type)),
  nodes: [onnx.node(opType, inputs.map(({ name }) => name), Array.from({ length: outputs }, (_, i) => `y${i}`), attributes, { domain })]
})

describe('elementwise kernels', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  async function run(spec, kernel, model, feeds) {
    const registration = env.registerOperator(spec, kernel)
    try {
      const session = await env.createSession(model)
      const results = await session.run(feeds)
      session.dispose()
      return results
    } finally {
      registration.dispose()
    }
  }

  it('one line is the operator that others write by hand, here and in a worker', async () => {
    const byHand = await createEnv()
    byHand.registerOperator(tiltDocument, tiltKernel)
    const expected = await runTilt(byHand)
    byHand.dispose()
    const registration = env.registerOperator(tiltDocument, tiltLine)
    assert.deepEqual(await runTilt(env), expected)
    registration.dispose()
    const worker = await createWorkerEnv()
    const source = 'const f = Math.fround\nexport default { elementwise: (x, slope, { softness }) => x < 0 ? f(f(slope * x) / f(1 + f(f(softness) * Math.abs(x)))) : x }'
    await worker.registerOperator(tiltDocument, source)
    assert.deepEqual(await runTilt(worker), expected)
    worker.dispose()
  })

  it('serves as a bundle\'s kernel.js', async () => {
    const files = { 'tilt.opspec.json': JSON.stringify({ ...JSON.parse(tiltDocument), tests: tiltEvidence.map((_, i) => `case-${i}.json`) }), 'kernel.js': 'export default { elementwise: (x, s, { softness }) => x < 0 ? s * x / (1 + softness * Math.abs(x)) : x }' }
    tiltEvidence.forEach((evidence, i) => { files[`case-${i}.json`] = JSON.stringify(evidence) })
    const { tests } = await env.test(files)
    assert.deepEqual(tests.map(({ status, backend, message }) => [backend, status, message]), tiltEvidence.map(() => ['js', 'passed', undefined]))
  })

  const spec = (types, inputs = ['A', 'B']) => customSpec({ domain, opType: 'More', inputs, types })
  const numbers = {
    float64: [[1.5, 2], [3.5, 4]], int8: [[-100, 5], [-98, 7]], uint8: [[1, 250], [3, 252]], int16: [[1, 2], [3, 4]], uint16: [[1, 2], [3, 4]],
    int32: [[-1, 2 ** 31 - 3], [1, 2 ** 31 - 1]], uint32: [[0, 2 ** 32 - 3], [2, 2 ** 32 - 1]], float16: [[1, 2048], [3, 2050]], bfloat16: [[1, 2], [3, 4]],
    float8e4m3fn: [[1, 2], [3, 4]], int4: [[-8, 1], [-6, 3]], uint4: [[1, 13], [3, 15]]
  }
  for (const [type, [given, expected]] of Object.entries(numbers)) {
    it(type, async () => {
      const onnxName = { float64: 'double' }[type] ?? type
      const { y0 } = await run(spec([`tensor(${onnxName})`, 'tensor(float)'], ['A']), { elementwise: a => a + 2 }, caller('More', [{ name: 'a' }], type), { a: new Tensor(type, given) })
      assert.equal(y0.type, type)
      assert.deepEqual(y0.toArray(), expected)
    })
  }
  it('64 bits are bigints, booleans and strings are what they are', async () => {
    const of = async (type, onnxName, kernel, a, b) => (await run(spec([`tensor(${onnxName})`]), kernel, caller('More', [{ name: 'a' }, { name: 'b', shape: [1] }], type), { a: new Tensor(type, a), b: new Tensor(type, b) })).y0.toArray()
    assert.deepEqual(await of('int64', 'int64', { elementwise: (a, b) => a + b }, [2n ** 62n, -1n], [1n]), [2n ** 62n + 1n, 0n])
    assert.deepEqual(await of('uint64', 'uint64', { elementwise: (a, b) => a + b }, [2n ** 64n - 2n, 1n], [1n]), [2n ** 64n - 1n, 2n])
    assert.deepEqual(await of('bool', 'bool', { elementwise: (a, b) => a !== b }, [true, false], [true]), [false, true])
    assert.deepEqual(await of('string', 'string', { elementwise: (a, b) => a + b }, ['ö', ''], ['x']), ['öx', 'x'])
  })

  it('several outputs, another type, an input that is left out', async () => {
    const document = JSON.parse(customSpec({ domain, opType: 'More', inputs: ['A', 'B'], outputs: ['Y', 'Same'] }))
    document.inputs[1].cardinality = 'optional'
    document.outputs[1].type_parameter = 'Flag'
    document.type_parameters.Flag = { allowed_types: ['tensor(bool)'], description: 'Truth.' }
    const model = onnx.model({
      opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('a', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N']), onnx.value('same', 'bool', ['N'])],
      nodes: [onnx.node('More', ['a'], ['y', 'same'], {}, { domain })]
    })
    const { y, same } = await run(document, { elementwise: (a, b = 2) => [a * b, a === b] }, model, { a: new Tensor('float32', [1, 2]) })
    assert.deepEqual(y.toArray(), [2, 4])
    assert.deepEqual(same.toArray(), [false, true])
  })

  // By shapes: the same, one element on either side, rows, columns, neither; without elements; rank 0.
  const shapes = [[[2, 3], [2, 3]], [[2, 3], [1]], [[], [2, 3]], [[2, 3], [3]], [[2, 3], [2, 1]], [[2, 1], [1, 3]], [[1, 1, 1], [3]], [[0, 3], [1]], [[0], [0]], [[], []]]
  for (const type of ['float32', 'float64', 'int32', 'uint8', 'int16']) {
    it(`every way of broadcasting is one: ${type}`, async () => {
      const onnxName = { float32: 'float', float64: 'double' }[type] ?? type
      const fill = (dims, from) => new Tensor(type, Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => from + i), dims)
      for (const [a, b] of shapes) {
        const model = caller('More', [{ name: 'a', shape: a }, { name: 'b', shape: b }], type)
        const feeds = { a: fill(a, 1), b: fill(b, 10) }
        const given = (await run(spec([`tensor(${onnxName})`]), { elementwise: (x, y) => x + 2 * y }, model, feeds)).y0
        // The same by three inputs, of which two are one, and by the long way, which four inputs take.
        const names = ['a', 'b', 'b', 'b'].map((name, i) => ({ name, shape: i === 0 ? a : b }))
        for (const count of [3, 4]) {
          const inputs = names.slice(0, count).map(({ name }) => name)
          const wide = onnx.model({ opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('a', type, a), onnx.value('b', type, b)], outputs: [onnx.value('y', type)], nodes: [onnx.node('More', inputs, ['y'], {}, { domain })] })
          const { y } = await run(spec([`tensor(${onnxName})`], ['A', 'B', 'C', 'D'].slice(0, count)), { elementwise: (x, y) => x + 2 * y }, wide, feeds)
          assert.deepEqual([y.dims, y.toArray()], [given.dims, given.toArray()])
        }
      }
    })
  }
  it('a result that the output cannot hold is found wherever it stands', async () => {
    const data = Array.from({ length: 100 }, () => 1)
    const failing = (elementwise, message) => assert.rejects(run(spec(['tensor(int8)'], ['A', 'B']), { elementwise }, caller('More', [{ name: 'a' }, { name: 'b', shape: [1] }], 'int8'), { a: new Tensor('int8', [...data, 2]), b: new Tensor('int8', [1]) }), { code: 'operator_failed', message })
    await failing((a, b) => a === 2 ? 300 : a + b, /data\[100\] is 300, which int8 cannot hold/)
    await failing((a, b) => a === 2 ? 0.5 : a + b, /data\[100\] is 0\.5/)
    await failing((a, b) => a === 2 ? NaN : a + b, /data\[100\] is NaN/)
    await failing((a, b) => a === 2 ? undefined : a + b, /answered nothing for output 0/)
    await failing((a, b) => a === 2 ? 'text' : a + b, /data\[100\]/)
  })

  it('variadic inputs', async () => {
    const document = JSON.parse(customSpec({ domain, opType: 'More', inputs: ['A'] }))
    document.inputs[0].cardinality = 'variadic'
    const { y0 } = await run(document, { elementwise: (...values) => Math.max(...values.slice(0, -1)) }, caller('More', [{ name: 'a' }, { name: 'b', shape: [] }, { name: 'c', shape: [2, 1] }], 'float32'),
      { a: new Tensor('float32', [1, 5, 3]), b: new Tensor('float32', [2], []), c: new Tensor('float32', [4, 0], [2, 1]) })
    assert.deepEqual(y0.toArray(), [[4, 5, 4], [2, 5, 3]])
  })

  it('shapes are inferred with their symbols', () => {
    const registration = env.registerOperator(spec(['tensor(float)']), { elementwise: (a, b) => a + b })
    const shape = (a, b, declared) => env.check(onnx.model({
      opsets: { '': 21, [domain]: 1 }, inputs: [onnx.value('a', 'float32', a), onnx.value('b', 'float32', b)], outputs: [onnx.value('y', 'float32', declared)],
      nodes: [onnx.node('More', ['a', 'b'], ['y'], {}, { domain })]
    })).findings.filter(({ severity }) => severity === 'error').map(({ rule, message }) => `${rule} ${message}`)
    assert.deepEqual(shape(['N', 3], [3], ['N', 3]), [])
    assert.match(shape(['N', 3], ['M', 1, 1], ['M', 'N', 4])[0], /^infer\.shape\.mismatch .*\[M, N, 3\]/)
    assert.match(shape([2, 3], [4, 1], [4, 3])[0], /the shapes \[2, 3\] and \[4, 1\] do not broadcast/)
    registration.dispose()
  })

  it('says what a function does wrong', async () => {
    const failing = (kernel, message, type = 'float32', onnxName = 'float') => assert.rejects(
      run(spec([`tensor(${onnxName})`], ['A']), kernel, caller('More', [{ name: 'a' }], type), { a: new Tensor(type, [1, 2]) }), { code: 'operator_failed', message })
    await failing({ elementwise: () => {} }, /answered nothing for output 0/)
    await failing({ elementwise: a => a / 4 }, /data\[0\] is 0\.25, which int32 cannot hold/, 'int32', 'int32')
    await failing({ elementwise: a => a + 300 }, /301, which uint8 cannot hold/, 'uint8', 'uint8')
    await failing({ elementwise() { throw new Error('not today') } }, /not today/)
    await failing({ elementwise: a => a }, /complex64, which an elementwise kernel does not take/, 'complex64', 'complex64').catch(() => {})
  })

  it('is refused with what cannot be beside it, and where a type is not given', () => {
    const refused = (kernel, message, document = spec(['tensor(float)'])) => assert.throws(() => env.registerOperator(document, kernel), { code: 'invalid_argument', message })
    refused({ elementwise: 1 }, /elementwise must be a function/)
    refused({ elementwise: a => a, compute: () => [] }, /no compute of its own/)
    refused({}, /no function compute or elementwise/)
    const open = JSON.parse(spec(['tensor(float)', 'tensor(double)']))
    open.outputs[0].type_parameter = 'Other'
    open.attributes.to = { kind: 'int', required: true, default: null, allowed_values: null, description: 'Which type.' }
    open.type_parameters.Other = { allowed_types: ['tensor(float)', 'tensor(double)'], description: 'Another.' }
    refused({ elementwise: a => a }, /type of output "Y"/, open)
    assert.ok(env.operators().every(({ domain: other }) => other !== domain))
  })
})
