// Methods of an Env but running: what they answer, what they refuse.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

export const refuses = (make, argument) => assert.throws(make, error => {
  assert.ok(error instanceof OpspecError, String(error.stack))
  assert.equal(error.code, 'invalid_argument', error.message)
  assert.ok(error.message.startsWith(argument), `'${error.message}' does not name ${argument}`)
  return true
})

const relu = (more = {}) => onnx.model({
  inputs: [onnx.value('x', 'float32', ['N', 3, null])], outputs: [onnx.value('y', 'float32', ['N', 3, null])], nodes: [onnx.node('Relu', ['x'], ['y'])], ...more
})

describe('Env', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  describe('check', () => {
    it('finds the kind by content', () => {
      const kinds = {
        model: relu(), json: '{"a": 1}', spec: customSpec({ domain: 'org.test', opType: 'Foo' }),
        evidence: JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [], outputs: [] }),
        tensor: onnx.tensor('t', 'float32', [2], Float32Array.of(1, 2))
      }
      for (const [kind, content] of Object.entries(kinds)) assert.equal(env.check(content).kind, kind, kind)
    })
    it('takes texts, typed arrays and array buffers alike', () => {
      const text = customSpec({ domain: 'org.test', opType: 'Foo' })
      const bytes = new TextEncoder().encode(text)
      const forms = [text, bytes, bytes.buffer, new DataView(bytes.buffer), new Uint8Array([0, ...bytes]).subarray(1)]
      for (const form of forms) assert.deepEqual(env.check(form), env.check(text))
    })
    it('takes long texts of any letters', () => {
      const filler = 'x'.repeat(50_000)
      for (const text of [filler, `é${filler}`, `${filler}\u{1f600}${filler}é`, `${filler}\ufffd${filler}`]) {
        const json = JSON.stringify({ a: text }) + ']'
        const report = env.check(json)
        assert.equal(report.findings[0].rule, 'json.syntax')
        assert.equal(report.findings[0].range.start.utf16, json.length - 1)
        assert.deepEqual(report, env.check(new TextEncoder().encode(json)))
      }
    })
    it('never throws for content', () => {
      for (const content of ['', '{', '\u0000', 'hello', new Uint8Array(0), new Uint8Array(100).fill(255), relu().subarray(0, 20)]) {
        const report = env.check(content)
        assert.equal(report.ok, false)
        assert.ok(report.findings.length > 0 || report.incomplete.length > 0)
      }
    })
    it('reports counts that fit the findings', () => {
      const report = env.check('{"kind": "runlocal.operator-extension"}')
      const count = severity => report.findings.filter(finding => finding.severity === severity).length
      assert.deepEqual(report.counts, { error: count('error'), warning: count('warning'), info: count('info') })
      assert.ok(report.counts.error > 0)
      assert.match(report.rules, /^\d+\.\d+\.\d+$/)
      for (const finding of report.findings) {
        assert.match(finding.fingerprint, /^[0-9a-f]{16}$/)
        assert.ok(finding.message.length > 0)
        assert.ok(Array.isArray(finding.related))
      }
    })
    it('is as strict as asked', () => {
      const text = '{"a": 1, "a": 2}'
      assert.equal(env.check(text, { as: 'json' }).ok, true)
      assert.equal(env.check(text, { as: 'json', strict: true }).ok, false)
    })
    it('takes a kind or a message as `as`', () => {
      const bytes = onnx.tensor('t', 'float32', [2], Float32Array.of(1, 2))
      assert.equal(env.check(bytes, { as: 'TensorProto' }).ok, true)
      assert.equal(env.check(bytes, { as: 'tensor' }).kind, 'tensor')
      assert.equal(env.check(bytes, { as: 'model' }).ok, false)
      assert.equal(env.check('{}', { as: 'spec' }).kind, 'spec')
    })
    it('says that a limit cut it', async () => {
      const small = await createEnv({ limits: { bytes: 10 } })
      const report = small.check(relu())
      assert.deepEqual([report.ok, report.complete, report.incomplete.length], [false, false, 1])
      small.dispose()
    })
    it('asks `files` for what a document names', () => {
      const asked = []
      env.check(customSpec({ domain: 'org.test', opType: 'Foo', tests: ['a.json'] }), { files: name => { asked.push(name); return null } })
      assert.ok(asked.some(name => name.startsWith('a.json')), asked.join())
    })
    it('hands on what a `files` function throws', () => {
      const error = new Error('disk')
      assert.throws(() => env.check(customSpec({ domain: 'org.test', opType: 'Foo', tests: ['a.json'] }), { files: () => { throw error } }), error)
      assert.equal(env.check('{}').kind, 'json')
    })
    it('says that a Blob cannot be read in a synchronous call', () => {
      const report = env.check(customSpec({ domain: 'org.test', opType: 'Foo', tests: ['a.json'] }), { files: { 'a.json': new Blob(['{}']) } })
      assert.equal(report.complete, false)
      assert.match(report.incomplete.join(), /a\.json/)
    })
    it('names the argument that is wrong', () => {
      refuses(() => env.check(), 'document')
      refuses(() => env.check({}), 'document')
      refuses(() => env.check(new Blob(['x'])), 'document')
      refuses(() => env.check('{}', { as: 'nonsense' }), 'as')
      refuses(() => env.check('{}', { as: 5 }), 'as')
      refuses(() => env.check('{}', { strict: 'yes' }), 'strict')
      refuses(() => env.check('{}', { full: 1 }), 'full')
      refuses(() => env.check('{}', { files: 5 }), 'files')
      refuses(() => env.check('{}', { files: new Map([[1, 'x']]) }), 'files')
      refuses(() => env.check('{}', { timeoutMs: -1 }), 'timeoutMs')
      refuses(() => env.check('{}', { signal: {} }), 'signal')
      refuses(() => env.check('{}', null), 'options')
      assert.throws(() => env.check('{}', { signal: AbortSignal.abort() }), { code: 'aborted' })
    })
  })

  describe('validateSpec', () => {
    it('accepts a good document and places a fault', () => {
      const good = customSpec({ domain: 'org.test', opType: 'Foo' })
      assert.equal(env.validateSpec(good).ok, true)
      const report = env.validateSpec(good.replace('"single"', '"sometimes"'))
      assert.equal(report.ok, false)
      const [{ pointer, range }] = report.findings.filter(({ severity }) => severity === 'error')
      assert.equal(pointer, '/inputs/0/cardinality')
      assert.equal(range.start.line, 1)
      assert.equal(good.replace('"single"', '"sometimes"').slice(range.start.utf16, range.end.utf16), '"sometimes"')
    })
    it('names the argument that is wrong', () => refuses(() => env.validateSpec(5), 'spec'))
  })

  describe('loadModel', () => {
    it('tells inputs and outputs', () => {
      const model = env.loadModel(relu())
      assert.equal(model.kind, 'model')
      assert.deepEqual(model.inputs, [{ name: 'x', type: 'tensor(float)', shape: ['N', 3, null] }])
      assert.deepEqual(model.outputs, [{ name: 'y', type: 'tensor(float)', shape: ['N', 3, null] }])
      model.dispose()
    })
    it('tells sequences, unknown ranks and leaves out initialized inputs', () => {
      const model = env.loadModel(onnx.model({
        ir: 3, inputs: [onnx.value('s', { sequence: 'float32' }), onnx.value('x', 'int64'), onnx.value('w', 'float32', [1])],
        initializers: [onnx.tensor('w', 'float32', [1], Float32Array.of(1))],
        outputs: [onnx.value('n', 'int64', [])], nodes: [onnx.node('SequenceLength', ['s'], ['n'])]
      }))
      assert.deepEqual(model.inputs.map(({ name, type }) => [name, type]), [['s', 'seq(tensor(float))'], ['x', 'tensor(int64)']])
      assert.equal(model.inputs[1].shape, null)
      assert.deepEqual(model.outputs[0].shape, [])
      model.dispose()
    })
    it('throws malformed with findings', () => {
      assert.throws(() => env.loadModel(new Uint8Array([255, 255, 255])), error => {
        assert.equal(error.code, 'malformed')
        assert.ok(error.findings.length > 0)
        return true
      })
    })
    it('checks', () => {
      const model = env.loadModel(relu({ nodes: [onnx.node('Relu', ['x'], ['y']), onnx.node('Relu', ['x'], ['y'])] }))
      const report = model.check()
      assert.equal(report.kind, 'model')
      assert.equal(report.ok, false)
      assert.ok(report.findings.some(({ rule }) => rule === 'model.node.ssa'), report.findings.map(({ rule }) => rule).join())
      assert.deepEqual(report, env.check(relu({ nodes: [onnx.node('Relu', ['x'], ['y']), onnx.node('Relu', ['x'], ['y'])] })))
      model.dispose()
    })
    it('is usable no more after dispose', () => {
      const model = env.loadModel(relu())
      model.dispose()
      model.dispose()
      refuses(() => model.check(), 'model')
    })
    it('names the argument that is wrong', () => {
      refuses(() => env.loadModel('text'), 'bytes')
      refuses(() => env.loadModel(new Blob([relu()])), 'bytes')
      refuses(() => env.loadModel(relu(), { files: 5 }), 'files')
    })
  })

  describe('decode', () => {
    it('gives names, bigints, numbers and bytes of protobuf JSON mapping', () => {
      const message = env.decode(relu(), 'ModelProto')
      assert.equal(message.irVersion, 10n)
      assert.deepEqual(message.opsetImport, [{ domain: '', version: 21n }])
      assert.deepEqual(message.graph.node, [{ input: ['x'], output: ['y'], opType: 'Relu' }])
      assert.equal(message.graph.input[0].type.tensorType.elemType, 1)
      assert.deepEqual(message.graph.input[0].type.tensorType.shape.dim, [{ dimParam: 'N' }, { dimValue: 3n }, {}])
      const tensor = env.decode(onnx.tensor('t', 'float32', [2], Float32Array.of(1, 2)), 'TensorProto')
      assert.deepEqual(tensor, { dims: [2n], dataType: 1, name: 't', rawData: new Uint8Array(Float32Array.of(1, 2).buffer) })
    })
    it('takes any message by name', () => {
      assert.deepEqual(env.decode(onnx.node('Relu', ['x'], ['y']), 'NodeProto'), { input: ['x'], output: ['y'], opType: 'Relu' })
      assert.deepEqual(env.decode(onnx.value('x', 'float32', [1]), 'ValueInfoProto').name, 'x')
    })
    it('throws malformed, and names a wrong argument', () => {
      assert.throws(() => env.decode(new Uint8Array([255]), 'TensorProto'), { code: 'malformed' })
      refuses(() => env.decode(relu(), 'FooProto'), 'as')
      refuses(() => env.decode(relu()), 'as')
      refuses(() => env.decode('x', 'ModelProto'), 'bytes')
    })
  })

  describe('readValue, writeValue', () => {
    const roundTrip = (value, kind, type) => env.readValue(env.writeValue(value, 'v', type), kind)
    it('tensors of every element type', () => {
      const tensors = ['float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'bool', 'float16', 'float64', 'uint32', 'uint64', 'bfloat16',
        'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz', 'float8e8m0', 'uint4', 'int4', 'float4e2m1', 'uint2', 'int2']
        .map(type => new Tensor(type, [1, 0, 1], [3, 1]))
      tensors.push(new Tensor('string', ['a', '', 'öß'], [3]), new Tensor('complex64', [1, 2, 3, 4], [2]), new Tensor('complex128', [1, 2], []))
      for (const tensor of tensors) {
        const back = roundTrip(tensor, 'tensor')
        assert.ok(back instanceof Tensor)
        assert.deepEqual([back.type, back.dims, back.data], [tensor.type, tensor.dims, tensor.data], tensor.type)
      }
    })
    it('empty and scalar tensors', () => {
      assert.deepEqual(roundTrip(new Tensor('float32', [], [0, 3]), 'tensor').dims, [0, 3])
      assert.deepEqual(roundTrip(new Tensor('int64', [5n], []), 'tensor').toArray(), 5n)
    })
    it('sequences and optionals', () => {
      const list = [new Tensor('float32', [1, 2]), new Tensor('float32', [3])]
      assert.deepEqual(roundTrip(list, 'sequence'), list)
      assert.deepEqual(roundTrip([], 'sequence', 'seq(tensor(int64))'), [])
      assert.equal(roundTrip(null, 'optional', 'optional(tensor(float))'), null)
      assert.deepEqual(roundTrip(list[0], 'optional', 'optional(tensor(float))'), list[0])
    })
    it('takes any object with type, dims and data', () => {
      const like = { type: 'float32', dims: [2], data: Float32Array.of(1, 2) }
      assert.deepEqual(roundTrip(like, 'tensor'), new Tensor('float32', [1, 2]))
    })
    it('keeps the name', () => {
      assert.equal(env.decode(env.writeValue(new Tensor('float32', [1]), 'nom'), 'TensorProto').name, 'nom')
    })
    it('takes elements out of other files', () => {
      const bytes = onnx.externalTensor('t', 'float32', [2], 'w.bin')
      const data = new Uint8Array(Float32Array.of(1, 2).buffer)
      for (const files of [{ 'w.bin': data }, new Map([['w.bin', data.buffer]]), name => name === 'w.bin' ? data : null]) {
        assert.deepEqual(env.readValue(bytes, 'tensor', { files }), new Tensor('float32', [1, 2]))
        assert.equal(env.format(bytes, 'tensor', 'evidence', { files }), '{"type":"tensor(float)","shape":[2],"data":[1,2]}')
      }
      const refused = (files, code, pattern) => assert.throws(() => env.readValue(bytes, 'tensor', { files }), error => error.code === code && pattern.test(error.message))
      refused({}, 'malformed', /the file "w\.bin" is not there/)
      refused({ 'w.bin': data.slice(4) }, 'malformed', /8 bytes/)
      refused({ 'w.bin': new Blob([data]) }, 'unsupported', /the file w\.bin cannot be read in a synchronous call/)
      refused({ 'w.bin': 5 }, 'invalid_argument', /^files: w\.bin/)
      refused(() => { throw new OpspecError('aborted', 'enough') }, 'aborted', /enough/)
    })
    it('throws for what is malformed or wrong', () => {
      assert.throws(() => env.readValue(new Uint8Array([255]), 'tensor'), { code: 'malformed' })
      assert.throws(() => env.readValue(onnx.tensor('t', 'float32', [3], Float32Array.of(1)), 'tensor'), { code: 'malformed' })
      refuses(() => env.readValue(new Uint8Array(), 'matrix'), 'kind')
      refuses(() => env.readValue('x', 'tensor'), 'bytes')
      refuses(() => env.writeValue(5, 'v'), 'value')
      refuses(() => env.writeValue([], 'v'), 'value')
      refuses(() => env.writeValue(null, 'v'), 'value')
      refuses(() => env.writeValue(new Tensor('float32', [1]), 5), 'name')
      refuses(() => env.writeValue([], 'v', 'nonsense'), 'type')
      refuses(() => env.writeValue({ type: 'float32', dims: [2], data: Float32Array.of(1) }, 'v'), 'value')
    })
  })

  describe('operators', () => {
    it('lists the standard, in order and complete', () => {
      const operators = env.operators()
      const add = operators.filter(({ domain, name }) => domain === '' && name === 'Add')
      assert.deepEqual(add.map(({ sinceVersion }) => sinceVersion), [1, 6, 7, 13, 14])
      assert.deepEqual(add.at(-1).inputs.map(({ name }) => name), ['A', 'B'])
      assert.ok(add.at(-1).inputs[0].types.includes('tensor(bfloat16)'))
      assert.equal(add.at(-1).kernel, true)
      const gemm = operators.find(({ name, sinceVersion }) => name === 'Gemm' && sinceVersion === 13)
      assert.deepEqual(gemm.attributes.alpha, { kind: 'float', required: false, default: 1 })
      assert.equal(gemm.inputs[2].option, 'optional')
      assert.ok(operators.some(({ domain }) => domain === 'ai.onnx.ml'))
      assert.throws(() => { operators[0].name = 'x' }, TypeError)
    })
  })

  describe('explain', () => {
    it('tells of every rule that a finding can have', () => {
      const told = env.explain('model.node.ssa')
      for (const key of ['title', 'why', 'good', 'bad', 'source']) assert.ok(told[key].length > 0, key)
    })
    it('names the nearest rule', () => {
      refuses(() => env.explain('model.node.sas'), 'there is no rule "model.node.sas"; did you mean')
      refuses(() => env.explain(5), 'rule')
    })
  })

  describe('dispose', () => {
    it('makes every call an invalid argument', async () => {
      const gone = await createEnv()
      const model = gone.loadModel(relu())
      gone.dispose()
      gone.dispose()
      refuses(() => gone.check('{}'), 'the Env was disposed')
      refuses(() => model.check(), 'the Env was disposed')
      model.dispose()
    })
    it('Envs do not meet', async () => {
      const other = await createEnv()
      const model = env.loadModel(relu())
      await assert.rejects(other.createSession(model), { code: 'invalid_argument', message: /^model/ })
      model.dispose()
      other.dispose()
    })
  })
})

describe('createEnv', () => {
  it('names the option that is wrong', async () => {
    const wrong = [[null, 'options'], [{ float16: 'x' }, 'float16'], [{ limits: 5 }, 'limits'], [{ limits: { foo: 1 } }, 'limits.foo'], [{ limits: { memory: -1 } }, 'limits.memory'],
      [{ wasm: 5 }, 'wasm'], [{ isolate: 5 }, 'isolate'], [{ seed: -1 }, 'seed']]
    for (const [options, argument] of wrong) {
      await assert.rejects(createEnv(options), error => error.code === 'invalid_argument' && error.message.startsWith(argument), argument)
    }
  })
  it('keeps to a memory limit', async () => {
    const env = await createEnv({ limits: { memory: 4 * 2 ** 20 } })
    assert.throws(() => env.writeValue(new Tensor('float32', new Float32Array(2 ** 21)), 'x'), { code: 'limit' })
    assert.equal(env.check('{}').kind, 'json')
    env.dispose()
  })
})
