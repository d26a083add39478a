// model.edit: what each edit does, what it refuses, and that what it does not touch keeps its bytes.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'

const floats = (...values) => Float32Array.from(values)
const same = (actual, expected) => assert.equal(Buffer.from(actual).toString('hex'), Buffer.from(expected).toString('hex'))
const entry = (key, value) => new onnx.Writer().field(1, key).field(2, value).bytes()

const small = onnx.model({
  nodes: [
    onnx.node('Constant', [], ['two'], { value_float: 2 }, { name: 'make two' }),
    onnx.node('Mul', ['two', 'w'], ['scaled'], {}, { name: 'scale' }),
    onnx.node('Identity', ['x'], ['copy'], {}, { name: 'same' }),
    onnx.node('Add', ['copy', 'scaled'], ['y'], {}, { name: 'sum' })
  ],
  initializers: [onnx.tensor('w', 'float32', [3], floats(1, 2, 3))],
  inputs: [onnx.value('x', 'float32', [3])], outputs: [onnx.value('y', 'float32', [3])]
})

// If with graphs that see `x` and `c`; the second one defines `x` itself.
const branches = () => {
  const out = onnx.value('b', 'float32', [1])
  const sees = onnx.graph({ nodes: [onnx.node('Add', ['x', 'w'], ['b'], {}, { name: 'inner' })], outputs: [out] })
  const hides = onnx.graph({ nodes: [onnx.node('Identity', ['x'], ['b'], {}, { name: 'other' })], initializers: [onnx.tensor('x', 'float32', [1], floats(7))], outputs: [out] })
  return onnx.model({
    nodes: [onnx.node('If', ['c'], ['y'], { then_branch: { graph: sees }, else_branch: { graph: hides } }, { name: 'if' })],
    initializers: [onnx.tensor('w', 'float32', [1], floats(1))],
    inputs: [onnx.value('c', 'bool', []), onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])]
  })
}

describe('model.edit', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())

  const refusal = (bytes, edits) => {
    const model = env.loadModel(bytes)
    let error
    try {
      model.edit(edits)
    } catch (thrown) {
      error = thrown
    }
    assert.ok(error instanceof OpspecError, error === undefined ? 'was taken' : error.stack)
    same(model.toBytes(), bytes)
    model.dispose()
    return error
  }
  const edited = (bytes, edits) => {
    const model = env.loadModel(bytes)
    model.edit(edits)
    const out = model.toBytes()
    model.dispose()
    return out
  }
  const decoded = (bytes, edits) => env.decode(edited(bytes, edits), 'ModelProto')
  const text = bytes => env.format(bytes, 'ModelProto', 'onnxtxt')

  it('renames inputs, outputs and nodes wherever they stand', () => {
    const model = env.loadModel(small)
    model.edit([{ renameInput: 'x', to: 'image' }, { renameOutput: 'y', to: 'scores' }, { renameNode: 'sum', to: 'total' }, { renameNode: 2, to: '' }])
    assert.deepEqual([model.inputs.map(({ name }) => name), model.outputs.map(({ name }) => name)], [['image'], ['scores']])
    const { graph } = env.decode(model.toBytes(), 'ModelProto')
    assert.deepEqual(graph.node[2], { input: ['image'], output: ['copy'], opType: 'Identity', name: '' })
    assert.deepEqual(graph.node[3], { input: ['copy', 'scaled'], output: ['scores'], opType: 'Add', name: 'total' })
    assert.deepEqual(env.decode(small, 'ModelProto').graph.node.slice(0, 2), graph.node.slice(0, 2))
    assert.ok(model.check().ok)
    model.dispose()
  })

  it('renames in a row, also in a circle', () => {
    const { graph } = decoded(small, [{ renameValue: 'copy', to: 'spare' }, { renameValue: 'scaled', to: 'copy' }, { renameValue: 'spare', to: 'scaled' }, { renameInput: 'x', to: 'a' }, { renameInput: 'a', to: 'b' }])
    assert.deepEqual(graph.node.map(({ input = [], output }) => [...input, '>', ...output].join(' ')), ['> two', 'two w > copy', 'b > scaled', 'scaled copy > y'])
    same(edited(small, [{ renameInput: 'x', to: 'a' }, { renameInput: 'a', to: 'x' }]), edited(small, []))
  })

  it('renames in graphs inside, where the name is not another value', () => {
    const [then, otherwise] = decoded(branches(), [{ renameInput: 'x', to: 'image' }]).graph.node[0].attribute.map(attribute => attribute.g)
    assert.deepEqual([then.node[0].input, otherwise.node[0].input, otherwise.initializer[0].name], [['image', 'w'], ['x'], 'x'])
    const { message, path, code } = refusal(branches(), [{ renameInput: 'c', to: 'b' }])
    assert.deepEqual([code, path], ['invalid_argument', 'graph.node[0].attribute[0].g.node[0].output[0]'])
    assert.match(message, /^edits\[0\]: "c" cannot be called "b": that name is taken/)
  })

  it('renames what is said of a value', () => {
    const graph = new onnx.Writer().put(onnx.graph({ nodes: [onnx.node('Neg', ['x'], ['v']), onnx.node('Abs', ['v'], ['y'])], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])] }))
      .field(13, onnx.value('v', 'float32', [1])).field(14, new onnx.Writer().field(1, 'v').field(2, entry('SCALE_TENSOR', 'x')).bytes())
      .field(15, new onnx.Writer().field(1, onnx.tensor('s', 'float32', [1], floats(1))).field(2, onnx.tensor('', 'int64', [1], BigInt64Array.of(0n))).field(3, [4]).bytes())
      .field(16, entry('x', 'x'))
    const training = new onnx.Writer()
      .field(2, onnx.graph({ nodes: [onnx.node('Sub', ['s', 'x'], ['new_s'])], outputs: [onnx.value('new_s', 'float32', [4])] }))
      .field(4, entry('s', 'new_s'))
    const bytes = new onnx.Writer().field(1, 10).field(8, new onnx.Writer().field(2, 21).bytes()).field(7, graph.bytes()).field(14, entry('x', 's')).field(20, training.bytes()).bytes()
    const model = decoded(bytes, [{ renameValue: 'v', to: 'V' }, { renameInput: 'x', to: 'X' }, { renameValue: 's', to: 'S' }])
    const [annotation] = model.graph.quantizationAnnotation
    assert.deepEqual([model.graph.valueInfo[0].name, annotation.tensorName, annotation.quantParameterTensorNames[0].value], ['V', 'V', 'X'])
    assert.equal(model.graph.sparseInitializer[0].values.name, 'S')
    assert.deepEqual([model.trainingInfo[0].algorithm.node[0].input, model.trainingInfo[0].updateBinding[0]], [['S', 'X'], { key: 'S', value: 'new_s' }])
    assert.deepEqual([model.metadataProps, model.graph.metadataProps], [[{ key: 'x', value: 's' }], [{ key: 'x', value: 'x' }]])
  })

  it('removes nodes', () => {
    assert.match(text(edited(small, [{ removeNode: 'same', bypass: true }])), /y = Add \(x, scaled\)/)
    assert.match(text(edited(small, [{ removeNode: 'same', replace: { copy: 'w' } }])), /y = Add \(w, scaled\)/)
    // An output of the graph keeps its name.
    assert.match(text(edited(small, [{ removeNode: 'sum', bypass: true }])), /\[same\] y = Identity \(x\)\n}/)
    const { code, path, message } = refusal(small, [{ renameNode: 0, to: 'n' }, { removeNode: 'same' }])
    assert.deepEqual([code, path], ['invalid_argument', 'graph.node[3].input[0]'])
    assert.match(message, /^edits\[1\]: the node "same" \(Identity\) cannot be removed: its output "copy" is used by graph.node\[3\]/)
    assert.match(refusal(small, [{ removeNode: 'same', replace: { copy: 'y' } }]).message, /made later/)
    assert.match(refusal(small, [{ removeNode: 'same', replace: { copy: 'nothing' } }]).message, /no such value/)
    assert.match(refusal(small, [{ removeNode: 'same', replace: { cop: 'x' } }]).message, /has no output "cop"/)
    assert.match(refusal(small, [{ removeNode: 'same', bypass: true }, { removeNode: 'sum', bypass: true }]).message, /"x".*is an input/)
    assert.equal(refusal(branches(), [{ removeNode: 'inner' }]).code, 'invalid_argument')
    // Renamed in between, and found by the names that they have then.
    const renamed = decoded(small, [{ renameNode: 'same', to: 'a' }, { removeNode: 'a', bypass: true }, { renameValue: 'scaled', to: 'big' }, { renameNode: 'sum', to: 'same' }, { removeNode: 'same', replace: { y: 'big' } }])
    assert.deepEqual(renamed.graph.node.map(({ name, output }) => [name, ...output]), [['make two', 'two'], ['scale', 'y']])
    assert.match(refusal(small, [{ renameNode: 'same', to: 'a' }, { removeNode: 'same' }]).message, /^edits\[1\]: there is no node "same"/)
  })

  it('removes nodes in functions and in graphs inside', () => {
    const domain = { domain: 'org.test' }
    const inner = onnx.graph({ nodes: [onnx.node('Neg', ['h'], ['i0'], {}, { name: 'i0' }), onnx.node('Abs', ['i0'], ['i1'], {}, { name: 'i1' }), onnx.node('Add', ['i1', 'a'], ['io'], {}, { name: 'io' })], outputs: [onnx.value('io', 'float32', [1])] })
    const call = new onnx.Writer().field(1, 'F').field(10, 'org.test').field(4, ['a', 'c']).field(5, ['r']).field(9, new onnx.Writer().field(2, 21).bytes())
      .field(7, onnx.node('Identity', ['a'], ['h'], {}, { name: 'f0' })).field(7, onnx.node('Abs', ['h'], ['k'], {}, { name: 'f1' }))
      .field(7, onnx.node('If', ['c'], ['m'], { then_branch: { graph: inner }, else_branch: { graph: inner } }, { name: 'f2' })).field(7, onnx.node('Add', ['k', 'm'], ['s'], {}, { name: 'f3' }))
      .field(7, onnx.node('Relu', ['s'], ['r'], {}, { name: 'f4' })).field(12, onnx.value('h', 'float32', [1])).field(12, onnx.value('k', 'float32', [1])).bytes()
    const bytes = new onnx.Writer().put(onnx.model({ opsets: { '': 21, 'org.test': 1 }, nodes: [onnx.node('F', ['x', 'c'], ['y'], {}, { ...domain, name: 'call' })], inputs: [onnx.value('x', 'float32', [1]), onnx.value('c', 'bool', [])], outputs: [onnx.value('y', 'float32', [1])] })).field(25, call).bytes()
    const body = edits => {
      const { functions: [{ node: nodes, valueInfo }] } = decoded(bytes, edits)
      const [then] = nodes.find(({ opType }) => opType === 'If').attribute.map(({ g }) => g.node)
      const text = list => list.map(({ opType, input, output }) => `${opType}(${input}) > ${output}`).join('; ')
      return [text(nodes), text(then), (valueInfo ?? []).map(({ name }) => name).join()]
    }
    const whole = 'Neg(h) > i0; Abs(i0) > i1; Add(i1,a) > io'
    assert.deepEqual(body([]), ['Identity(a) > h; Abs(h) > k; If(c) > m; Add(k,m) > s; Relu(s) > r', whole, 'h,k'])
    // What stands in for `h` is used in the graphs inside, too.
    assert.deepEqual(body([{ removeNode: 'f0', bypass: true }]), ['Abs(a) > k; If(c) > m; Add(k,m) > s; Relu(s) > r', 'Neg(a) > i0; Abs(i0) > i1; Add(i1,a) > io', 'k'])
    assert.deepEqual(body([{ removeNode: 'f4', bypass: true }, { removeNode: 'f1', bypass: true }, { removeNode: 'f0', bypass: true }]), ['If(c) > m; Add(a,m) > r', 'Neg(a) > i0; Abs(i0) > i1; Add(i1,a) > io', ''])
    assert.deepEqual(body([{ removeNode: 'f3', replace: { s: 'm' } }, { removeNode: 'f4', bypass: true }, { removeNode: 'f1' }]), ['Identity(a) > h; If(c) > r', whole, 'h'])
    const f = 'functions[0].node'
    for (const [edits, path, message] of [
      [[{ removeNode: 'f3' }], `${f}[4].input[0]`, /its output "s" is used by functions\[0\]\.node\[4\]\.input\[0\]; /],
      [[{ removeNode: 'f4' }], `${f}[4]`, /its output "r" is an output of the function; /],
      [[{ removeNode: 'f0', bypass: true }, { removeNode: 'f0' }], undefined, /^edits\[1\]: there is no node "f0"/],
      [[{ removeNode: 'f4', replace: { r: 'a' } }], `${f}[4]`, /the function gives its output "r" out, and "a", which would have to take that name, is an input$/],
      [[{ removeNode: 'f1', replace: { k: 's' } }], `${f}[1]`, /"s" cannot take the place of "k": it is made later$/],
      [[{ removeNode: 'f1', replace: { k: 'i1' } }], `${f}[1]`, /the graph has no such value$/],
      [[{ removeNode: 'i0', bypass: true }], `${f}[2].attribute[1].g.node[0]`, /several nodes have the name "i0"$/],
      [[{ removeNode: 'f2', replace: { m: 'k' } }, { removeNode: 'i0', bypass: true }], undefined, /there is no node "i0"/]
    ]) {
      const refused = refusal(bytes, edits)
      assert.deepEqual([refused.code, refused.path], ['invalid_argument', path])
      assert.match(refused.message, message)
    }
    // A value of the graph around may stand in, but not have the name of what the graph gives out.
    const left = edits => decoded(branches(), edits).graph.node[0].attribute.map(({ g }) => (g.node ?? []).map(({ opType, input, output }) => `${opType}(${input}) > ${output}`).join('; '))
    assert.match(refusal(branches(), [{ removeNode: 'inner', bypass: true }]).message, /is a value of another graph$/)
    assert.match(refusal(branches(), [{ removeNode: 'inner', replace: { b: 'y' } }]).message, /made later/)
    assert.deepEqual(left([{ removeNode: 'other', bypass: true }]), ['Add(x,w) > b', ''])
  })

  it('many removals at once are the same as one after the other', () => {
    let seed = 7
    const below = n => (seed = (seed * 48271) % 2147483647) % n
    for (let round = 0; round < 60; round++) {
      const make = (prefix, outer, depth) => {
        const values = [...outer]
        const nodes = Array.from({ length: 6 }, (_, i) => {
          const inputs = Array.from({ length: 1 + below(2) }, () => values[below(values.length)])
          const outputs = Array.from({ length: 1 + below(2) }, (_, k) => `${prefix}${i}_${k}`)
          const inside = depth > 0 && below(3) === 0 ? { body: { graph: make(`${prefix}${i}g`, values, depth - 1) } } : {}
          values.push(...outputs)
          return onnx.node('Op', inputs, outputs, inside, { name: `${prefix}${i}` })
        })
        const outputs = [values.at(-1), values[values.length - 1 - below(3)]].filter((name, i, all) => all.indexOf(name) === i && !outer.includes(name))
        return onnx.graph({ nodes, outputs: outputs.map(name => onnx.value(name, 'float32', [1])), inputs: depth === 2 ? outer.map(name => onnx.value(name, 'float32', [1])) : [] })
      }
      const bytes = new onnx.Writer().field(1, 10).field(8, new onnx.Writer().field(2, 21).bytes()).field(7, make('n', ['x', 'z'], 2)).bytes()
      const apart = env.loadModel(bytes)
      const names = []
      const collect = ({ node = [] }) => node.forEach(({ name, attribute = [] }) => { names.push(name); attribute.forEach(({ g }) => g && collect(g)) })
      collect(env.decode(bytes, 'ModelProto').graph)
      const made = []
      let refused = 0
      for (let i = 0; i < 14; i++) {
        const edit = { removeNode: names[below(names.length)], ...below(3) > 0 && { bypass: true } }
        try {
          apart.edit([edit])
          made.push(edit)
        } catch (error) {
          refused++
          assert.equal(error.code, 'invalid_argument')
          const together = env.loadModel(bytes)
          assert.throws(() => together.edit([...made, edit]), thrown => thrown.message.startsWith(`edits[${made.length}]: `) && thrown.code === 'invalid_argument')
          together.dispose()
        }
      }
      const expected = env.decode(apart.toBytes(), 'ModelProto')
      assert.deepEqual(decoded(bytes, made), expected)
      assert.ok(made.length + refused === 14)
      apart.dispose()
    }
  })

  it('numbers of nodes are those before the first edit', () => {
    const names = decoded(small, [{ removeNode: 2, bypass: true }, { renameNode: 3, to: 'last' }]).graph.node.map(({ name }) => name)
    assert.deepEqual(names, ['make two', 'scale', 'last'])
    assert.match(refusal(small, [{ removeNode: 2, bypass: true }, { removeNode: 2 }]).message, /^edits\[1\]: node 2 was removed/)
  })

  it('folds constants', async () => {
    const model = env.loadModel(small)
    model.edit([{ fold: 'scale' }])
    const { graph } = env.decode(model.toBytes(), 'ModelProto')
    assert.deepEqual([graph.node.map(({ name }) => name), graph.initializer.map(({ name }) => name)], [['same', 'sum'], ['scaled']])
    assert.deepEqual([...new Float32Array(graph.initializer[0].rawData.slice().buffer)], [2, 4, 6])
    const session = await env.createSession(model)
    assert.deepEqual([...(await session.run({ x: new Tensor('float32', [1, 1, 1]) })).y.data], [3, 5, 7])
    session.dispose()
    model.dispose()
    const { code, path, message } = refusal(small, [{ fold: 'sum' }])
    assert.deepEqual([code, path], ['invalid_argument', 'graph.node[2].input[0]'])
    assert.match(message, /"x" is not constant: it is an input of the graph/)
    const random = onnx.model({ nodes: [onnx.node('RandomNormal', [], ['y'], { shape: [2n] })], outputs: [onnx.value('y', 'float32', [2])] })
    assert.equal(refusal(random, [{ fold: 0 }]).code, 'unsupported')
    const unknown = onnx.model({ nodes: [onnx.node('Nobody', [], ['y'])], outputs: [onnx.value('y', 'float32', [2])] })
    assert.equal(refusal(unknown, [{ fold: 0 }]).code, 'unsupported')
  })

  it('folds constants in graphs inside and in functions', async () => {
    const shown = ({ opType, input = [], output }) => `${opType}(${input}) > ${output}`
    const numbers = ({ rawData }) => [...new Float32Array(rawData.slice().buffer)]
    const run = async (bytes, feeds) => {
      const session = await env.createSession(bytes)
      const { y } = await session.run(feeds)
      session.dispose()
      return [...y.data]
    }
    // What is made in the graph around, and used there too, stays; what only the folded node needed goes.
    const out = onnx.value('b', 'float32', [1])
    const then = onnx.graph({ nodes: [onnx.node('Mul', ['two', 'own'], ['m'], {}, { name: 'm' }), onnx.node('Add', ['m', 'x'], ['b'], {}, { name: 'sum' })], initializers: [onnx.tensor('own', 'float32', [1], floats(5))], outputs: [out] })
    const other = onnx.graph({ nodes: [onnx.node('Neg', ['n'], ['b'], {}, { name: 'neg' })], outputs: [out] })
    const bytes = onnx.model({
      nodes: [onnx.node('Constant', [], ['two'], { value_floats: [2] }, { name: 'two' }), onnx.node('Abs', ['w'], ['n'], {}, { name: 'abs' }), onnx.node('If', ['c'], ['i'], { then_branch: { graph: then }, else_branch: { graph: other } }, { name: 'if' }), onnx.node('Mul', ['i', 'n'], ['y'], {}, { name: 'last' })],
      initializers: [onnx.tensor('w', 'float32', [1], floats(-3))],
      inputs: [onnx.value('c', 'bool', []), onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])]
    })
    const feeds = c => ({ c: new Tensor('bool', [c], []), x: new Tensor('float32', [1], [1]) })
    for (const edits of [[{ fold: 'm' }], [{ fold: 'neg' }], [{ fold: 'm' }, { fold: 'neg' }, { fold: 'abs' }], [{ fold: 'abs' }, { fold: 'neg' }, { renameValue: 'n', to: 'N' }, { fold: 'm' }]]) {
      const folded = edited(bytes, edits)
      for (const c of [true, false]) assert.deepEqual(await run(folded, feeds(c)), await run(bytes, feeds(c)), JSON.stringify(edits))
    }
    const graphs = edits => {
      const { graph } = decoded(bytes, edits)
      return [graph, ...['then_branch', 'else_branch'].map(branch => graph.node.find(({ opType }) => opType === 'If').attribute.find(({ name }) => name === branch).g)]
    }
    const [main, first] = graphs([{ fold: 'm' }])
    assert.deepEqual([main.node.map(shown), first.node.map(shown), first.initializer.map(({ name }) => name), numbers(first.initializer[0])], [['Abs(w) > n', 'If(c) > i', 'Mul(i,n) > y'], ['Add(m,x) > b'], ['m'], [10]])
    const [whole, , second] = graphs([{ fold: 'neg' }])
    assert.deepEqual([whole.node.map(shown)[1], second.node, second.initializer.map(({ name }) => name), numbers(second.initializer[0])], ['Abs(w) > n', undefined, ['b'], [-3]])
    // A folded value that then takes the name of an output.
    assert.deepEqual(decoded(small, [{ fold: 'scale' }, { removeNode: 'sum', replace: { y: 'scaled' } }]).graph.initializer.map(({ name }) => name), ['y'])
    assert.match(refusal(bytes, [{ fold: 'sum' }]).message, /"x" is not constant: it is an input of the graph$/)
    assert.match(refusal(bytes, [{ fold: 'if' }]).message, /"c" is not constant|has graphs inside/)

    const body = (more = [], opsets = undefined) => onnx.functionProto({
      name: 'F', domain: 'org.test', inputs: ['a'], outputs: ['r'], attributes: ['k'], ...opsets && { opsets },
      nodes: [
        onnx.node('Constant', [], ['p'], { value_floats: [1, 2, 3, 4] }, { name: 'p' }), onnx.node('Split', ['p'], ['s', 't'], { num_outputs: 2n }, { name: 'split' }), onnx.node('Mul', ['s', 't'], ['q'], {}, { name: 'mul' }),
        onnx.node('Add', ['q', 'a'], ['u'], {}, { name: 'add' }), onnx.node('Mul', ['u', 't'], ['r'], {}, { name: 'end' }), ...more
      ]
    })
    const model = (fn, opsets = { '': 21, 'org.test': 1 }) => new onnx.Writer().put(onnx.model({ opsets, nodes: [onnx.node('F', ['x'], ['y'], {}, { domain: 'org.test', name: 'call' })], inputs: [onnx.value('x', 'float32', [2])], outputs: [onnx.value('y', 'float32', [2])] })).field(25, fn).bytes()
    const x = { x: new Tensor('float32', [1, 1], [2]) }
    for (const [edits, nodes] of [
      [[{ fold: 'mul' }], ['Constant() > q', 'Constant() > p', 'Split(p) > s,t', 'Add(q,a) > u', 'Mul(u,t) > r']],
      [[{ fold: 'split' }], ['Constant() > s', 'Constant() > t', 'Mul(s,t) > q', 'Add(q,a) > u', 'Mul(u,t) > r']],
      [[{ fold: 'split' }, { fold: 'mul' }], ['Constant() > q', 'Constant() > t', 'Add(q,a) > u', 'Mul(u,t) > r']]
    ]) {
      const folded = edited(model(body()), edits)
      const [{ node: made }] = env.decode(folded, 'ModelProto').functions
      assert.deepEqual(made.map(shown).sort(), [...nodes].sort())
      assert.ok(env.check(folded).ok)
      assert.deepEqual(await run(folded, x), await run(model(body()), x))
    }
    const chain = [onnx.node('Constant', [], ['z'], { value_float: { reference: 'k', type: 1 } }), onnx.node('Neg', ['z'], ['zz'], {}, { name: 'zz' }), onnx.node('Neg', ['zz'], ['zzz'], {}, { name: 'zzz' })]
    for (const [fn, fold, message] of [
      [body(), 'add', /^edits\[0\]: "a" is not constant: it is an input of the function$/],
      [body(chain), 'zz', /^edits\[0\]: the node \(Constant\) cannot be folded: its attributes are those of the function's calls$/],
      [body(chain), 'zzz', /^edits\[0\]: the node \(Constant\) cannot be folded|nothing uses the outputs/],
      [body([], { 'org.test': 1 }), 'mul', /^edits\[0\]: the node "mul" \(Mul\) cannot be folded: a Constant would take its place, whose operator set the function does not import$/]
    ]) assert.match(refusal(model(fn), [{ fold }]).message, message)
    const training = new onnx.Writer().put(small).field(20, new onnx.Writer().field(2, onnx.graph({ nodes: [onnx.node('Neg', ['w'], ['v'], {}, { name: 'step' }), onnx.node('Neg', ['v'], ['new'])], outputs: [onnx.value('new', 'float32', [3])] })).bytes()).bytes()
    assert.match(refusal(training, [{ fold: 'step' }]).message, /it is in a training graph, where initializers change$/)
  })

  it('sets metadata, operator sets and fields', () => {
    const bytes = edited(small, [{ setMetadata: 'a', value: '1' }, { setMetadata: 'b', value: '' }, { setMetadata: 'a', value: '2' }, { setOpset: 'org.test', version: 3n }, { setOpset: 'ai.onnx', version: 22 }, { set: 'producerName', value: 'me' }, { set: 'model_version', value: 7 }])
    const model = env.decode(bytes, 'ModelProto')
    assert.deepEqual(model.metadataProps, [{ key: 'a', value: '2' }, { key: 'b', value: '' }])
    assert.deepEqual(model.opsetImport, [{ domain: '', version: 22n }, { domain: 'org.test', version: 3n }])
    assert.deepEqual([model.producerName, model.modelVersion], ['me', 7n])
    const gone = env.decode(edited(bytes, [{ setMetadata: 'a', value: null }, { setOpset: 'org.test', version: null }, { set: 'producerName', value: null }]), 'ModelProto')
    assert.deepEqual([gone.metadataProps, gone.opsetImport.length, gone.producerName], [[{ key: 'b', value: '' }], 1, undefined])
    for (const [edit, message] of [
      [{ setMetadata: 'a', value: null }, /no metadata "a"/], [{ setOpset: 'a', version: null }, /no operator set "a"/], [{ setOpset: '', version: 0 }, /above 0/], [{ setMetadata: 'a' }, /value must be a text/],
      [{ set: 'graph', value: 1 }, /none of ir_version, producer_name/], [{ set: 'irVersion', value: 'x' }, /is an integer/], [{ set: 'domain', value: 1 }, /is a text/]
    ]) assert.match(refusal(small, [edit]).message, message)
  })

  it('integers of 64 bits, all their digits', () => {
    const version = text => env.decode(edited(small, [{ set: 'modelVersion', value: text }]), 'ModelProto').modelVersion
    for (const value of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -1n, 0n]) assert.equal(version(value), value)
    assert.equal(version(2 ** 60), 2n ** 60n)
    for (const [value, message] of [[2n ** 63n, '9223372036854775808 does not fit into 64 bits'], [-(2n ** 63n) - 1n, '-9223372036854775809 does not fit into 64 bits'], [1e300, '1e+300 does not fit into 64 bits'], [1.5, '1.5 is no integer'],
      [10n ** 60n, `1${'0'.repeat(39)}... does not fit into 64 bits`]]) {
      assert.equal(refusal(small, [{ setMetadata: 'a', value: 'b' }, { set: 'modelVersion', value }]).message, `edits[1]: value must be a text, an integer or null: ${message}`)
      assert.match(refusal(small, [{ setOpset: '', version: value }]).message, /^edits\[0\]: version must be an integer above 0, or null: .*(64 bits|no integer)$/)
      assert.match(refusal(small, [{ removeNode: value }]).message, /^edits\[0\]: removeNode must be the name of a node or its number in the graph: .*(64 bits|no integer)$/)
    }
    assert.equal(refusal(small, [{ setOpset: '', version: -3n }]).message, 'edits[0]: version must be an integer above 0, or null, not -3')
    for (const value of [NaN, Infinity]) assert.equal(refusal(small, [{ set: 'modelVersion', value: 1 }, { set: 'modelVersion', value }]).message, `edits[1]: value: ${value} is no integer`)
  })

  it('texts that are none', () => {
    const half = 'a\ud800b'
    const why = 'half of a surrogate pair (U+D800) is no character, so no text of a model has it'
    for (const [edit, where] of [[{ renameInput: half, to: 'y' }, 'renameInput'], [{ renameInput: 'x', to: half }, 'to'], [{ setMetadata: half, value: '' }, 'setMetadata'], [{ setMetadata: 'a', value: half }, 'value'], [{ removeNode: half }, 'removeNode'], [{ fold: half }, 'fold'],
      [{ removeNode: 'same', replace: { copy: half } }, 'replace[copy]'], [{ removeNode: 'same', replace: { [half]: 'x' } }, 'a name in replace'], [{ renameInput: 'x', [half]: 'x' }, 'a name of a member']]) {
      const { code, message } = refusal(small, [{ renameNode: 0, to: 'n' }, edit])
      assert.deepEqual([code, message], ['invalid_argument', `edits[1]: ${where}: ${why}`])
    }
    assert.equal(decoded(small, [{ renameInput: 'x', to: '\ud83d\ude00 \\ud800' }]).graph.input[0].name, '\u{1f600} \\ud800')
    const circle = {}
    circle.self = circle
    for (const [edit, message] of [[{ renameInput: 'x', to: circle }, /^edits\[0\]: /], [{ removeNode: 'same', replace: { copy: 1n } }, /^edits\[0\]: cannot be written: /], [{ get to() { throw new Error('mine') } }, /^edits\[0\]: cannot be written: mine/]]) assert.match(refusal(small, [edit]).message, message)
  })

  it('says what is no edit', () => {
    for (const [edits, message] of [
      [{}, /^edits: must be a list/], [[5], /^edits\[0\]: must be an object/], [[{ rename: 'x' }], /^edits\[0\]: has none of renameInput/], [[{ renameInput: 'x', to: 'a', from: 'b' }], /^edits\[0\]: renameInput has no "from"/],
      [[{ renameInput: 'x' }], /to must be a text/], [[{ renameInput: 'x', to: '' }], /an empty name/], [[{ renameInput: 'copy', to: 'a' }], /no input "copy"; its inputs are "x"/],
      [[{ renameInput: 'x', to: 'z' }, { renameOutput: 'x', to: 'a' }], /^edits\[1\]: the graph has no output "x"/], [[{ renameNode: 1.5, to: 'a' }], /name of a node or its number/], [[{ renameNode: 'nobody', to: 'a' }], /there is no node "nobody"/],
      [[{ setMetadata: 'a', value: '1' }, { renameNode: 99, to: 'a' }], /^edits\[1\]: the graph has no node 99, but 4/]
    ]) {
      const { code, message: said } = refusal(small, edits)
      assert.equal(code, 'invalid_argument')
      assert.match(said, message)
    }
    const twice = onnx.model({ nodes: [onnx.node('Neg', ['x'], ['a'], {}, { name: 'n' }), onnx.node('Neg', ['a'], ['y'], {}, { name: 'n' })], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])] })
    assert.match(refusal(twice, [{ renameNode: 'n', to: 'm' }]).message, /several nodes/)
  })

  it('leaves sessions as they are', async () => {
    for (const load of [async () => env.loadModel(small), () => env.open(new Blob([small]))]) {
      const model = await load()
      const before = await env.createSession(model)
      model.edit([{ renameInput: 'x', to: 'image' }, { removeNode: 'same', bypass: true }])
      const middle = await env.createSession(model)
      model.edit([{ renameInput: 'image', to: 'picture' }])
      const session = await env.createSession(model)
      model.dispose()
      const x = new Tensor('float32', [0, 0, 0])
      for (const [each, name] of [[before, 'x'], [middle, 'image'], [session, 'picture']]) assert.deepEqual([...(await each.run({ [name]: x })).y.data], [2, 4, 6])
      for (const each of [before, middle, session]) each.dispose()
    }
  })

  it('answers as the edited model would that is loaded anew', async () => {
    const faulty = onnx.model({
      nodes: [onnx.node('Neg', ['x'], ['v'], { alpha: 1 }, { name: 'neg' }), onnx.node('Abs', ['nothing'], ['y'], {}, { name: 'abs' })],
      inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])]
    })
    const edits = [{ renameInput: 'x', to: 'a longer name' }, { setMetadata: 'a', value: 'b' }, { renameNode: 'abs', to: 'magnitude' }]
    const model = env.loadModel(faulty)
    model.edit(edits)
    const anew = env.loadModel(model.toBytes())
    assert.deepEqual(model.check(), anew.check())
    assert.deepEqual([model.toJSON(), model.toText(), model.inputs, model.outputs, model.nodes().toJSON()], [anew.toJSON(), anew.toText(), anew.inputs, anew.outputs, anew.nodes().toJSON()])
    const opened = await env.open(new Blob([faulty]))
    opened.edit(edits)
    same(new Uint8Array(await opened.toBlob().arrayBuffer()), model.toBytes())
    assert.deepEqual(opened.check(), anew.check())
    for (const each of [model, anew, opened]) each.dispose()
  })

  it('keeps the bytes of what it does not touch', () => {
    // A node with its fields in another order, an unknown field, a length of two bytes more than it takes, a group.
    const odd = new onnx.Writer().field(4, 'Neg').field(99, 'unknown').put(Uint8Array.of(0xca, 0x3e, 0x81, 0x80, 0x00, 0x41)).field(2, ['v']).field(1, ['x']).put(Uint8Array.of(0xbb, 0x06, 0xbc, 0x06)).bytes()
    const graph = new onnx.Writer().field(12, onnx.value('y', 'float32', [1])).field(11, onnx.value('x', 'float32', [1])).put(Uint8Array.of(0x0a, odd.length | 128, 0x80, 0x00)).put(odd)
      .field(1, onnx.node('Abs', ['v'], ['y'], {}, { name: 'abs' })).field(77, 'of the graph').bytes()
    const bytes = new onnx.Writer().field(7, graph).field(1, 10).field(8, new onnx.Writer().field(2, 21).bytes()).field(1000, 5).bytes()
    const metadata = edited(bytes, [{ setMetadata: 'a', value: 'b' }])
    same(metadata, new onnx.Writer().field(1, 10).field(7, graph).field(8, new onnx.Writer().field(2, 21).bytes()).field(14, entry('a', 'b')).field(1000, 5).bytes())
    const node = Buffer.from(edited(bytes, [{ renameNode: 'abs', to: 'magnitude' }]))
    assert.ok(node.includes(odd) && node.includes('of the graph'))
    assert.equal(env.decode(node, 'ModelProto').graph.node[1].name, 'magnitude')
    // Of a touched message what is unknown stays.
    const touched = Buffer.from(edited(bytes, [{ renameInput: 'x', to: 'image' }]))
    assert.ok(touched.includes('unknown') && touched.includes(Buffer.of(0xbb, 0x06, 0xbc, 0x06)) && !touched.includes(odd))
    same(edited(touched, []), touched)
  })

  it('takes names in any script, and external data along', async () => {
    const tensor = new onnx.Writer().field(1, [2]).field(2, 1).field(8, 'w').field(13, [entry('location', 'data.bin'), entry('offset', '4'), entry('length', '8')]).field(14, 1).bytes()
    const bytes = onnx.model({ nodes: [onnx.node('Add', ['x', 'w'], ['y'])], initializers: [tensor], inputs: [onnx.value('x', 'float32', [2])], outputs: [onnx.value('y', 'float32', [2])] })
    const files = { 'data.bin': new Uint8Array(floats(9, 5, 6).buffer) }
    for (const model of [env.loadModel(bytes, { files }), await env.open(new Blob([bytes]), { files: { 'data.bin': new Blob([files['data.bin']]) } })]) {
      model.edit([{ renameInput: 'x', to: '\u753b\u50cf' }, { renameValue: 'w', to: 'poids\u{1f600}' }])
      const session = await env.createSession(model)
      assert.deepEqual([...(await session.run({ '\u753b\u50cf': new Tensor('float32', [1, 1]) })).y.data], [6, 7])
      assert.deepEqual(model.nodes().at(0).inputs, ['\u753b\u50cf', 'poids\u{1f600}'])
      session.dispose()
      model.dispose()
    }
  })

  it('of bytes that stay the caller\'s', async () => {
    const numbers = new Float32Array(1 << 19).fill(0.5)
    const bytes = onnx.model({ nodes: [onnx.node('Mul', ['x', 'w'], ['y'], {}, { name: 'n' })], initializers: [onnx.tensor('w', 'float32', [1 << 19], numbers)], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1 << 19])] })
    const edits = [{ renameNode: 'n', to: 'another name' }, { setMetadata: 'a', value: 'b' }]
    const expected = edited(bytes, edits)
    const model = env.loadModel(bytes, { borrow: true })
    same(model.toBytes(), bytes)
    model.edit(edits)
    assert.ok(Buffer.from(model.toBytes()).equals(expected))
    assert.ok(Buffer.from(await model.toBlob().arrayBuffer()).equals(expected))
    assert.deepEqual(model.check(), env.check(expected))
    const session = await env.createSession(model)
    assert.equal((await session.run({ x: new Tensor('float32', [4]) })).y.data[77], 2)
    session.dispose()
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    assert.throws(() => model.toBytes(), { code: 'invalid_argument', message: /detached/ })
    model.dispose()
    assert.throws(() => env.loadModel(new Uint8Array(1 << 20).fill(0x7a), { borrow: true }), { code: 'malformed' })
    assert.throws(() => env.loadModel(expected, { borrow: 1 }), { code: 'invalid_argument' })
  })

  it('lists nodes', () => {
    const bytes = onnx.model({
      nodes: [
        onnx.node('Clip', ['x', '', 'm'], ['y'], { i: 5n, big: 2n ** 62n, f: 0.5, s: 'text', ints: [1n, -2n], floats: [0.5, 1] }, { name: 'n' }),
        onnx.node('Custom', [], ['a', 'b'], {}, { domain: 'org.test' })
      ], inputs: [], outputs: []
    })
    const model = env.loadModel(bytes)
    const [first, second] = model.nodes()
    assert.deepEqual(first.toJSON(), { index: 0, name: 'n', opType: 'Clip', domain: '', overload: '', inputs: ['x', '', 'm'], outputs: ['y'], attributes: { i: 5, big: 2n ** 62n, f: 0.5, s: 'text', ints: [1, -2], floats: [0.5, 1] } })
    assert.deepEqual([second.domain, second.outputs, second.attributes, model.nodes().length, model.nodes().at(-1).index, model.nodes().at(2)], ['org.test', ['a', 'b'], {}, 2, 1, undefined])
    model.dispose()
    assert.equal(first.opType, 'Clip')
    const graphs = env.loadModel(branches())
    assert.deepEqual(graphs.nodes().at(0).attributes, { then_branch: { kind: 'graph' }, else_branch: { kind: 'graph' } })
    graphs.dispose()
  })

  it('in a worker, which does it again when it is started again', async () => {
    const remote = await createWorkerEnv()
    try {
      const model = await remote.loadModel(small)
      const before = await remote.createSession(model)
      await model.edit([{ renameInput: 'x', to: 'image' }])
      assert.equal(model.inputs[0].name, 'image')
      const between = await remote.createSession(model)
      await model.edit([{ renameInput: 'image', to: 'picture' }, { setMetadata: 'a', value: 'b' }])
      await assert.rejects(model.edit([{ renameInput: 'x', to: 'y' }]), { code: 'invalid_argument' })
      assert.equal((await model.nodes())[2].inputs[0], 'picture')
      const bytes = await model.toBytes()
      const endless = await remote.registerOperator(customSpec({ domain: 'org.test', opType: 'Endless' }), 'export default { compute () { for (;;); } }')
      const bad = await remote.createSession(onnx.model({ opsets: { '': 21, 'org.test': 1 }, nodes: [onnx.node('Endless', ['x'], ['y'], {}, { domain: 'org.test' })], inputs: [onnx.value('x', 'float32', [3])], outputs: [onnx.value('y', 'float32', [3])] }))
      const x = new Tensor('float32', [0, 0, 0])
      await assert.rejects(bad.run({ x }, { timeoutMs: 50 }), { code: 'timeout' })
      same(await model.toBytes(), bytes)
      assert.deepEqual([...(await before.run({ x })).y.data, ...(await between.run({ image: x })).y.data], [2, 4, 6, 2, 4, 6])
      await model.dispose()
      await assert.rejects(bad.run({ x }, { timeoutMs: 50 }), { code: 'timeout' })
      assert.deepEqual([...(await between.run({ image: x })).y.data], [2, 4, 6])
      assert.equal((await remote.status()).restarts, 2)
      await endless.dispose()
    } finally {
      await remote.dispose()
    }
  })
})
