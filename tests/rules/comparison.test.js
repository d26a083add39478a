// How evidence compares, by type and by tolerance, and what it says of a difference. Operators of the standard stand for kernels:
// Identity answers its input, so that `inputs` are what came out and `outputs` what was expected.
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'

// -0 survives, which JSON.stringify writes as 0.
const write = value => JSON.stringify(value, (_, item) => Object.is(item, -0) ? '\u0000minus zero' : item).replaceAll('"\\u0000minus zero"', '-0.0')
const tensor = (type, data, shape = [data.length]) => ({ type: `tensor(${type})`, shape, data })
const base64 = bytes => ({ base64: Buffer.from(bytes).toString('base64') })

describe('comparison', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  async function run(operator, more) {
    const evidence = { kind: 'opspec.evidence', version: '1', operator: { op_type: operator }, ...more }
    const { tests } = await env.test({ 'case.json': write(evidence) })
    assert.equal(tests.length, 1)
    return tests[0]
  }
  const compare = (actual, expected, more) => run('Identity', { inputs: [actual], outputs: [expected], ...more })
  async function equal(actual, expected, more) {
    const { status, message } = await compare(actual, expected, more)
    assert.equal(status, 'passed', `${JSON.stringify([actual, expected, more])}: ${message}`)
  }
  async function differs(actual, expected, more) {
    const { status, findings, message } = await compare(actual, expected, more)
    assert.equal(status, 'failed', `${JSON.stringify([actual, expected, more])}: ${message}`)
    assert.deepEqual(findings.map(({ rule }) => rule), ['evidence.value'])
    return findings[0]
  }

  // type: [within the default tolerance], [outside], as pairs of actual and expected.
  const defaults = {
    double: [[[1, 1 + 5e-10], [0, 5e-13], [-1e300, -1.0000000005e300]], [[1, 1 + 5e-9], [0, 5e-12]]],
    float: [[[1, 1.000005], [0, 5e-8], [1e30, 1.000005e30]], [[1, 1.00002], [0, 5e-7]]],
    float16: [[[1, 1.001953125], [0, 0.00006103515625]], [[1, 1.0029296875], [0, 0.0001220703125]]],
    bfloat16: [[[1, 1.0078125], [0, 0.0009765625]], [[1, 1.015625], [0, 0.001953125]]],
    float8e4m3fn: [[[1, 1]], [[1, 1.125]]], float8e4m3fnuz: [[[1, 1]], [[1, 1.125]]], float8e5m2: [[[1, 1]], [[1, 1.25]]], float8e5m2fnuz: [[[1, 1]], [[1, 1.25]]],
    float4e2m1: [[[1, 1]], [[1, 1.5]]], float8e8m0: [[[2, 2]], [[2, 4]]],
    int8: [[[-128, -128]], [[1, 2]]], uint8: [[[255, 255]], [[1, 2]]], int16: [[[1, 1]], [[1, 2]]], uint16: [[[65535, 65535]], [[1, 2]]], int32: [[[1, 1]], [[1, 2]]],
    uint32: [[[4294967295, 4294967295]], [[1, 2]]], int64: [[['9007199254740993', '9007199254740993'], [-5, '-5']], [['9007199254740993', '9007199254740992']]],
    uint64: [[['18446744073709551615', '18446744073709551615']], [['18446744073709551615', '18446744073709551614']]], int4: [[[-8, -8]], [[1, 2]]], uint4: [[[15, 15]], [[1, 2]]],
    int2: [[[-2, -2]], [[0, 1]]], uint2: [[[3, 3]], [[0, 1]]], bool: [[[true, true]], [[true, false]]], string: [[['ä', 'ä'], ['', '']], [['a', 'A'], ['a', 'a ']]]
  }
  for (const [type, [within, outside]] of Object.entries(defaults)) {
    it(`of ${type}`, async () => {
      for (const [a, e] of within) await equal(tensor(type, [a, a]), tensor(type, [a, e]))
      for (const [a, e] of outside) await differs(tensor(type, [a, a]), tensor(type, [a, e]))
    })
  }
  it('of complex64 and complex128', async () => {
    for (const [type, step] of [['complex64', 1e-5], ['complex128', 1e-9]]) {
      await equal(tensor(type, [1, 2], [1]), tensor(type, [1 + step / 2, 2], [1]))
      await differs(tensor(type, [1, 2], [1]), tensor(type, [1, 2 + 5 * step], [1]))
    }
  })

  it('ints, bools and strings are exact whatever the tolerance', async () => {
    await differs(tensor('int32', [1]), tensor('int32', [2]), { tolerance: { rtol: 10, atol: 10 } })
    await differs(tensor('int32', [1]), tensor('int32', [2]), { tolerance: { ulp: 10 } })
    await differs(tensor('bool', [true]), tensor('bool', [false]), { tolerance: { atol: 10 } })
  })
  it('NaN equals NaN; an infinity only itself', async () => {
    for (const type of ['float', 'double', 'float16', 'bfloat16']) {
      await equal(tensor(type, ['NaN', 'Infinity', '-Infinity']), tensor(type, ['NaN', 'Infinity', '-Infinity']))
      for (const [a, e] of [['NaN', 1], [1, 'NaN'], ['Infinity', '-Infinity'], ['Infinity', 'NaN'], [1, 'Infinity'], ['Infinity', 1]]) await differs(tensor(type, [a]), tensor(type, [e]), { tolerance: { rtol: 1e9, atol: 1e9 } })
    }
  })
  it('an expected -0 asks for -0, unless signed_zero is false', async () => {
    for (const type of ['float', 'double', 'float16', 'bfloat16']) {
      await equal(tensor(type, [-0]), tensor(type, [-0]))
      await equal(tensor(type, [-0]), tensor(type, [0]))
      await differs(tensor(type, [0]), tensor(type, [-0]))
      await differs(tensor(type, [0]), tensor(type, [-0]), { tolerance: { atol: 1 } })
      await equal(tensor(type, [0]), tensor(type, [-0]), { signed_zero: false })
      await equal(tensor(type, [0]), tensor(type, [-0]), { tolerance: { signed_zero: false } })
    }
  })
  it('a tolerance of its own: relative to the expected value, absolute, in representable values', async () => {
    await equal(tensor('float', [90]), tensor('float', [100]), { tolerance: { rtol: 0.1, atol: 0 } })
    await differs(tensor('float', [100]), tensor('float', [90]), { tolerance: { rtol: 0.1, atol: 0 } })
    await equal(tensor('float', [1.5]), tensor('float', [1]), { tolerance: { rtol: 0, atol: 0.5 } })
    await differs(tensor('float', [1.5000001]), tensor('float', [1]), { tolerance: { rtol: 0, atol: 0.5 } })
    await differs(tensor('float', [1.0000001192092896]), tensor('float', [1]), { tolerance: { rtol: 0, atol: 0 } })
    await equal(tensor('float8e4m3fn', [1]), tensor('float8e4m3fn', [1.125]), { tolerance: { rtol: 0.2 } })
    const next = { float: 1.0000001192092896, double: 1.0000000000000002, float16: 1.0009765625, bfloat16: 1.0078125, float8e4m3fn: 1.125 }
    for (const [type, above] of Object.entries(next)) {
      const twice = 2 * above - 1
      await equal(tensor(type, [1]), tensor(type, [above]), { tolerance: { ulp: 1 } })
      await differs(tensor(type, [1]), tensor(type, [twice]), { tolerance: { ulp: 1 } })
      await equal(tensor(type, [1]), tensor(type, [twice]), { tolerance: { ulp: 2 } })
      await differs(tensor(type, [1]), tensor(type, [above]), { tolerance: { ulp: 0 } })
    }
    await equal(tensor('float', [1.401298464324817e-45]), tensor('float', [-1.401298464324817e-45]), { tolerance: { ulp: 2 } })
    await differs(tensor('float', [1.401298464324817e-45]), tensor('float', [-1.401298464324817e-45]), { tolerance: { ulp: 1 } })
  })
  it('a tolerance for each output', async () => {
    const halves = tolerance => run('Split', { attributes: { num_outputs: 2 }, inputs: [tensor('float', [1, 2])], outputs: [tensor('float', [1]), tensor('float', [2.5])], ...tolerance && { tolerance } })
    assert.equal((await halves([null, { atol: 0.5 }])).status, 'passed')
    assert.equal((await halves([{}, { atol: 0.5 }])).status, 'passed')
    for (const tolerance of [undefined, [{ atol: 0.5 }], [{ atol: 0.5 }, null], [{ atol: 0.5 }, { atol: 0.4 }]]) {
      const { status, findings } = await halves(tolerance)
      assert.equal(status, 'failed')
      assert.equal(findings[0].pointer, '/outputs/1/data/0')
    }
    assert.equal((await halves({ atol: 0.5 })).status, 'passed')
  })
  it('an output that is left out is not compared', async () => {
    const normalize = outputs => run('LayerNormalization', { inputs: [tensor('float', [1, 3], [1, 2]), tensor('float', [1, 1])], outputs })
    const y = tensor('float', [-0.999995, 0.999995], [1, 2])
    const scale = value => tensor('float', [value], [1, 1])
    assert.equal((await normalize([y, null, scale(0.999995)])).status, 'passed')
    assert.equal((await normalize([y])).status, 'passed')
    const { status, findings } = await normalize([y, null, scale(2)])
    assert.deepEqual([status, findings[0].pointer], ['failed', '/outputs/2/data/0'])
  })
  it('by shape: types and shapes count, values do not', async () => {
    await equal(tensor('float', [1, 2]), tensor('float', [3, 'NaN']), { compare: 'shape' })
    await differs(tensor('float', [1, 2]), tensor('float', [1, 2], [2, 1]), { compare: 'shape' })
    await differs(tensor('float', [1, 2]), tensor('float', [1, 2], [1, 2]))
    await equal(tensor('float', [], [0, 3]), tensor('float', [], [0, 3]))
    await differs(tensor('float', [], [0, 3]), tensor('float', [], [3, 0]))
    await equal(tensor('float', [7], []), tensor('float', [7], []))
  })
  it('sequences and optionals, item by item', async () => {
    const sequence = (...items) => ({ type: 'seq(tensor(float))', items })
    const optional = value => ({ type: 'optional(tensor(float))', value })
    await equal(sequence(tensor('float', [1]), tensor('float', [2, 3])), sequence(tensor('float', [1]), tensor('float', [2, 3.00001])))
    const { message } = await differs(sequence(tensor('float', [1]), tensor('float', [2, 3])), sequence(tensor('float', [1]), tensor('float', [2, 4])))
    assert.match(message, /item \[1\].*element \[1\] is 3, expected 4/)
    await differs(sequence(tensor('float', [1])), sequence())
    await equal(sequence(), sequence())
    await equal(optional(tensor('float', [1])), optional(tensor('float', [1])))
    await differs(optional(tensor('float', [1])), optional(null))
    await differs(optional(null), optional(tensor('float', [1])))
  })

  it('the report names the first element that differs, both values, how many and how far', async () => {
    const finding = await differs(tensor('float', [1, 2, 3, 4, 5, 6], [2, 3]), tensor('float', [1, 2, 3.5, 4, 5, 8], [2, 3]))
    assert.equal(finding.message, 'output 0: element [0, 2] is 3, expected 3.5; 2 of 6 differ, at most by 2 (relative 0.25, 4194304 ULP)')
    assert.deepEqual([finding.pointer, finding.expected, finding.actual, finding.file], ['/outputs/0/data/2', '3.5', '3', 'case.json'])
    assert.ok(finding.range.start.byte > 0)
    const ints = await differs(tensor('int64', [1, '9007199254740993']), tensor('int64', [1, '9007199254740992']))
    assert.equal(ints.message, 'output 0: element [1] is 9007199254740993, expected 9007199254740992; 1 of 2 differ')
  })

  it('bytes in base64 are those of raw_data, little-endian, small types packed', async () => {
    for (const [type, data, bytes] of [
      ['float', [1.5, -2], [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]], ['int16', [1, -2], [1, 0, 0xfe, 0xff]], ['uint32', [0x01020304], [4, 3, 2, 1]], ['int64', [-1], new Array(8).fill(255)], ['bool', [true, false], [1, 0]],
      ['float16', [1, -2], [0, 0x3c, 0, 0xc0]], ['bfloat16', [1, -2], [0x80, 0x3f, 0, 0xc0]], ['float8e4m3fn', [1], [0x38]], ['int4', [1, -1, 2], [0xf1, 0x02]], ['uint4', [1, 15], [0xf1]], ['int2', [1, -1, 0, -2], [0b10001101]], ['uint2', [3], [3]], ['float4e2m1', [1, 1.5], [0x32]]
    ]) {
      await equal(tensor(type, data), tensor(type, base64(bytes), [data.length]))
      await equal(tensor(type, base64(bytes), [data.length]), tensor(type, data))
    }
    await equal(tensor('complex64', [1, -2], [1]), tensor('complex64', base64([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]), [1]))
  })

  describe('expected errors', () => {
    const stages = {
      check: ['Relu', { attributes: { slope: 1 }, inputs: [tensor('float', [1])] }],
      infer: ['MatMul', { inputs: [tensor('float', [1, 2], [1, 2]), tensor('float', [1, 2, 3], [3, 1])] }],
      run: ['Gather', { inputs: [tensor('float', [1, 2]), tensor('int64', [7])] }]
    }
    for (const [stage, [operator, more]] of Object.entries(stages)) {
      it(`at ${stage}`, async () => {
        const found = await run(operator, { ...more, outputs: [tensor('float', [1])] })
        assert.notEqual(found.status, 'passed')
        const expecting = expect_error => run(operator, { ...more, expect_error })
        for (const wanted of ['', { stage }, { stage, contains: '' }]) assert.equal((await expecting(wanted)).status, 'passed', JSON.stringify(wanted))
        for (const other of Object.keys(stages).filter(name => name !== stage)) {
          const { status, findings } = await expecting({ stage: other })
          assert.deepEqual([status, findings.map(({ rule }) => rule)], ['failed', ['evidence.error']], `${other} where it is ${stage}`)
        }
        const { status, findings: [finding] } = await expecting({ stage, contains: 'something else entirely' })
        assert.equal(status, 'failed')
        assert.equal(finding.pointer, '/expect_error')
        assert.equal((await expecting({ stage, contains: finding.actual.slice(2, 12) })).status, 'passed', finding.actual)
      })
    }
    it('a limit never counts', async () => {
      const small = await createEnv({ limits: { memory: 64 << 20 } })
      const evidence = { kind: 'opspec.evidence', version: '1', operator: { op_type: 'Expand' }, inputs: [tensor('float', [1]), tensor('int64', [100, 1000, 1000])], expect_error: '' }
      const { tests } = await small.test({ 'case.json': write(evidence) })
      assert.notEqual(tests[0].status, 'passed')
      small.dispose()
    })
  })
})
