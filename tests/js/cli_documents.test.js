// The command with operator sets and data: diff, show, ops -o, convert to and from each form.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { message } from '../support/proto.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const spec = (op_type, version) => ({
  kind: 'runlocal.operator-extension', protocol_version: '1.0', name: op_type, version, authority: 'specification', operator: { domain: 'com.example', op_type, overload: '' },
  inputs: [{ name: 'X', cardinality: 'single', type_parameter: 'T', description: 'Values.' }], outputs: [{ name: 'Y', cardinality: 'single', type_parameter: 'T', description: 'Values.' }],
  type_parameters: { T: { allowed_types: ['tensor(float)'], description: 'Element type.' } }, attributes: {}, input_conditions: [], shape_rules: ['`Y` has the shape of `X`.'],
  boundary_behavior: 'NaN stays NaN.', numerical_behavior: 'Exact.', nondeterminism: 'None.', state_effects: 'None.', reference: null, tests: []
})
const body = message('FunctionProto', { name: 'Double', domain: 'com.example', input: ['X'], output: ['Y'], opset_import: [{ version: 21 }], node: [{ op_type: 'Add', input: ['X', 'X'], output: ['Y'] }] })

describe('the command with operator sets and data', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opspec-documents-'))
  let env
  const run = (...args) => spawnSync(process.execPath, [cli, ...args], { cwd: folder })
  const told = (...args) => {
    const { status, stdout, stderr } = run(...args)
    return { status, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  const file = name => readFileSync(join(folder, name))
  before(async () => {
    env = await createEnv()
    mkdirSync(join(folder, 'double'))
    writeFileSync(join(folder, 'double/double.opspec.json'), JSON.stringify(spec('Double', '2')))
    writeFileSync(join(folder, 'double/kernel.onnx'), body)
    writeFileSync(join(folder, 'plain.opspec.json'), JSON.stringify(spec('Plain', '1')))
    writeFileSync(join(folder, 'a.pb'), env.writeValue(new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3]), 'a'))
    writeFileSync(join(folder, 'b.pb'), env.writeValue(new Tensor('float32', [1, 2, 3, 4, 5, 7], [2, 3]), 'a'))
  })
  after(() => {
    env.dispose()
    rmSync(folder, { recursive: true })
  })

  it('ops writes a domain of the registry, check finds it clean, show tells it', () => {
    const written = told('ops', '--domain', 'ai.onnx.ml', '--opset-version', '3', '-o', 'ml3.pb', '--format', 'json')
    assert.equal(written.status, 0, written.stderr)
    const json = JSON.parse(written.stdout)
    assert.deepEqual([json.path, json.domain, json.version, json.operators, json.bytes], ['ml3.pb', 'ai.onnx.ml', 3, 18, file('ml3.pb').length])
    assert.deepEqual(file('ml3.pb'), Buffer.from(env.writeOperatorSet({ domain: 'ai.onnx.ml', version: 3 })))
    assert.equal(told('check', '--strict', 'ml3.pb').status, 0)
    const shown = told('show', 'ml3.pb').stdout.split('\n')
    assert.match(shown[1], /^ai\.onnx\.ml 3, IR 14: 18 operators, 0 functions$/)
    assert.match(shown[2], /^ {2}ArrayFeatureExtractor since 1, stable: `ArrayFeatureExtractor\(X: T, Y: tensor\(int64\)\) -> \(Z: T\)`$/)
    assert.equal(JSON.parse(told('show', 'ml3.pb', '--format', 'json').stdout).value.operator.length, 18)
    assert.deepEqual(run('ops', '--domain', 'ai.onnx.ml', '--opset-version', '3', '-o', '-').stdout, file('ml3.pb'))
  })
  it('ops lists a domain at a version', () => {
    const { stdout } = told('ops', '--domain', 'ai.onnx.ml', '--opset-version', '3', '--format', 'json')
    assert.deepEqual(JSON.parse(stdout).filter(({ name }) => name === 'TreeEnsembleRegressor').map(({ sinceVersion }) => sinceVersion), [3])
    assert.equal(told('ops', '--domain', 'org.nobody').status, 2)
    assert.match(told('ops', '--domain', 'ai.onnx.mk').stderr, /did you mean 'ai\.onnx\.ml'\?/)
  })
  it('convert writes specifications and their functions as an operator set', () => {
    const { status, stderr } = told('convert', 'plain.opspec.json', 'double', '--to', 'operator-set', '-o', 'mine.pb')
    assert.equal(status, 0, stderr)
    assert.equal(told('check', '--strict', 'mine.pb').status, 0)
    const shown = told('show', 'mine.pb').stdout
    assert.match(shown, /^com\.example 2, IR 14: 1 operator, 1 function$/m)
    assert.match(shown, /^ {2}Plain since 1, stable: `Plain\(X: T\) -> \(Y: T\)`$/m)
    assert.match(shown, /^ {2}function Double\(X\) -> \(Y\); 1 node of ai\.onnx 21$/m)
    assert.equal(env.decode(run('convert', 'plain.opspec.json', '--to', 'operator-set', '--opset-version', '9').stdout, 'OperatorSetProto').opsetVersion, 9n)
  })
  it('diff of operator sets: what breaks first, and the exit code', () => {
    told('ops', '--domain', 'ai.onnx.ml', '--opset-version', '2', '-o', 'ml2.pb')
    told('ops', '--domain', 'ai.onnx.ml', '--opset-version', '3', '-o', 'ml3.pb')
    const { status, stdout } = told('diff', 'ml2.pb', 'ml3.pb')
    assert.equal(status, 1)
    assert.deepEqual(stdout.split('\n'), [
      'breaking operator[15]: TreeEnsembleClassifier since 1, stable, was replaced by TreeEnsembleClassifier since 3. [diff.opset.stable-changed]',
      'breaking operator[16]: TreeEnsembleRegressor since 1, stable, was replaced by TreeEnsembleRegressor since 3. [diff.opset.stable-changed]',
      'change   opset_version: The version was 2 and is 3. [diff.opset.version-raised]', '3 changes, 2 breaking', ''
    ])
    const json = JSON.parse(told('diff', 'ml2.pb', 'ml3.pb', '--format', 'json').stdout)
    assert.deepEqual([json.kind, json.breaking, json.summary], ['operator-set', true, { breaking: 2, others: 1 }])
    assert.deepEqual([told('diff', 'ml2.pb', 'ml2.pb').status, told('diff', 'ml2.pb', 'ml2.pb').stdout], [0, 'no change\n'])
  })
  it('diff of models whose elements lie in other files: those beside each', () => {
    const weights = { name: 'w', dims: [3], data_type: 1, data_location: 1, external_data: [{ key: 'location', value: 'w.bin' }] }
    const model = message('ModelProto', { ir_version: 10, opset_import: [{ version: 21 }], graph: { name: 'g', initializer: [weights] } })
    for (const [name, numbers] of [['one', [1, 2, 3]], ['two', [1, 2, 3]], ['three', [1, 2, 4]], ['none', null]]) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'model.onnx'), model)
      if (numbers !== null) writeFileSync(join(folder, name, 'w.bin'), new Uint8Array(new Float32Array(numbers).buffer))
    }
    assert.deepEqual(told('diff', 'one/model.onnx', 'two/model.onnx'), { status: 0, stdout: 'no change\n', stderr: '' })
    assert.deepEqual(told('diff', 'one/model.onnx', 'three/model.onnx').stdout.split('\n').slice(0, 2), [
      'change   graph.initializer[0]: initializer "w": element [2] is 4, expected 3; 1 of 3 differ, at most by 1 (relative 0.333, 4194304 ULP). [diff.message.changed]', '1 change, 0 breaking'
    ])
    assert.match(told('diff', 'one/model.onnx', 'none/model.onnx').stdout, /^change +graph\.initializer\[0\]: The elements of a tensor in other files were not compared\. initializer "w": b: the file w\.bin is not there\. \[diff\.message\.unread\]\n1 change/)
  })
  it('diff of data', () => {
    const { status, stdout } = told('diff', 'a.pb', 'b.pb')
    assert.deepEqual([status, stdout], [1, 'breaking tensor: Element [1, 2] is 7, expected 6; 1 of 6 differ, at most by 1 (relative 0.167, 2097152 ULP). [diff.value.elements]\n1 change, 1 breaking\n'])
    assert.equal(JSON.parse(told('diff', 'a.pb', 'b.pb', '--format', 'json').stdout).changes[0].first, 5)
    assert.equal(told('diff', 'a.pb', 'ml3.pb').status, 2)
    assert.match(told('diff', 'a.pb', 'plain.opspec.json').stderr, /only documents of one kind can be compared/)
  })
  it('data whose elements lie in another file: that beside it, and no other', () => {
    const FLOAT = 1
    const tensor = (location = 'w.bin', more = {}) => ({ dims: [2], data_type: FLOAT, data_location: 1, external_data: [{ key: 'location', value: location }], ...more })
    const told1 = (name, ...args) => told(args[0], join('beside', name), ...args.slice(1))
    const put = (name, type, fields) => writeFileSync(join(folder, 'beside', name), message(type, fields))
    mkdirSync(join(folder, 'beside/deep'), { recursive: true })
    for (const name of ['outside.bin', 'beside/w.bin', 'beside/deep/w.bin']) writeFileSync(join(folder, name), new Uint8Array(new Float32Array([1.5, -2]).buffer))
    symlinkSync(join(folder, 'outside.bin'), join(folder, 'beside/link.bin'))
    const values = {
      tensor: ['TensorProto', tensor(), '{"type":"tensor(float)","shape":[2],"data":[1.5,-2]}'],
      deep: ['TensorProto', tensor('deep/w.bin'), '{"type":"tensor(float)","shape":[2],"data":[1.5,-2]}'],
      sequence: ['SequenceProto', { elem_type: 1, tensor_values: [tensor()] }, '{"type":"seq(tensor(float))","items":[{"type":"tensor(float)","shape":[2],"data":[1.5,-2]}]}'],
      optional: ['OptionalProto', { elem_type: 1, tensor_value: tensor() }, '{"type":"optional(tensor(float))","value":{"type":"tensor(float)","shape":[2],"data":[1.5,-2]}}'],
      map: ['MapProto', { key_type: 7, keys: [3], values: { elem_type: 1, tensor_values: [tensor()] } }, '{"type":"map(int64, float)","entries":[[3,{"type":"tensor(float)","shape":[2],"data":[1.5,-2]}]]}'],
      sparse: ['SparseTensorProto', { values: tensor('w.bin', { name: 's' }), indices: { dims: [2], data_type: 7, int64_data: [0, 3] }, dims: [4] }, '{"type":"sparse_tensor(float)","shape":[4],"values":[1.5,-2],"indices":[0,3]}']
    }
    for (const [name, [type, fields, evidence]] of Object.entries(values)) {
      put(`${name}.pb`, type, fields)
      const as = ['--as', type]
      const shown = told1(`${name}.pb`, 'show', ...as)
      assert.deepEqual([shown.status, shown.stderr], [0, ''], name)
      if (name !== 'sparse') assert.match(shown.stdout, /1\.5, -2/, name)
      assert.deepEqual(told1(`${name}.pb`, 'convert', ...as, '--to', 'evidence'), { status: 0, stdout: `${evidence}\n`, stderr: '' }, name)
    }
    assert.equal(run('convert', 'beside/tensor.pb', '--to', 'npy').stdout.readFloatLE(128), 1.5)
    for (const location of ['../outside.bin', 'link.bin', 'none.bin']) {
      put('refused.pb', 'TensorProto', tensor(location))
      for (const args of [['show'], ['convert', '--to', 'evidence'], ['convert', '--to', 'npy']]) {
        const { status, stdout, stderr } = told1('refused.pb', ...args)
        assert.equal(status, 2, `${location} ${args}: ${stdout}`)
        assert.match(stderr, location[0] === '.' ? /leads out of the model's folder/ : /the file "\w+\.bin" is not there/, `${location} ${args}`)
      }
    }
    const [x, y] = ['x', 'y'].map(name => ({ name, type: { tensor_type: { elem_type: FLOAT, shape: { dim: [{ dim_value: 2 }] } } } }))
    const model = message('ModelProto', { ir_version: 10, opset_import: [{ version: 21 }], graph: { name: 'g', node: [{ op_type: 'Add', input: ['x', 'w'], output: ['y'] }], input: [x], output: [y], initializer: [tensor('w.bin', { name: 'w' })] } })
    for (const name of ['set/test_data_set_0', 'set']) {
      mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(join(folder, name, 'w.bin'), new Uint8Array(new Float32Array(name === 'set' ? [1, 1] : [2, 3]).buffer))
    }
    writeFileSync(join(folder, 'set/model.onnx'), model)
    writeFileSync(join(folder, 'set/test_data_set_0/input_0.pb'), message('TensorProto', tensor('w.bin', { name: 'x' })))
    writeFileSync(join(folder, 'set/test_data_set_0/output_0.pb'), env.writeValue(new Tensor('float32', [3, 4]), 'y'))
    const tested = told('test', 'set')
    assert.equal(tested.status, 0, tested.stdout + tested.stderr)
    assert.match(told('run', 'set/model.onnx', '--data', 'set/test_data_set_0').stdout, /^y: tensor\(float\) \[2\]: 3, 4$/m)
  })
  it('convert of data: evidence, npy, and back', () => {
    assert.equal(told('convert', 'a.pb', '--to', 'evidence').stdout, '{"type":"tensor(float)","shape":[2,3],"data":[1,2,3,4,5,6]}\n')
    for (const [to, name] of [['evidence', 'a.json'], ['npy', 'a.npy'], ['json', 'a.proto.json']]) {
      const { status, stderr } = told('convert', 'a.pb', '--to', to, '-o', name)
      assert.equal(status, 0, stderr)
      const back = run('convert', name, ...to === 'json' ? ['--as', 'tensor'] : [], '--to', 'protobuf').stdout
      assert.deepEqual(env.readValue(back, 'tensor'), env.readValue(file('a.pb'), 'tensor'), name)
    }
    const npy = file('a.npy')
    assert.deepEqual([npy.subarray(0, 8).toString('latin1'), npy.readUInt16LE(8) % 64, npy.length], ['\x93NUMPY\x01\x00', 54, 128 + 24])
    assert.match(npy.toString('latin1', 10, 128), /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 3\), \} +\n$/)
    assert.equal(told('convert', 'a.npy', '--to', 'evidence').stdout, told('convert', 'a.pb', '--to', 'evidence').stdout)
  })
  it('convert of a large tensor: it is no text that comes out', () => {
    const large = new Tensor('uint8', new Uint8Array(2 ** 26).fill(7))
    writeFileSync(join(folder, 'large.pb'), env.writeValue(large, 'large'))
    assert.equal(told('convert', 'large.pb', '--to', 'npy', '-o', 'large.npy').status, 0)
    const npy = file('large.npy')
    assert.deepEqual([npy.subarray(1, 6).toString(), npy.length, npy.at(-1)], ['NUMPY', 128 + 2 ** 26, 7])
    for (const name of ['large.pb', 'large.npy']) rmSync(join(folder, name))
  })
  it('convert of each element type that numpy has', () => {
    const types = { float32: [1.5, NaN], float64: [1e300, -0], float16: [1, 2], int8: [-1, 1], int16: [-1, 1], int32: [-1, 1], int64: [-1n, 2n], uint8: [0, 255], uint16: [0, 9], uint32: [0, 9], uint64: [0n, 9n], bool: [true, false], complex64: [1, 2] }
    for (const [type, data] of Object.entries(types)) {
      const bytes = env.writeValue(new Tensor(type, data, [type === 'complex64' ? 1 : 2]), '')
      writeFileSync(join(folder, 'x.pb'), bytes)
      assert.equal(told('convert', 'x.pb', '--to', 'npy', '-o', 'x.npy').status, 0, type)
      assert.deepEqual(run('convert', 'x.npy', '--to', 'protobuf').stdout, Buffer.from(bytes), type)
    }
    writeFileSync(join(folder, 'x.pb'), env.writeValue(new Tensor('float32', [5], []), ''))
    told('convert', 'x.pb', '--to', 'npy', '-o', 'x.npy')
    assert.match(file('x.npy').toString('latin1'), /'shape': \(\)/)
    for (const value of [new Tensor('bfloat16', [1], [1]), new Tensor('int4', [1, -8], [2])]) {
      writeFileSync(join(folder, 'x.pb'), env.writeValue(value, ''))
      assert.match(told('convert', 'x.pb', '--to', 'npy').stderr, /x\.pb cannot be converted to npy: elements of type \w+ have no type in NumPy/)
    }
    assert.equal(told('convert', 'x.pb', '--to', 'npy', '--lossy', '-o', 'x.npy').status, 0)
    assert.equal(told('convert', 'x.npy', '--to', 'evidence').stdout, '{"type":"tensor(int8)","shape":[2],"data":[1,-8]}\n')
    const texts = new Tensor('string', ['a', '', '\u{1f600}\u00e4 b'], [3])
    writeFileSync(join(folder, 'x.pb'), env.writeValue(texts, ''))
    assert.equal(told('convert', 'x.pb', '--to', 'npy', '-o', 'x.npy').status, 0)
    assert.deepEqual(env.readValue(run('convert', 'x.npy', '--to', 'protobuf').stdout, 'tensor').data, texts.data)
    writeFileSync(join(folder, 'x.pb'), env.writeValue(new Tensor('string', ['a\0'], [1]), ''))
    assert.match(told('convert', 'x.pb', '--to', 'npy').stderr, /a string that ends with a zero would lose it/)
  })
  it('convert of other values', () => {
    writeFileSync(join(folder, 'm.pb'), env.writeValue(new Map([['a', new Tensor('float32', [1, 2], [2])]]), ''))
    const { stdout } = told('convert', 'm.pb', '--as', 'map', '--to', 'evidence')
    assert.equal(stdout, '{"type":"map(string, float)","entries":[["a",{"type":"tensor(float)","shape":[2],"data":[1,2]}]]}\n')
    writeFileSync(join(folder, 'm.json'), stdout)
    assert.deepEqual(run('convert', 'm.json', '--to', 'protobuf').stdout, file('m.pb'))
    assert.match(told('convert', 'm.pb', '--as', 'map', '--to', 'npy').stderr, /m\.pb cannot be converted to npy: it is a map; tensors can/)
  })
  it('NumPy files, shown, compared, and by their content whatever their name', () => {
    for (const [name, numbers] of [['one.npy', [1, 2]], ['two.npy', [1, 3]]]) {
      writeFileSync(join(folder, 'x.pb'), env.writeValue(new Tensor('float32', numbers, [2]), ''))
      told('convert', 'x.pb', '--to', 'npy', '-o', name)
    }
    writeFileSync(join(folder, 'array.bin'), file('one.npy'))
    assert.deepEqual(told('show', 'one.npy').stdout.split('\n').map(text => text.replace(/[\da-f]{64}/, 'D')), ['one.npy: tensor, 136 bytes, sha256 D', 'tensor(float) [2]: 1, 2', ''])
    assert.equal(told('show', 'array.bin').stdout.split('\n')[1], 'tensor(float) [2]: 1, 2')
    assert.equal(JSON.parse(told('show', 'one.npy', '--format', 'json').stdout).kind, 'tensor')
    assert.match(told('diff', 'one.npy', 'two.npy').stdout, /^breaking tensor: Element \[1\] is 3, expected 2.*\[diff\.value\.elements\]/)
    assert.deepEqual([told('diff', 'one.npy', 'array.bin').stdout, told('diff', 'one.npy', 'x.pb').status], ['no change\n', 1])
    writeFileSync(join(folder, 'cut.npy'), file('one.npy').subarray(0, 130))
    for (const args of [['show', 'cut.npy'], ['diff', 'one.npy', 'cut.npy'], ['convert', 'cut.npy', '--to', 'json']]) {
      const { status, stderr } = told(...args)
      assert.deepEqual([status, stderr], [2, 'opspec: cut.npy: it is cut: 8 bytes of elements are needed, 2 are there\n'], args.join(' '))
    }
  })
  it('shows what is in a map, and the file that is malformed', () => {
    writeFileSync(join(folder, 'm.pb'), env.writeValue(new Map([[1n, 0.5], [-2n, 3]]), 'm', 'map(int64, float)'))
    assert.deepEqual(told('show', 'm.pb', '--as', 'map').stdout.split('\n').slice(1), ['m: map of 2', '    -2: 3', '    1: 0.5', ''])
    writeFileSync(join(folder, 'cut.pb'), file('a.pb').subarray(0, 20))
    const { status, stderr } = told('show', 'cut.pb', '--as', 'tensor')
    assert.equal(status, 2)
    assert.match(stderr, /^opspec: cut\.pb.*: .*declares 24 bytes/)
  })
  it('shows as what else the bytes could be read', () => {
    writeFileSync(join(folder, 'o.pb'), env.encode({ name: 'o', elemType: 1, tensorValue: { dims: [1n], dataType: 1, floatData: [1] } }, 'OptionalProto'))
    assert.deepEqual(told('show', 'o.pb').stdout.split('\n').slice(1), ['the same bytes may also be OptionalProto: --as OptionalProto', 'o: sequence of 1', '    tensor(float) [1]: 1', ''])
    assert.deepEqual(JSON.parse(told('show', 'o.pb', '--format', 'json').stdout).candidates, ['OptionalProto'])
    assert.deepEqual(told('show', 'o.pb', '--as', 'OptionalProto').stdout.split('\n').slice(1), ['o: tensor(float) [1]: 1', ''])
  })
  it('a name that is no text keeps nothing else from being checked', { skip: process.platform !== 'linux' && 'other systems have no such names' }, () => {
    mkdirSync(join(folder, 'names'))
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/names/n`), Buffer.of(0xff)]))
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/names/o`), Buffer.of(0xff), Buffer.from('.pb')]), file('a.pb'))
    writeFileSync(join(folder, 'names/a b.pb'), file('a.pb'))
    const { status, stdout, stderr } = told('check', 'names')
    assert.equal(status, 2)
    assert.match(stdout, /^3 files checked: 0 errors, 0 warnings, 2 incomplete$/m)
    assert.equal(stderr.match(/cannot be read: no such file or directory/g).length, 2, stderr)
    assert.equal(told('check', 'names/a b.pb').status, 0)
  })
  it('edits name nodes that have no name by their number', () => {
    const node = (opType, input, output, name) => ({ opType, input: [input], output: [output], name })
    const value = name => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2n }] } } } })
    const graph = { name: 'g', input: [value('x')], output: [value('y')], initializer: [{ name: 'w', dims: [2n], dataType: 1, floatData: [1, 2] }],
      node: [{ opType: 'Neg', input: ['w'], output: ['v'] }, node('Abs', 'x', 'a'), node('Relu', 'a', 'b', '1'), { opType: 'Add', input: ['b', 'v'], output: ['y'] }] }
    writeFileSync(join(folder, 'nodes.onnx'), env.encode({ irVersion: 8n, opsetImport: [{ version: 21n }], graph }, 'ModelProto'))
    const left = (...args) => {
      const { status, stderr } = told('convert', 'nodes.onnx', ...args, '-o', 'left.onnx')
      assert.equal(status, 0, stderr)
      return env.decode(file('left.onnx'), 'ModelProto').graph.node.map(({ name = '', opType }) => opType + name)
    }
    assert.deepEqual(left('--fold', '0'), ['Abs', 'Relu1', 'Add'])
    assert.deepEqual(left('--bypass-node', '1'), ['Neg', 'Abs', 'Add'], 'a name goes before a number')
    assert.deepEqual(left('--fold', '0', '--bypass-node', '2', '--rename-node', '3=sum'), ['Abs', 'Addsum'])
    assert.match(told('convert', 'nodes.onnx', '--fold', '9', '-o', 'left.onnx').stderr, /the graph has no node 9, but 4 nodes/)
  })
  it('says what cannot be done', () => {
    for (const [name, text] of [['value.json', '{"type":"tensor(float)","shape":[1],"data":[1]}'], ['some.json', '{"a":1}'], ['cut.json', '{"a":'], ['lfs.onnx', 'version https://git-lfs.github.com/spec/v1\n'],
      ['syntax.txt', '<ir_version: 10>\ng (float x) => (float y) { y = Relu(x) }']]) writeFileSync(join(folder, name), text)
    for (const [args, pattern] of [
      [['ops', '-o', 'x.pb'], /--domain says which/],
      [['ops', 'Relu', '--domain', 'ai.onnx', '-o', 'x.pb'], /not one/],
      [['ops', '--domain', 'ai.onnx.ml', '--opset-version', '9', '-o', 'x.pb'], /the newest known version of ai\.onnx\.ml is 5/],
      [['ops', '--domain', 'ai.onnx.ml', '-o', '-', '--format', 'json'], /needs -o FILE/],
      [['convert', '--to', 'operator-set'], /which file/],
      [['convert', 'a.pb', '--to', 'json', '--opset-version', '1'], /--opset-version is for/],
      [['convert', 'a.pb', '--to', 'operator-set'], /^opspec: a\.pb cannot be converted to operator-set: it is a tensor; specifications can, and folders that hold one$/m],
      [['convert', 'a.pb', '--to', 'canonical'], /^opspec: a\.pb cannot be converted to canonical: it is a tensor; specifications, evidence and other JSON can$/m],
      [['convert', 'a.pb', '--to', 'onnxtxt'], /^opspec: a\.pb cannot be converted to onnxtxt: it is a tensor; models, graphs and functions can, and texts of these$/m],
      [['convert', 'a.pb', '--metadata', 'a=b'], /^opspec: a\.pb cannot be edited: it is a tensor; models can$/m],
      [['convert', 'double/kernel.onnx', '--to', 'evidence'], /kernel\.onnx cannot be converted to evidence: it is a function; tensors, sequences, maps, optionals and sparse tensors can$/m],
      [['convert', 'plain.opspec.json', '--to', 'protobuf'], /^opspec: plain\.opspec\.json cannot be converted to protobuf: it is a specification; ONNX documents can, and texts of these$/m],
      [['convert', 'double', '--to', 'json'], /^opspec: double cannot be converted to json: it is a folder; JSON and ONNX documents can, and texts of these$/m],
      [['convert', 'value.json', '--to', 'operator-set'], /^opspec: value\.json cannot be converted to operator-set: it is JSON that is no specification; specifications can, and folders that hold one$/m],
      [['convert', 'value.json', '--to', 'protobuf', '--as', 'sequence'], /^opspec: value\.json cannot be converted to protobuf: it is malformed$/m],
      [['convert', 'some.json', '--to', 'protobuf'], /^opspec: some\.json cannot be converted to protobuf: it is malformed, read as a ModelProto in the form json, --as names another message$/m],
      [['convert', 'cut.json', '--to', 'operator-set'], /cut\.json:1:6: .*\[json\.syntax\]\nopspec: cut\.json cannot be converted to operator-set: it is malformed$/m],
      [['convert', 'lfs.onnx', '--to', 'json'], /--as names another message; it looks like a Git LFS pointer; fetch the file itself/],
      [['convert', 'syntax.txt', '--to', 'canonical'], /it looks like a model in ONNX's syntax/],
      [['convert', 'plain.opspec.json', '--to', 'npy'], /cannot be converted to npy/],
      [['diff', 'a.pb', 'nowhere.pb'], /cannot be read/]
    ]) {
      const { status, stderr } = told(...args)
      assert.equal(status, 2, args.join(' '))
      assert.match(stderr, pattern)
    }
  })

  it('checks, shows and compares texts of models as the models that they say', () => {
    const texts = {
      'm.textproto': 'ir_version: 8\ngraph {\n  node { op_type: "Relu" input: "x" output: "y" }\n  name: "g"\n}\nopset_import { version: 13 }\n',
      'm.onnxtxt': '<ir_version: 8, opset_import: ["": 13]>\ng (float[N] x) => (float[N] y) { y = Relu(x) }\n',
      'm.json': '{"irVersion": "8", "graph": {"name": "g", "node": [{"opType": "Relu", "input": ["x"], "output": ["y"]}]}, "opsetImport": [{"version": "13"}]}',
      'bad.textproto': 'ir_version: 8\ngraph { name: "g" bad: 3 }'
    }
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
    const unknown = /^m\.\w+: graph\.node\[0\]\.input\[0\]: error: Relu reads "x", which nothing makes.* \[model\.node\.input-unknown\]\n1 file/
    for (const args of [['m.textproto'], ['m.json', '--as', 'model']]) {
      const { status, stdout } = told('check', ...args)
      assert.equal(status, 1)
      assert.match(stdout, unknown)
      assert.match(told('show', ...args).stdout, /: model, \d+ bytes, sha256 .*\nIR 8, ai\.onnx 13\n1 nodes: Relu/)
    }
    assert.equal(told('check', 'm.onnxtxt').status, 0)
    const [{ kind, findings: [{ range, path }] }] = JSON.parse(told('check', '--format', 'json', 'm.textproto').stdout).files
    assert.deepEqual([kind, range, path], ['model', undefined, 'graph.node[0].input[0]'])
    assert.match(told('diff', 'm.textproto', 'm.onnxtxt').stdout, /breaking graph\.input\[0\]: The input "x" is new/)
    assert.match(told('diff', '--as', 'model', 'm.json', 'm.textproto').stdout, /^no change/)
  })

  it('says where a text cannot be read', () => {
    assert.match(told('check', 'bad.textproto').stdout, /^bad\.textproto:2:19: error: GraphProto has no field bad \[form\.field\]\n.*\n.*\^\^\^/)
    for (const args of [['show', 'bad.textproto'], ['diff', 'bad.textproto', 'm.onnxtxt']]) {
      const { status, stderr } = told(...args)
      assert.equal(status, 2)
      assert.equal(stderr, 'opspec: bad.textproto:2:19: GraphProto has no field bad [form.field]\nopspec: bad.textproto cannot be read as a ModelProto in the form textproto\n')
    }
  })
})
