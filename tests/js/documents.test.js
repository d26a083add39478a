// Messages as objects and texts: encode, format, parse, and what a model writes.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'

// Its fields do not stand in the order of their numbers.
const written = onnx.model({
  nodes: [onnx.node('LeakyRelu', ['x'], ['y'], { alpha: 0.1 })],
  inputs: [onnx.value('x', 'float32', ['N', 3])], outputs: [onnx.value('y', 'float32', ['N', 3])]
})

describe('documents', () => {
  let env, bytes
  before(async () => {
    env = await createEnv()
    bytes = env.encode(env.decode(written, 'ModelProto'), 'ModelProto')
  })
  after(() => env.dispose())
  const refusal = job => {
    try {
      job()
    } catch (error) {
      assert.ok(error instanceof OpspecError, error.stack)
      return error
    }
    return assert.fail('was taken')
  }
  const same = (actual, expected) => assert.equal(Buffer.from(actual).toString('hex'), Buffer.from(expected).toString('hex'))

  it('messages inside messages, and those without a field', () => {
    for (const name of ['TensorProto.Segment', 'TensorShapeProto.Dimension', 'TypeProto.Map', 'TypeProto.Opaque', 'TypeProto.Optional', 'TypeProto.Sequence', 'TypeProto.SparseTensor', 'onnx.TypeProto.Tensor']) {
      assert.deepEqual(env.decode(env.encode({}, name), name), {}, name)
    }
    const dim = env.encode({ dimParam: 'N' }, 'TensorShapeProto.Dimension')
    assert.deepEqual(JSON.parse(env.format(dim, 'TensorShapeProto.Dimension', 'json')), { dimParam: 'N' })
    assert.throws(() => env.decode(dim, 'Dimension'), { code: 'invalid_argument' })
    for (const name of ['MapProto', 'TensorProto', 'TensorShapeProto', 'tensor']) assert.deepEqual(JSON.parse(env.format(new Uint8Array(), name, 'json')), {}, name)
  })

  it('JSON has the greatest float as no more than it is', () => {
    const bytes = env.encode({ floats: [3.4028234663852886e38, -3.4028234663852886e38] }, 'AttributeProto')
    const text = env.format(bytes, 'AttributeProto', 'json')
    for (const number of JSON.parse(text).floats) assert.ok(Math.abs(number) <= 3.4028234663852886e38 && Math.abs(Math.fround(number)) === 3.4028234663852886e38, text)
    same(env.parse(text, 'AttributeProto', 'json'), bytes)
  })

  it("ONNX's syntax: the first element of a list says what the others are", () => {
    const attribute = text => env.decode(env.parse(`g (x) => (y) { y = Op <a = ${text}> (x) }`, 'GraphProto', 'onnxtxt'), 'GraphProto').node[0].attribute[0]
    assert.deepEqual(attribute('[1.5, 2, -3]'), { name: 'a', type: 6, floats: [1.5, 2, -3] })
    assert.throws(() => attribute('[2, 1.5]'), { code: 'malformed' })
  })

  it('a text that is too deep meets a limit, whatever its form', () => {
    for (const depth of [300, 3000]) {
      for (const [text, form] of [[`${'{"sequenceType":{"elemType":'.repeat(depth)}{}${'}}'.repeat(depth)}`, 'json'], [`${'sequence_type{elem_type{'.repeat(depth)}${'}}'.repeat(depth)}`, 'textproto']]) {
        assert.equal(refusal(() => env.parse(text, 'TypeProto', form)).code, 'limit', `${form} ${depth}`)
      }
    }
  })

  it('a model with more functions than are looked at says so', () => {
    const report = env.check(env.encode({ irVersion: 10n, opsetImport: [{ version: 21n }], graph: { name: 'g' }, functions: Array.from({ length: 70_000 }, () => ({})) }, 'ModelProto'))
    assert.equal(report.complete, false)
    assert.deepEqual(report.findings.map(({ rule, path, message }) => [rule, path, message]), [['model.function.count', 'functions', 'the model has 70000 functions; more than 65536 are not looked at']])
  })

  it('a location may have steps that lead nowhere', () => {
    const location = value => env.encode({ name: 'w', dims: [2n], dataType: 1, dataLocation: 1, externalData: [{ key: 'location', value }] }, 'TensorProto')
    const file = new Uint8Array(8)
    for (const files of [{ 'a/w.bin': file }, new Map([['a/w.bin', file]])]) {
      for (const name of ['a/w.bin', './a/w.bin', './/a/./w.bin', 'b/../a/w.bin']) assert.deepEqual(env.check(location(name), { as: 'tensor', files }).findings, [], name)
      for (const name of ['w.bin', './w.bin', 'a/../w.bin', '../a/w.bin']) assert.equal(env.check(location(name), { as: 'tensor', files }).counts.error, 1, name)
    }
  })

  it('encode takes what decode gives', () => {
    assert.notEqual(Buffer.compare(bytes, written), 0)
    assert.deepEqual(env.decode(bytes, 'ModelProto'), env.decode(written, 'ModelProto'))
  })

  it('encode takes other spellings, too', () => {
    const tensor = { dims: [2n, 1], data_type: 1, rawData: new Uint8Array([0, 0, 128, 63, 0, 0, 0, 0]), docString: undefined, floatData: new Float32Array([0.1, -0, NaN, Infinity]), name: null }
    same(env.encode(tensor, 'TensorProto'), env.parse('dims: [2, 1] data_type: 1 raw_data: "\\000\\000\\200?\\000\\000\\000\\000" float_data: [0.1, -0, nan, inf]', 'tensor', 'textproto'))
    same(env.encode({ type: 'INTS', ints: new BigInt64Array([-1n, 2n ** 62n]) }, 'AttributeProto'), env.encode({ type: 7, ints: ['-1', 4611686018427387904n] }, 'AttributeProto'))
    same(env.encode({ rawData: new Uint8Array(0) }, 'TensorProto'), [0x4a, 0])
    same(env.encode({}, 'ModelProto'), [])
  })

  it('encode says what it cannot take', () => {
    assert.match(refusal(() => env.encode({ graph: { node: [{ opTyp: 'Relu' }] } }, 'ModelProto')).message, /NodeProto has no field "opTyp"/)
    const [finding] = refusal(() => env.encode({ graph: { node: [{}, { opType: 5 }] } }, 'ModelProto')).findings
    assert.deepEqual([finding.rule, finding.path], ['form.value', 'graph.node[1].op_type'])
    const loop = {}
    loop.graph = loop
    assert.equal(refusal(() => env.encode(loop, 'ModelProto')).code, 'invalid_argument')
    assert.equal(refusal(() => env.encode(null, 'ModelProto')).code, 'invalid_argument')
    assert.equal(refusal(() => env.encode({}, 'NoProto')).code, 'invalid_argument')
    assert.equal(refusal(() => env.encode({ rawData: { $b: [0, 5] } }, 'TensorProto')).code, 'malformed')
    assert.equal(refusal(() => env.encode({ rawData: { $b: [1, 5] }, stringData: [new Uint8Array(3)] }, 'TensorProto')).code, 'malformed')
  })

  it('JSON is that of protobuf', () => {
    assert.deepEqual(JSON.parse(env.format(bytes, 'ModelProto', 'json')).graph.node, [
      { input: ['x'], output: ['y'], opType: 'LeakyRelu', attribute: [{ name: 'alpha', f: 0.1, type: 'FLOAT' }] }
    ])
    assert.equal(env.format(env.encode({ name: 'a', intsOf: undefined, ints: [1n, 2n] }, 'AttributeProto'), 'AttributeProto', 'json'), '{\n  "name": "a",\n  "ints": ["1", "2"]\n}')
    assert.equal(env.format(new Uint8Array(), 'NodeProto', 'json'), '{}')
  })

  it('texts are read back', () => {
    for (const form of ['json', 'textproto', 'onnxtxt']) same(env.parse(env.format(bytes, 'ModelProto', form), 'model', form), bytes)
    assert.match(env.format(bytes, 'model', 'onnxtxt'), /\(float\[N,3\] x\) => \(float\[N,3\] y\) \{\n {2}y = LeakyRelu <alpha: float = 0\.1> \(x\)\n\}/)
  })

  it('the sign of zero stands in JSON as no integer has it', () => {
    const zeros = env.encode({ floatData: [-0, 0], doubleData: [-0] }, 'TensorProto')
    const text = env.format(zeros, 'tensor', 'json')
    assert.deepEqual(text.match(/-?\b0(\.0)?\b/g), ['-0.0', '0', '-0.0'])
    same(env.parse(text, 'tensor', 'json'), zeros)
    assert.ok(Object.is(env.decode(zeros, 'TensorProto').floatData[0], -0))
  })

  it('in attributes of the syntax stand no names in quotes, which other programs do not read', () => {
    const bodies = ['a.b', 'float', 'plain', '', undefined].map(name => ({ name, node: [{ opType: 'Neg', attribute: [{ name: 'value', type: 'TENSOR', t: { name, dims: [1n], dataType: 1, floatData: [1] } }] }] }))
    const graph = { name: 'outer.graph', node: [{ opType: 'If', attribute: [{ name: 'g', type: 'GRAPHS', graphs: bodies }, { name: 't', type: 'TENSORS', tensors: bodies.map(({ node }) => node[0].attribute[0].t) }] }] }
    const odd = env.encode({ graph }, 'ModelProto')
    const text = env.format(odd, 'model', 'onnxtxt')
    const [code] = text.split('\n#:')
    assert.match(code, /^"outer\.graph" \(/m)
    assert.deepEqual(code.match(/[^\s[]+ \(\) => \(\) \{/g), ['"outer.graph" () => () {', '_ () => () {', '_ () => () {', 'plain () => () {', '"" () => () {', '"" () => () {'])
    assert.deepEqual(code.match(/float\[1\] \w*/g), Array(2).fill(['float[1] ', 'float[1] ', 'float[1] plain', 'float[1] ', 'float[1] ']).flat())
    assert.match(text, /^#: graph\.node\[0\]\.attribute\[0\]\.graphs\[0\] \{name: "a\.b"\}$/m)
    same(env.parse(text, 'model', 'onnxtxt'), odd)
  })

  it('faults of texts have lines and columns', () => {
    for (const [text, form, rule, line, column] of [
      ['{\n "graph": 5}', 'json', 'form.value', 2, 11],
      ['{\n "graph": {,}}', 'json', 'json.syntax', 2, 12],
      ['graph {\n  é: 5 }', 'textproto', 'form.syntax', 2, 3],
      ['graph {\n  doc_string: "é" node 5 }', 'textproto', 'form.syntax', 2, 24],
      ['g () => () {\n  y = Relu x\n}', 'onnxtxt', 'form.syntax', 2, 12]
    ]) {
      const { code, findings } = refusal(() => env.parse(text, 'ModelProto', form))
      assert.equal(code, 'malformed')
      const [{ rule: actual, range }] = findings
      assert.deepEqual([actual, range.start.line, range.start.column], [rule, line, column], text)
    }
  })

  it('what a form cannot hold is said, and left out only when asked', () => {
    const odd = Uint8Array.of(0x0a, 1, 0xff, 0x98, 0x06, 1)
    const { code, message, findings } = refusal(() => env.format(odd, 'NodeProto', 'json'))
    assert.equal(code, 'unsupported')
    assert.match(message, /input\[0\]: bytes that are no UTF-8/)
    assert.deepEqual(findings.map(({ rule, path }) => [rule, path]), [['form.lost', 'input[0]'], ['form.lost', undefined]])
    assert.equal(env.format(odd, 'NodeProto', 'json', { lossy: true }), '{\n  "input": ["\ufffd"]\n}')
    assert.equal(env.format(odd, 'NodeProto', 'textproto'), 'input: ["\\377"]\n99: 1')
    assert.equal(refusal(() => env.format(odd, 'NodeProto', 'onnxtxt')).code, 'unsupported')
    assert.equal(refusal(() => env.format(odd, 'NodeProto', 'xml')).code, 'invalid_argument')
    assert.equal(refusal(() => env.parse('{}', 'spec', 'json')).code, 'unsupported')
    assert.equal(refusal(() => env.parse('{}', 'NodeProto', 'canonical')).code, 'unsupported')
  })

  it('a model writes itself', () => {
    const model = env.loadModel(written)
    same(model.toBytes(), written)
    assert.equal(model.toText(), env.format(bytes, 'ModelProto', 'textproto'))
    assert.equal(model.toText('onnxtxt'), env.format(bytes, 'ModelProto', 'onnxtxt'))
    assert.equal(JSON.stringify(model), JSON.stringify(JSON.parse(env.format(bytes, 'ModelProto', 'json'))))
    assert.equal(refusal(() => model.toText('json')).code, 'invalid_argument')
    model.dispose()
    assert.equal(refusal(() => model.toBytes()).code, 'invalid_argument')
  })

  it('texts nest as deep as the limit, and no deeper', () => {
    const nested = levels => `${'sequence_type { elem_type {'.repeat(levels)}${'} }'.repeat(levels)}`
    const type = env.parse(nested(127), 'TypeProto', 'textproto')
    assert.equal(env.format(type, 'TypeProto', 'textproto').match(/elem_type/g).length, 127)
    assert.equal(refusal(() => env.parse(nested(128), 'TypeProto', 'textproto')).code, 'limit')
    const graph = levels => `g () => () { ${'= A <g = g () => () { '.repeat(levels)}${'}> () '.repeat(levels)} }`
    assert.equal(env.format(env.parse(graph(50), 'graph', 'onnxtxt'), 'graph', 'onnxtxt').match(/= A/g).length, 50)
    assert.equal(refusal(() => env.parse(graph(100_000), 'graph', 'onnxtxt')).code, 'limit')
    assert.equal(refusal(() => env.parse('{"graph":'.repeat(100_000), 'graph', 'json')).code, 'malformed')
  })

  it('lists hold empty messages among others', () => {
    const lists = { node: [1, 3], initializer: [5, 8], input: [11, 1], valueInfo: [13, 1], metadataProps: [16, 1] }
    for (const [field, [number, name]] of Object.entries(lists)) {
      const said = field === 'metadataProps' ? 'key' : 'name'
      const inText = field.replace(/[A-Z]/, letter => `_${letter.toLowerCase()}`)
      for (const pattern of ['.', '..', '...', '....', 'n', 'n.', '.n', '..n', '...n', 'n...', '...n...', 'nn....n.n..n', '.'.repeat(3000), `${'.'.repeat(700)}n${'.'.repeat(700)}`]) {
        const graph = new onnx.Writer()
        for (const kind of pattern) graph.field(number, kind === '.' ? '' : new onnx.Writer().field(name, kind).bytes())
        const given = graph.bytes()
        const objects = [...pattern].map(kind => kind === '.' ? {} : { [said]: kind })
        const expected = { [field]: objects }
        assert.deepStrictEqual(env.decode(given, 'GraphProto'), expected)
        assert.equal(env.format(given, 'GraphProto', 'textproto'), [...pattern].map(kind => `${inText} {${kind === '.' ? '' : `\n  ${said}: "${kind}"\n`}}`).join('\n'))
        assert.equal(env.format(given, 'GraphProto', 'json'), JSON.stringify(expected, null, 2))
        const inner = new onnx.Writer().field(7, given).bytes()
        for (const form of ['json', 'textproto', 'onnxtxt']) same(env.parse(env.format(inner, 'ModelProto', form), 'ModelProto', form), inner)
      }
    }
  })

  it('lists hold bytes of any length', () => {
    const strings = [0, 1, 0, 63, 64, 65, 2, 300, 0].map((length, i) => new Uint8Array(length).fill(65 + i))
    const tensor = new onnx.Writer().field(6, strings).bytes()
    assert.deepStrictEqual(env.decode(tensor, 'TensorProto'), { stringData: strings })
    same(env.encode(env.decode(tensor, 'TensorProto'), 'TensorProto'), tensor)
    const numbers = [0n, 1n, 127n, 128n, 255n, 2n ** 32n, 2n ** 32n + 1n, -1n, 2n ** 63n - 1n]
    assert.deepStrictEqual(env.decode(new onnx.Writer().field(1, numbers).bytes(), 'TensorProto'), { dims: numbers })
  })

  it('a worker does the same', async () => {
    const worker = await createWorkerEnv()
    try {
      same(await worker.encode(env.decode(bytes, 'ModelProto'), 'ModelProto'), bytes)
      same(await worker.parse(await worker.format(bytes, 'ModelProto', 'onnxtxt'), 'ModelProto', 'onnxtxt'), bytes)
      const model = await worker.loadModel(bytes)
      same(await model.toBytes(), bytes)
      assert.equal(await model.toText(), env.format(bytes, 'ModelProto', 'textproto'))
    } finally {
      await worker.dispose()
    }
  })
})
