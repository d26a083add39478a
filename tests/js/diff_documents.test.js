// env.diff of ONNX documents: operator sets, data, models; every rule speaks in a case of its own.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, SparseTensor, Tensor } from '../../wasm/js/index.js'
import { documentRows } from '../../wasm/src/diff-document-rules.js'
import { message } from '../support/proto.js'

const FLOAT = 1
const dims = list => ({ dim: list.map(dim => typeof dim === 'string' ? { dim_param: dim } : dim === null ? {} : { dim_value: dim }) })
const value = (name, list, elem = FLOAT) => ({ name, type: { tensor_type: { elem_type: elem, ...list && { shape: dims(list) } } } })
const node = (op, input, output, more) => ({ op_type: op, input, output, ...more })
const weight = { name: 'w', dims: [3], data_type: FLOAT, float_data: [1, 2, 3] }
const bytesOf = numbers => new Uint8Array(new Float32Array(numbers).buffer)
const graph = more => ({
  name: 'g', node: [node('Relu', ['x'], ['a'], { name: 'first' }), node('Add', ['a', 'w'], ['y'])],
  input: [value('x', ['N', 3])], output: [value('y', ['N', 3])], initializer: [weight], ...more
})
const model = (more, around) => message('ModelProto', { ir_version: 10, opset_import: [{ version: 21 }], graph: graph(more), ...around })

const stable = (op_type, since_version, more) => ({ op_type, since_version, status: 1, ...more })
const trial = (op_type, since_version, more) => ({ op_type, since_version, status: 0, ...more })
const set = (opset_version, operator, more) => message('OperatorSetProto', { magic: 'ONNXOPSET', ir_version: 10, domain: 'com.example', opset_version, operator, ...more })
const fn = more => ({ name: 'F', domain: 'com.example', input: ['x'], output: ['y'], opset_import: [{ version: 21 }], node: [node('Relu', ['x'], ['y'])], ...more })
const functions = (version, list, operator = []) => set(version, operator, { functions: list })

// [what, a, b, rules there, rules back, as]
const sets = [
  ['nothing', set(1, [stable('Foo', 1)]), set(1, [stable('Foo', 1)]), [], []],
  ['an operator more', set(1, [stable('Foo', 1)]), set(2, [stable('Foo', 1), stable('Bar', 2)]), ['diff.opset.operator-added', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.stable-removed']],
  ['an experimental operator less', set(1, [trial('Foo', 1)]), set(2, []), ['diff.opset.experimental-removed', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.operator-added']],
  ['a new version of a stable operator', set(1, [stable('Foo', 1)]), set(2, [stable('Foo', 2)]), ['diff.opset.stable-changed', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.stable-changed']],
  ['a new version of an experimental operator', set(1, [trial('Foo', 1)]), set(2, [trial('Foo', 2)]), ['diff.opset.experimental-changed', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.experimental-changed']],
  ['a new version beside the old one', set(1, [stable('Foo', 1)]), set(2, [stable('Foo', 1), stable('Foo', 2)]), ['diff.opset.revision-added', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.stable-removed']],
  ['a new operator of an old version', set(2, []), set(3, [stable('Foo', 2)]), ['diff.opset.since', 'diff.opset.operator-added', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.stable-removed']],
  ['a promotion', set(1, [trial('Foo', 1)]), set(2, [stable('Foo', 1)]), ['diff.opset.promoted', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.stable-demoted']],
  ['a text of a stable operator', set(1, [stable('Foo', 1, { doc_string: 'a' })]), set(2, [stable('Foo', 1, { doc_string: 'b' })]), ['diff.opset.text', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.text']],
  ['a text of an experimental operator', set(1, [trial('Foo', 1, { doc_string: 'a' })]), set(2, [trial('Foo', 1)]), ['diff.opset.version-raised', 'diff.message.text'], ['diff.opset.version-lowered', 'diff.message.text']],
  ['another content of the same version', set(1, [stable('Foo', 1)]), set(1, [stable('Foo', 1), stable('Bar', 1)]), ['diff.opset.same-version', 'diff.opset.operator-added'], ['diff.opset.same-version', 'diff.opset.stable-removed']],
  ['another domain', set(1, [stable('Foo', 1)]), set(1, [stable('Foo', 1)], { domain: 'org.other' }), ['diff.opset.domain'], ['diff.opset.domain']],
  ['two names of one domain', set(1, [], { domain: 'ai.onnx' }), set(1, [], { domain: '' }), [], []],
  ['another IR version', set(1, []), set(1, [], { ir_version: 11 }), ['diff.message.changed'], ['diff.message.changed']],
  ['a function more', functions(1, []), functions(2, [fn()]), ['diff.opset.function-added', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.function-removed']],
  ['a function becomes an operator', functions(1, [fn()]), set(2, [stable('F', 2)]), ['diff.opset.operator-added', 'diff.opset.body-removed', 'diff.opset.version-raised'],
    ['diff.opset.version-lowered', 'diff.opset.stable-changed', 'diff.opset.function-added']],
  ['an input more of a function', functions(1, [fn()]), functions(2, [fn({ input: ['x', 'z'] })]), ['diff.opset.function-signature', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.function-signature']],
  ['an attribute with a default of a function', functions(1, [fn()]), functions(2, [fn({ attribute_proto: [{ name: 'k', type: 2, i: 1 }] })]), ['diff.message.added', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.function-signature']],
  ['another body', functions(1, [fn()]), functions(2, [fn({ node: [node('Abs', ['x'], ['y'])] })]), ['diff.opset.function-body', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.function-body']],
  ['another body of an experimental operator', functions(1, [fn()], [trial('F', 1)]), functions(2, [fn({ node: [node('Abs', ['x'], ['y'])] })], [trial('F', 1)]), ['diff.opset.experimental-changed', 'diff.opset.version-raised'], ['diff.opset.version-lowered', 'diff.opset.experimental-changed']],
  ['another text of a function', functions(1, [fn()]), functions(2, [fn({ doc_string: 'new' })]), ['diff.opset.version-raised', 'diff.message.text'], ['diff.opset.version-lowered', 'diff.message.text']]
]

const models = [
  ['nothing', model(), model(), [], []],
  ['an input more', model(), model({ input: [value('x', ['N', 3]), value('z', [1])] }), ['diff.model.input-added'], ['diff.model.input-removed']],
  ['an input with an initializer', model(), model({ input: [value('w', [3]), value('x', ['N', 3])] }), ['diff.message.added'], ['diff.message.removed']],
  ['a dim becomes fixed', model(), model({ input: [value('x', [1, 3])] }), ['diff.model.input-narrowed'], ['diff.model.input-widened']],
  ['another name of a dim', model(), model({ input: [value('x', ['M', 3])] }), ['diff.message.changed'], ['diff.message.changed']],
  ['another type of an input', model(), model({ input: [value('x', ['N', 3], 11)] }), ['diff.model.input-narrowed'], ['diff.model.input-narrowed']],
  ['an input of any rank', model(), model({ input: [value('x', null)] }), ['diff.model.input-widened'], ['diff.model.input-narrowed']],
  ['an output more', model(), model({ output: [value('y', ['N', 3]), value('a', null)] }), ['diff.model.output-added'], ['diff.model.output-removed']],
  ['another dim of an output', model(), model({ output: [value('y', ['N', 4])] }), ['diff.model.output-changed'], ['diff.model.output-changed']],
  ['more known of an output', model(), model({ output: [value('y', [1, 3])] }), ['diff.model.output-narrowed'], ['diff.model.output-changed']],
  ['another operator set', model(), model({}, { opset_import: [{ version: 22 }] }), ['diff.model.opset'], ['diff.model.opset']],
  ['texts', model(), model({ doc_string: 'd' }, { producer_name: 'p', metadata_props: [{ key: 'a', value: 'b' }] }), ['diff.message.text', 'diff.message.text', 'diff.message.text'], ['diff.message.text', 'diff.message.text', 'diff.message.text']]
]

describe('diff of ONNX documents', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const rules = ({ changes }) => changes.map(({ rule }) => rule)
  const told = ({ changes }) => changes.map(({ path, message: text }) => `${path}: ${text}`)
  const write = (numbers, type = 'float32', shape = [numbers.length]) => env.writeValue(new Tensor(type, numbers, shape), 'v')

  for (const [kind, cases] of Object.entries({ 'operator sets': sets, models })) {
    describe(kind, () => {
      for (const [what, a, b, there, back] of cases) {
        it(what, () => {
          for (const [from, to, expected] of [[a, b, there], [b, a, back]]) {
            const found = env.diff(from, to)
            assert.deepEqual(rules(found).sort(), [...expected].sort(), told(found).join('\n'))
            assert.equal(found.breaking, found.changes.some(change => change.breaking))
            for (const change of found.changes) {
              assert.equal(change.breaking, documentRows.find(({ rule }) => rule === change.rule).breaking)
              assert.ok(change.message.length > 0 && typeof change.path === 'string')
              assert.ok(env.explain(change.rule).why.length > 0)
            }
            const order = found.changes.map(change => change.breaking)
            assert.deepEqual(order, [...order].sort((x, y) => y - x), 'breaking changes come first')
          }
        })
      }
    })
  }

  it('every rule of documents has a case', () => {
    const seen = new Set([...sets, ...models].flatMap(([, , , there, back]) => [...there, ...back]))
    const elsewhere = ['diff.value.type', 'diff.value.shape', 'diff.value.items', 'diff.value.elements', 'diff.value.rounding', 'diff.message.order', 'diff.message.more', 'diff.message.unread', 'diff.opset.more']
    assert.deepEqual(documentRows.map(({ rule }) => rule).filter(rule => !seen.has(rule)).sort(), elsewhere.sort())
  })

  describe('elements by their names', () => {
    it('a node that is put in shifts no other', () => {
      const b = model({ node: [node('Abs', ['x'], ['q']), node('Relu', ['q'], ['a'], { name: 'first', attribute: [{ name: 'k', type: 2, i: 3 }] }), node('Add', ['a', 'w'], ['y'])] })
      assert.deepEqual(told(env.diff(model(), b)), [
        'graph.node[0]: node[0] (Abs) was added.',
        'graph.node[1].attribute[0]: node "first" (Relu): attribute "k" was added.',
        'graph.node[1].input: node "first" (Relu): input was ["x"] and is ["q"].'
      ])
      assert.deepEqual(told(env.diff(b, model())), [
        'graph.node[0]: node[0] (Abs) was removed.',
        'graph.node[1].attribute[0]: node "first" (Relu): attribute "k" was removed.',
        'graph.node[0].input: node "first" (Relu): input was ["q"] and is ["x"].'
      ])
    })
    it('nodes without names by their outputs, in any order', () => {
      const nodes = ['A', 'B', 'C'].map(op => node(op, ['x'], [`of${op}`]))
      const found = env.diff(model({ node: nodes }), model({ node: [nodes[2], nodes[0], { ...nodes[1], input: ['x', 'z'] }] }))
      assert.deepEqual(told(found), ['graph.node[2].input: node[2] (B): input was ["x"] and is ["x", "z"].', 'graph.node: node has elements in another order.'])
      assert.deepEqual(rules(found), ['diff.message.changed', 'diff.message.order'])
    })
    it('names that stand twice are paired in order', () => {
      const twice = [1, 2].map(i => node('Relu', ['x'], [`y${i}`], { name: 'same' }))
      assert.deepEqual(told(env.diff(model({ node: twice }), model({ node: [twice[0], { ...twice[1], op_type: 'Abs' }] }))), ['graph.node[1].op_type: node "same" (Abs): op_type was "Relu" and is "Abs".'])
    })
    it('bodies of nodes, deep inside', () => {
      const body = (op, depth) => depth === 0 ? { name: 'b', node: [node(op, ['x'], ['y'])] } : { name: 'b', node: [node('If', ['c'], ['y'], { name: `n${depth}`, attribute: [{ name: 'then_branch', type: 5, g: body(op, depth - 1) }] })] }
      const found = env.diff(model(body('Relu', 20)), model(body('Abs', 20)))
      assert.equal(found.changes.length, 1)
      assert.equal(found.changes[0].path, `graph.${'node[0].attribute[0].g.'.repeat(20)}node[0].op_type`)
      assert.match(found.changes[0].message, /^node "n20" \(If\), attribute "then_branch", node "n19"/)
    })
    it('a dim that is put in', () => {
      const found = env.diff(model({ value_info: [value('a', [2, 3, 4])] }), model({ value_info: [value('a', [2, 5, 3, 4])] }))
      assert.deepEqual(told(found), ['graph.value_info[0].type.tensor_type.shape.dim[1]: value_info "a": dim[1] was added.'])
    })
    it('what is written out and is the default says nothing; a member of a oneof does', () => {
      assert.deepEqual(told(env.diff(model({ doc_string: '' }), model())), [])
      assert.deepEqual(told(env.diff(model({ value_info: [value('a', [0])] }), model({ value_info: [value('a', [null])] }))), ['graph.value_info[0].type.tensor_type.shape.dim[0].dim_value: value_info "a": dim_value 0 was removed.'])
    })
    it('fields that nobody knows', () => {
      const more = (at, number) => Uint8Array.from([...model(), 0xf8, 0x06, number])
      assert.deepEqual(told(env.diff(model(), more(0, 1))), [': unknown field 111 was added.'])
      assert.deepEqual(told(env.diff(more(0, 1), more(0, 2))), [': unknown field 111 differs.'])
    })
    it('long lists and texts are cut', () => {
      const long = 'ä'.repeat(100)
      const found = env.diff(model({ doc_string: long }), model({ doc_string: `${long}!`, node: [node('Relu', Array.from({ length: 20 }, (_, i) => `i${i}`), ['a'], { name: 'first' }), node('Add', ['a', 'w'], ['y'])] }))
      assert.deepEqual(told(found), [
        'graph.node[0].input: node "first" (Relu): input had 1 elements and has 20, which differs from element 0 on: that was "x" and is "i0".',
        `graph.doc_string: doc_string was "${'ä'.repeat(30)}"... and is "${'ä'.repeat(30)}"....`
      ])
    })
  })

  describe('tensors', () => {
    it('inside of models by their values', () => {
      const other = data => model({ initializer: [{ name: 'w', dims: [3], data_type: FLOAT, ...data }] })
      assert.deepEqual(told(env.diff(model(), other({ raw_data: bytesOf([1, 2, 3]) }))), ['graph.initializer[0]: initializer "w": the elements are the same, stored in raw_data, before in float_data.'])
      assert.deepEqual(told(env.diff(model(), other({ raw_data: bytesOf([1, 2.5, 3]) }))), ['graph.initializer[0]: initializer "w": element [1] is 2.5, expected 2; 1 of 3 differ, at most by 0.5 (relative 0.25, 2097152 ULP).'])
      assert.deepEqual(told(env.diff(model(), model({ initializer: [{ ...weight, dims: [3, 1] }] }))), ['graph.initializer[0].dims: initializer "w": dims was [3] and is [3, 1].'])
      assert.deepEqual(told(env.diff(other({ raw_data: new Uint8Array(3) }), other({ raw_data: new Uint8Array(5) }))), ['graph.initializer[0].raw_data: initializer "w": raw_data had 3 bytes and has 5, which differ from byte 3 on.'])
    })
    const cases = [
      ['the same', [1, 2, 3], [1, 2, 3], []],
      ['elements', [1, 2, 3], [1, 2, 3.5], ['diff.value.elements']],
      ['rounding', [1, 2, 3], [1, 2, 3.0000002], ['diff.value.rounding']],
      ['NaN is NaN', [NaN], [NaN], []],
      ['NaN', [1], [NaN], ['diff.value.elements']]
    ]
    for (const [what, a, b, expected] of cases) it(what, () => assert.deepEqual(rules(env.diff(write(a), write(b))), expected))
    it('shape, type, metrics', () => {
      assert.deepEqual(rules(env.diff(write([1, 2]), write([1, 2], 'float32', [2, 1]))), ['diff.value.shape'])
      assert.deepEqual(rules(env.diff(write([1, 2]), write([1, 2], 'float64'))), ['diff.value.type'])
      const [change] = env.diff(write([1, 2, 4]), write([1, 3, 5])).changes
      assert.deepEqual([change.first, change.differing, change.count, change.maxAbs, change.maxRel, change.maxUlp], [1, 2, 3, 1, 0.5, 4194304])
      assert.equal(env.diff(write([1]), write([Infinity])).changes[0].maxAbs, Infinity)
      assert.equal(env.diff(write([1], 'int32'), write([2], 'int32')).changes[0].maxAbs, undefined)
    })
    it('the same elements in another field, another name', () => {
      const found = env.diff(write([1, 2, 3]), env.encode({ name: 'other', dims: [3n], dataType: 1, floatData: [1, 2, 3] }, 'TensorProto'))
      assert.deepEqual(rules(found), ['diff.message.changed', 'diff.message.text'])
      assert.equal(found.breaking, false)
    })
  })

  describe('elements in other files', () => {
    const entry = (key, text) => ({ key, value: String(text) })
    const external = (name, location, dims, more = [], data_type = FLOAT) => ({ name, dims, data_type, data_location: 1, external_data: [entry('location', location), ...more] })
    const far = model({ initializer: [external('w', 'w.bin', [3])] })
    const bin = numbers => ({ 'w.bin': bytesOf(numbers) })
    const told1 = (a, b, files) => told(env.diff(a, b, { files }))
    const differs = 'graph.initializer[0]: initializer "w": element [1] is 2.5, expected 2; 1 of 3 differ, at most by 0.5 (relative 0.25, 2097152 ULP).'

    it('of two models whose bytes are the same', () => {
      assert.deepEqual(told1(far, far, [bin([1, 2, 3]), bin([1, 2, 3])]), [])
      assert.deepEqual(told1(far, far, bin([1, 2, 3])), [])
      assert.deepEqual(told1(far, far, [bin([1, 2, 3]), bin([1, 2.5, 3])]), [differs])
      assert.deepEqual(rules(env.diff(far, far, { files: [bin([1, 2, 3]), bin([1, 2.5, 3])] })), ['diff.message.changed'])
    })
    it('against elements in the model, and at another place', () => {
      const near = model({ initializer: [{ name: 'w', dims: [3], data_type: FLOAT, raw_data: bytesOf([1, 2, 3]) }] })
      assert.ok(told1(near, far, [null, bin([1, 2, 3])]).includes('graph.initializer[0]: initializer "w": the elements are the same, stored in external_data, before in raw_data.'))
      assert.ok(told1(near, far, [null, bin([1, 2.5, 3])]).includes(differs))
      const moved = model({ initializer: [external('w', 'sub/v.bin', [3], [entry('offset', 4), entry('length', 12)])] })
      const places = told1(far, moved, [bin([1, 2, 3]), { 'sub/v.bin': bytesOf([0, 1, 2, 3]) }])
      assert.ok(places.every(text => text.startsWith('graph.initializer[0].external_data')), places.join('\n'))
      assert.ok(places.includes('graph.initializer[0].external_data[0].value: initializer "w", external_data "location": value was "w.bin" and is "sub/v.bin".'))
      assert.ok(told1(far, moved, [bin([1, 2, 3]), { 'sub/v.bin': bytesOf([0, 1, 2.5, 3]) }]).includes(differs))
    })
    it('wherever the tensor is: in an attribute of a body, in a sparse tensor', () => {
      const branch = { name: 'b', node: [node('Constant', [], ['y'], { attribute: [{ name: 'value', type: 4, t: external('', 'w.bin', [3]) }] })] }
      const deep = model({ node: [node('If', ['c'], ['y'], { attribute: [{ name: 'then_branch', type: 5, g: branch }] })] })
      const [text, ...rest] = told1(deep, deep, [bin([1, 2, 3]), bin([1, 2, 4])])
      assert.deepEqual([/^graph\.node\[0\]\.attribute\[0\]\.g\.node\[0\]\.attribute\[0\]\.t: .*element \[2\] is 4, expected 3/.test(text), rest], [true, []])
      const sparse = model({ sparse_initializer: [{ values: external('s', 'w.bin', [3]), indices: { dims: [3], data_type: 7, int64_data: [0, 1, 2] }, dims: [4] }] })
      assert.equal(told1(sparse, sparse, [bin([1, 2, 3]), bin([1, 2, 3])]).length, 0)
      assert.match(told1(sparse, sparse, [bin([1, 2, 3]), bin([1, 2, 4])])[0], /^graph\.sparse_initializer\[0\]\.values: .*element \[2\]/)
    })
    it('long ones in pieces: where the first difference is, and how many there are', () => {
      const count = 700000
      const numbers = new Float32Array(count).map((_, i) => i)
      const other = numbers.slice()
      for (const i of [262143, 262144, 699999]) other[i] += 64
      const long = model({ initializer: [external('w', 'w.bin', [7, count / 7])] })
      assert.deepEqual(told1(long, long, [{ 'w.bin': new Uint8Array(numbers.buffer) }, { 'w.bin': new Uint8Array(other.buffer) }]), [
        'graph.initializer[0]: initializer "w": element [2, 62143] is 262207, expected 262143; 3 of 700000 differ, at most by 64 (relative 0.000244, 2080 ULP).'
      ])
      const INT4 = 22
      const narrow = model({ initializer: [external('w', 'w.bin', [2500001], [], INT4)] })
      const packed = new Uint8Array(1250001)
      const changed = packed.slice()
      changed[1250000] = 7
      assert.deepEqual(told1(narrow, narrow, [{ 'w.bin': packed }, { 'w.bin': changed }]), ['graph.initializer[0]: initializer "w": element [2500000] is 7, expected 0; 1 of 2500001 differ.'])
    })
    it('what is not at hand is said, never taken as the same', () => {
      const unread = (files, pattern, a = far, b = far) => {
        const found = env.diff(a, b, { files })
        assert.deepEqual(rules(found), ['diff.message.unread'], told(found).join('\n'))
        assert.match(found.changes[0].message, pattern)
        assert.equal(found.breaking, false)
        return found.changes[0].path
      }
      assert.equal(unread(undefined, /^The elements of a tensor in other files were not compared\. initializer "w": a: its files were not given\.$/), 'graph.initializer[0]')
      unread([bin([1, 2, 3]), {}], /initializer "w": b: the file w\.bin is not there\.$/)
      unread([{}, bin([1, 2, 3])], /a: the file w\.bin is not there\.$/)
      unread([bin([1, 2, 3]), bin([1])], /b: 12 bytes are needed, w\.bin has 4 for it\.$/)
      unread([bin([1, 2, 3]), { 'w.bin': new Blob([bytesOf([1, 2, 3])]) }], /b: the file w\.bin cannot be read in a synchronous call\.$/)
      const two = model({ initializer: [external('w', 'w.bin', [3]), external('v', '../v.bin', [3])] })
      unread([bin([1, 2, 3]), {}], /^The elements of 2 tensors in other files were not compared\. The first: initializer "w": /, two, two)
      assert.throws(() => env.diff(far, far, { files: [{}] }), error => error.code === 'invalid_argument' && /^files: /.test(error.message))
      assert.throws(() => env.diff(far, far, { files: () => { throw new Error('gone') } }), /gone/)
    })
    it('of a tensor by itself', () => {
      const tensor = message('TensorProto', external('w', 'w.bin', [3]))
      assert.deepEqual(rules(env.diff(tensor, tensor, { files: [bin([1, 2, 3]), bin([1, 2, 4])] })), ['diff.value.elements'])
      assert.deepEqual(rules(env.diff(tensor, tensor, { files: [bin([1, 2, 3]), bin([1, 2, 3])] })), [])
      assert.deepEqual(rules(env.diff(tensor, tensor)), ['diff.message.unread'])
    })
    it('in a worker', async () => {
      const remote = await createWorkerEnv()
      assert.deepEqual(told(await remote.diff(far, far, { files: [bin([1, 2, 3]), new Map(Object.entries(bin([1, 2.5, 3])))] })), [differs])
      await remote.dispose()
    })
    it('leaves nothing behind', () => {
      const run = () => env.diff(far, far, { files: [bin([1, 2, 3]), bin([1, 2.5, 3])] })
      run()
      const { used } = env.constructor.memoryUsed(env)
      for (let i = 0; i < 50; i++) run()
      assert.ok(env.constructor.memoryUsed(env).used <= used + 4096)
    })
  })

  describe('other data', () => {
    const sequence = (...items) => env.writeValue(items.map(list => new Tensor('float32', list, [list.length])), 's')
    const map = entries => env.writeValue(new Map(entries), 'm')
    it('sequences', () => {
      assert.deepEqual(told(env.diff(sequence([1], [2]), sequence([1], [3]), { as: 'sequence' })), ['[1]: Item [1] element [0] is 3, expected 2; 1 of 1 differ.'].map(text => text.replace('; 1 of 1 differ', ', at most by 1 (relative 0.5, 4194304 ULP)')))
      assert.deepEqual(rules(env.diff(sequence([1]), sequence([1], [3]), { as: 'SequenceProto' })), ['diff.value.items'])
    })
    it('maps, in whatever order their keys stand', () => {
      assert.deepEqual(rules(env.diff(map([['a', 1], ['b', 2]]), map([['b', 2], ['a', 1]]), { as: 'map' })), [])
      assert.deepEqual(rules(env.diff(map([['a', 1]]), map([['b', 1]]), { as: 'map' })), ['diff.value.items'])
      assert.deepEqual(rules(env.diff(map([['a', 1]]), map([['a', 2]]), { as: 'map' })), ['diff.value.elements'])
    })
    it('maps: which key', () => {
      const differs = (a, b, type) => told(env.diff(env.writeValue(new Map(a), 'm', type), env.writeValue(new Map(b), 'm', type), { as: 'map' }))[0]
      assert.equal(differs([['a', 1], ['b\n', 2]], [['a', 1], ['b\n', 3]]), '["b\\n"]: Item ["b\\n"] element is 3, expected 2, at most by 1 (relative 0.5, 4194304 ULP).')
      assert.equal(differs([['a', 1], ['c', 2]], [['a', 1], ['b', 2]]), ': Has the key "b", which is not expected.')
      assert.equal(differs([['a', 1], ['b', 2]], [['a', 1], ['c', 2]]), ': Lacks the key "b".')
      assert.equal(differs([[1n, 1], [2n, 2], [3n, 3]], [[1n, 1], [3n, 3]], 'map(int64, float)'), ': Has 2 items, expected 3, and lacks the key 2.')
      assert.equal(differs([[1n, 1]], [[1n, 1], [2n ** 64n - 1n, 3]], 'map(uint64, float)'), ': Has 2 items, expected 1, and has the key 18446744073709551615, which is not expected.')
      assert.equal(differs([[-1n, 1], [5n, 1]], [[-2n, 1], [5n, 1]], 'map(int64, float)'), ': Has the key -2, which is not expected.')
    })
    it('optionals and sparse tensors', () => {
      const optional = item => env.writeValue(item, 'o', 'optional(tensor(float))')
      const some = optional(new Tensor('float32', [1], [1]))
      assert.deepEqual(rules(env.diff(some, optional(null), { as: 'optional' })), ['diff.value.items'])
      assert.deepEqual(rules(env.diff(some, some, { as: 'optional' })), [])
      const sparse = (numbers, list) => env.writeValue(new SparseTensor('float32', new Tensor('float32', numbers, [numbers.length]), new Tensor('int64', list, [list.length]), [4]), 'p')
      assert.deepEqual(rules(env.diff(sparse([1], [2n]), sparse([1], [2n]))), [])
      assert.deepEqual(rules(env.diff(sparse([1], [2n]), sparse([1.5], [2n]))), ['diff.value.elements'])
    })
    it('malformed data are compared as messages', () => {
      const cut = list => env.encode({ dims: [3n], dataType: 1, rawData: Uint8Array.from(list) }, 'TensorProto')
      assert.deepEqual(told(env.diff(cut([1]), cut([2]))), ['raw_data: raw_data of 1 bytes differs from byte 0 on.'])
    })
  })

  describe('what cannot be compared', () => {
    const refused = (code, pattern, ...given) => assert.throws(() => env.diff(...given), error => error instanceof OpspecError && error.code === code && pattern.test(error.message))
    it('documents of two kinds', () => refused('unsupported', /^a: only documents of one kind.*a is model, b is tensor/, model(), write([1])))
    it('a document and a text', () => refused('unsupported', /^b: only documents of one kind/, model(), '{}'))
    it('a text that is said to be a model', () => refused('invalid_argument', /^b: /, model(), '{}', { as: 'model' }))
    it('a kind that is none', () => refused('invalid_argument', /^as: must be spec or one of/, model(), model(), { as: 'cat' }))
    it('what is cut', () => {
      assert.throws(() => env.diff(model(), model().subarray(0, 40), { as: 'model' }), error => error.code === 'malformed' && error.message.startsWith('b: ') && error.findings.length > 0)
      assert.throws(() => env.diff(model().subarray(0, 40), model(), { as: 'model' }), error => error.code === 'malformed' && error.message.startsWith('a: '))
    })
  })

  it('in a worker', async () => {
    const remote = await createWorkerEnv()
    assert.deepEqual(await remote.diff(set(1, [stable('Foo', 1)]), set(2, [])), env.diff(set(1, [stable('Foo', 1)]), set(2, [])))
    await remote.dispose()
  })

  describe('hostile documents', () => {
    it('very many operators', () => {
      const many = from => set(3, Array.from({ length: 50000 }, (_, i) => stable(`Op${from + i}`, 1)))
      const { changes, breaking } = env.diff(many(0), many(25000))
      assert.equal(changes.length, 50001)
      assert.equal(breaking, true)
    })
    it('very many nodes with one name, and in turned order', () => {
      const nodes = Array.from({ length: 30000 }, (_, i) => node('Relu', ['x'], [`y${i}`], { name: 'n' }))
      const { changes } = env.diff(model({ node: nodes }), model({ node: nodes.slice().reverse() }))
      assert.equal(changes.length, 10001)
      assert.equal(changes.at(-1).rule, 'diff.message.more')
    })
    it('very many inputs that went, and where they were', () => {
      const inputs = Array.from({ length: 5000 }, (_, i) => value(`in${i}`, [1]))
      const found = env.diff(model({ input: [value('w', [3]), value('x', ['N', 3]), ...inputs] }), model())
      assert.deepEqual([found.changes[0].path, found.changes.filter(({ rule }) => rule === 'diff.model.input-removed').length], ['graph.input[2]', 5000])
    })
    it('very many changes in a deep place: their text is bounded', () => {
      const deep = op => {
        let g = { name: 'b', node: Array.from({ length: 4000 }, (_, i) => node(op, ['x'], [`y${i}`])) }
        for (let i = 0; i < 80; i++) g = { name: 'b', node: [node('If', ['c'], ['y'], { name: 'n'.repeat(60), attribute: [{ name: 'a'.repeat(60), type: 5, g }] })] }
        return g
      }
      const { changes } = env.diff(model(deep('Relu')), model(deep('Abs')))
      assert.equal(changes.at(-1).rule, 'diff.message.more')
      assert.ok(JSON.stringify(changes).length < 40e6)
    })
    it('messages as deep as they may be', () => {
      const deep = op => { let g = { name: 'b', node: [node(op, ['x'], ['y'])] }; for (let i = 0; i < 80; i++) g = { name: 'b', node: [node('If', ['c'], ['y'], { attribute: [{ name: 'a', type: 5, g }] })] }; return g }
      assert.equal(env.diff(model(deep('Relu')), model(deep('Abs'))).changes.length, 1)
    })
    it('functions that differ everywhere are taken as breaking', () => {
      const long = op => functions(1, [fn({ node: Array.from({ length: 11000 }, (_, i) => node(op, ['x'], [`y${i}`])) })])
      const found = env.diff(long('Relu'), long('Abs'))
      assert.ok(rules(found).includes('diff.opset.more'))
    })
    it('memory is what it was', () => {
      const [a, b] = [model(), model({ input: [value('x', [1, 3])] })]
      env.diff(a, b)
      const used = () => env.constructor.memoryUsed(env).used
      const first = used()
      for (let i = 0; i < 50; i++) env.diff(a, b)
      assert.ok(used() <= first + 4096)
    })
  })
})
