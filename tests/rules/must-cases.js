// What the standard demands of its messages (MUST, required, unique, distinct; in onnx.proto, onnx-operators.proto,
// onnx-data.proto and the text of the IR), demand by demand: documents that break it, documents that keep it.
//
// demand: { says, parts }, each part { rule, severity, as, fires, silent, path }: rule speaks about each of `fires` with that
// severity, at `path` if it is given; it is silent about each of `silent`, which have no error. `full: true` asks for inference.
// `files` go along. A part with `run` is a session instead.
import { message } from '../support/proto.js'

// ---- Parts of documents -------------------------------------------------------------------------------------------

const FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6, INT64 = 7, STRING = 8, BOOL = 9, FLOAT16 = 10, DOUBLE = 11, UINT32 = 12, COMPLEX64 = 14
const INT4 = 22, INT2 = 26

const dims = (...list) => ({ dim: list.map(dim => typeof dim === 'string' ? { dim_param: dim } : { dim_value: dim }) })
const tensorOf = (elem = FLOAT, ...list) => ({ tensor_type: { elem_type: elem, shape: dims(...list.length > 0 ? list : [2]) } })
const value = (name, type = tensorOf()) => ({ name, ...type === null ? {} : { type } })
const node = (op, input, output, more = {}) => ({ op_type: op, input, output, ...more })
const relu = (from = 'x', to = 'y', more = {}) => node('Relu', [from], [to], more)
const weight = (name = 'w', more = {}) => ({ name, dims: [2], data_type: FLOAT, float_data: [1, 2], ...more })
const graph = (more = {}) => ({ name: 'g', node: [relu()], input: [value('x')], output: [value('y')], ...more })
const model = (more = {}) => message('ModelProto', { ir_version: 10, opset_import: [{ version: 21 }], graph: graph(), ...more })
const inGraph = more => model({ graph: graph(more) })
const inNode = more => inGraph({ node: [relu('x', 'y', more)] })
const typed = type => inGraph({ value_info: [value('y', type)] })

/** A function d:F with x -> y, a node that calls it, and what changes in the function or the model. */
const F = (more = {}) => ({ name: 'F', domain: 'd', input: ['x'], output: ['y'], opset_import: [{ version: 21 }], node: [relu()], ...more })
const withFunctions = (functions, more = {}) => model({
  opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], functions, graph: graph({ node: [node('F', ['x'], ['y'], { domain: 'd' })] }), ...more
})
const inFunction = more => withFunctions([F(more)])

/** An If whose branches are these graphs. */
const branch = (more = {}) => ({ name: 'b', node: [relu('x', 'b_y')], output: [value('b_y')], ...more })
const branches = more => inGraph({
  input: [value('x'), value('c', { tensor_type: { elem_type: BOOL, shape: { dim: [] } } })],
  node: [node('If', ['c'], ['y'], { attribute: [
    { name: 'then_branch', type: 5, g: branch(more) }, { name: 'else_branch', type: 5, g: branch({ name: 'e', node: [relu('x', 'e_y')], output: [value('e_y')] }) }
  ] })]
})
/** A Loop that runs no body node but Identity. */
const loop = more => inGraph({
  input: [value('x'), value('n', { tensor_type: { elem_type: INT64, shape: { dim: [] } } }), value('c', { tensor_type: { elem_type: BOOL, shape: { dim: [] } } })],
  node: [node('Loop', ['n', 'c', 'x'], ['y'], { attribute: [{ name: 'body', type: 5, g: {
    name: 'b', input: [value('i', tensorOf(INT64)), value('go', tensorOf(BOOL)), value('at')].map(({ name }) => ({ name })),
    node: [node('Identity', ['go'], ['go_on']), relu('at', 'next')], output: [{ name: 'go_on' }, { name: 'next' }], ...more
  } }] })]
})
const named = (attribute, op = 'Softmax') => inGraph({ node: [node(op, ['x'], ['y'], { attribute: [attribute] })] })
const axis = { name: 'axis', type: 2, i: 0 }

const tensor = (more = {}) => message('TensorProto', { ...weight(), ...more })
const only = object => message('TensorProto', object)
const raw = (type, list, bytes) => only({ name: 'w', dims: list, data_type: type, raw_data: Uint8Array.from(bytes) })
const int32s = (type, list, data) => only({ name: 'w', dims: list, data_type: type, int32_data: data })
const external = (entries, more = {}) => only({
  name: 'w', dims: [2], data_type: FLOAT, data_location: 1, external_data: Object.entries(entries).map(([key, value]) => ({ key, value })), ...more
})
const files = { 'w.bin': new Uint8Array(8192), 'a..b': new Uint8Array(8) }
const strings = list => only({ name: 'w', dims: [list.length], data_type: STRING, string_data: list })

const indices = (list, data) => ({ dims: list, data_type: INT64, int64_data: data })
const sparse = (more = {}) => message('SparseTensorProto', { dims: [3, 4], values: weight('s'), indices: indices([2], [1, 7]), ...more })

const keys = (...list) => list.map(key => ({ key, value: 'v' }))
const distinct = { metadata_props: keys('a', 'b') }, twice = { metadata_props: keys('a', 'a') }

const training = (info, more = {}) => inGraph({ initializer: [weight()], ...more, ...info.main }) && model({
  graph: graph({ node: [node('Add', ['x', 'w'], ['y'])], initializer: [weight()], ...more }), training_info: [].concat(info)
})
const algorithm = (more = {}) => ({ name: 'a', node: [node('Neg', ['y'], ['w_new'])], output: [value('w_new')], ...more })
const update = [{ key: 'w', value: 'w_new' }]
const start = (more = {}) => ({ name: 'i', node: [node('Constant', [], ['w_0'], { attribute: [{ name: 'value', type: 4, t: weight('t') }] })], output: [value('w_0')], ...more })

const devices = (configuration, spec, more = {}) => model({
  ir_version: 11, configuration: [].concat(configuration ?? { name: 'two', num_devices: 2 }),
  graph: graph({ node: [relu('x', 'y', { device_configurations: [{ configuration_id: 'two', ...spec === undefined ? {} : { sharding_spec: [spec] }, ...more }] })] })
})
const cut = { axis: 0, simple_sharding: [{ dim_value: 2, num_shards: 2 }] }
const shard = (more = {}) => devices(undefined, { tensor_name: 'x', device: [0, 1], sharded_dim: [cut], ...more })

const annotation = more => inGraph({
  initializer: [weight('scale')], quantization_annotation: [{ tensor_name: 'x', quant_parameter_tensor_names: [{ key: 'SCALE_TENSOR', value: 'scale' }], ...more }]
})

const operator = (more = {}) => ({ op_type: 'Foo', since_version: 1, status: 1, ...more })
const set = (more = {}) => message('OperatorSetProto', {
  magic: 'ONNXOPSET', ir_version: 10, domain: 'com.example', opset_version: 3, operator: [operator()], ...more
})
const setFunction = (more = {}) => F({ domain: 'com.example', ...more })

const sequence = object => message('SequenceProto', object)
const map = object => message('MapProto', object)
const optional = object => message('OptionalProto', object)
const floats = weight('f'), ints = { dims: [2], data_type: INT64, int64_data: [1, 2] }
const pair = { elem_type: 1, tensor_values: [floats, floats] }

// ---- onnx.proto ---------------------------------------------------------------------------------------------------

const error = (rule, fires, silent, more = {}) => ({ rule, severity: 'error', as: 'model', fires, silent, ...more })
const warning = (rule, fires, silent, more = {}) => ({ ...error(rule, fires, silent, more), severity: 'warning' })
const good = [model()]

const models = {
  A1: ['keys of lists that stand for maps are distinct', [
    error('model.metadata.duplicate', [model(twice)], [model(distinct)], { path: 'metadata_props[1]' }),
    warning('model.metadata.duplicate', [inGraph(twice), inNode(twice), inGraph({ input: [{ ...value('x'), ...twice }] }), inFunction(twice), inFunction({ value_info: [{ ...value('y'), ...twice }] })],
      [inGraph(distinct), inNode(distinct), inGraph({ input: [{ ...value('x'), ...distinct }] }), inFunction(distinct), inFunction({ value_info: [{ ...value('y'), ...distinct }] })]),
    warning('model.metadata.duplicate', [inGraph({ value_info: [{ ...value('y'), ...twice }] })], [inGraph({ value_info: [{ ...value('y'), ...distinct }] })], { path: 'graph.value_info[0].metadata_props[1]' }),
    warning('onnx.entry.duplicate', [tensor(twice), external({ location: 'w.bin' }, { external_data: [{ key: 'location', value: 'w.bin' }, { key: 'location', value: 'w.bin' }] })],
      [tensor(distinct), external({ location: 'w.bin' })], { as: 'tensor', files }),
    warning('onnx.entry.duplicate', [
      annotation({ quant_parameter_tensor_names: ['scale', 'scale'].map(value => ({ key: 'SCALE_TENSOR', value })) }),
      training({ initialization: start(), initialization_binding: [{ key: 'w', value: 'w_0' }, { key: 'w', value: 'w_0' }] })
    ], [annotation(), training({ initialization: start(), initialization_binding: [{ key: 'w', value: 'w_0' }] })])
  ]],
  A2: ['an attribute has a name', [
    error('model.attribute.name', [inNode({ attribute: [{ type: 2, i: 1 }] })], [named(axis)], { path: 'graph.node[0].attribute[0]' }),
    warning('model.attribute.name', [inFunction({ attribute_proto: [{ type: 2, i: 1 }] })], [inFunction({ attribute_proto: [{ name: 'k', type: 2, i: 1 }] })],
      { path: 'functions[0].attribute_proto[0]' })
  ]],
  A3: ['one field holds the value', [error('model.attribute.type', [named({ ...axis, f: 1 }), named({ ...axis, ints: [1] })], [named(axis)])]],
  A4: ['ref_attr_name is for bodies of functions', [
    warning('model.attribute.reference', [named({ name: 'axis', type: 2, ref_attr_name: 'axis' })],
      [inFunction({ attribute: ['axis'], node: [node('Softmax', ['x'], ['y'], { attribute: [{ name: 'axis', type: 2, ref_attr_name: 'axis' }] })] })])
  ]],
  A5: ['an attribute that refers has no value', [
    warning('model.attribute.reference', [inFunction({ attribute: ['axis'], node: [node('Softmax', ['x'], ['y'], { attribute: [{ ...axis, ref_attr_name: 'axis' }] })] })],
      [inFunction({ attribute: ['axis'], node: [node('Softmax', ['x'], ['y'], { attribute: [{ name: 'axis', type: 2, ref_attr_name: 'axis' }] })] })]),
    error('model.attribute.reference', [branches({ node: [node('Softmax', ['x'], ['b_y'], { attribute: [{ ...axis, ref_attr_name: 'axis' }] })] })],
      [branches({ node: [node('Softmax', ['x'], ['b_y'], { attribute: [axis] })] })])
  ]],
  A6: ['an attribute says its type, which is that of its field', [
    error('model.attribute.type', [named({ name: 'axis', i: 0 }), named({ name: 'axis', type: 1, i: 0 }), named({ name: 'axis', type: 0, i: 0 })], [named(axis)]),
    warning('model.attribute.type', [inNode({ domain: 'd', attribute: [{ name: 'k', type: 0 }] })].map((_, i) => model({
      opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], graph: graph({ node: [relu('x', 'y', { domain: 'd', attribute: [{ name: 'k', type: i }] })] })
    })), [model({ opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], graph: graph({ node: [relu('x', 'y', { domain: 'd', attribute: [{ name: 'k', type: 2 }] })] }) })])
  ]],
  A7: ['strings of attributes are UTF-8', [
    warning('model.attribute.utf8', [named({ name: '__s', type: 3, s: Uint8Array.of(0xff) }), named({ name: '__s', type: 8, strings: ['a', Uint8Array.of(0xc3)] })],
      [named({ name: '__s', type: 3, s: 'é' })])
  ]],
  A8: ['a value that is described has a name', [
    error('model.value.name', [inGraph({ input: [value('x'), value('')] })], good, { path: 'graph.input[1].name' }),
    warning('model.value.name', [inGraph({ value_info: [{ type: tensorOf() }] })], [inGraph({ value_info: [value('y')] })], { path: 'graph.value_info[0].name' })
  ]],
  A9: ['inputs and outputs of the main graph say their types', [
    error('model.value.type', [
      inGraph({ input: [value('x', null)] }), inGraph({ output: [value('y', null)] }), inGraph({ input: [value('x', {})] }),
      inGraph({ input: [value('x', { tensor_type: { shape: dims(2) } })] })
    ], [...good, loop()])
  ]],
  A10: ['a node refers to a device configuration of the model', [
    warning('model.device.configuration', [devices(undefined, undefined, { configuration_id: 'three' }), devices(undefined, undefined, { configuration_id: '' })], [devices()],
      { path: 'graph.node[0].device_configurations[0]' })
  ]],
  A11: ['a sharding names a value of its node', [
    warning('model.device.configuration', [shard({ tensor_name: '' }), shard({ tensor_name: 'z' })], [shard(), shard({ tensor_name: 'y' })],
      { path: 'graph.node[0].device_configurations[0].sharding_spec[0]' })
  ]],
  A12: ['a sharded dim has an axis, and the tensor has it', [
    warning('model.device.configuration', [shard({ sharded_dim: [{ simple_sharding: cut.simple_sharding }] })], [shard()]),
    warning('model.device.sharding', [shard({ sharded_dim: [{ ...cut, axis: 1 }] }), shard({ sharded_dim: [{ ...cut, axis: -2 }] })],
      [shard(), shard({ sharded_dim: [{ ...cut, axis: -1 }] })], { path: 'graph.node[0].device_configurations[0].sharding_spec[0].sharded_dim[0]' })
  ]],
  A13: ['a sharded dim says the number of its shards', [
    warning('model.device.configuration', [shard({ sharded_dim: [{ axis: 0, simple_sharding: [{ dim_value: 2 }] }] })], [shard()]),
    warning('model.device.sharding', [shard({ sharded_dim: [{ axis: 0, simple_sharding: [{ dim_value: 2, num_shards: 0 }] }] })],
      [shard({ sharded_dim: [{ axis: 0, simple_sharding: [{ dim_param: 'N', num_shards: 2 }] }] })])
  ]],
  A14: ['a device configuration has a name and as many devices as it says', [
    warning('model.device.configuration', [
      devices([{ name: 'two', num_devices: 2 }, { num_devices: 2 }]), devices({ name: 'two' }), devices({ name: 'two', num_devices: 2, device: ['a'] })
    ], [devices({ name: 'two', num_devices: 2, device: ['a', 'b'] })])
  ]],
  A15: ['groups of devices are listed once, and devices exist', [
    warning('model.device.sharding', [
      shard({ index_to_device_group_map: [{ key: 5, value: [0] }, { key: 5, value: [1] }] }), shard({ device: [0, 2] }), shard({ device: [-1] }),
      shard({ index_to_device_group_map: [{ key: 5, value: [7] }] })
    ], [shard({ device: [5], index_to_device_group_map: [{ key: 5, value: [0, 1] }] })])
  ]],
  A16: ['main graph and training algorithm are one graph in order', [
    warning('model.node.input-unknown', [training({ algorithm: algorithm({ node: [node('Neg', ['nowhere'], ['w_new'])] }) })],
      [training({ algorithm: algorithm(), update_binding: update })], { path: 'training_info[0].algorithm.node[0].input[0]' }),
    warning('model.node.ssa', [training({ algorithm: algorithm({ node: [node('Neg', ['y'], ['y']), node('Neg', ['x'], ['w_new'])] }) })],
      [training({ algorithm: algorithm({ output: [value('w_new'), value('y')] }) })], { path: 'training_info[0].algorithm.node[0].output[0]' }),
    warning('model.node.order', [training({ algorithm: algorithm({ node: [node('Neg', ['t'], ['w_new']), node('Neg', ['y'], ['t'])] }) })],
      [training({ algorithm: algorithm({ node: [node('Neg', ['y'], ['t']), node('Neg', ['t'], ['w_new'])] }) })]),
    warning('model.node.unknown-operator', [training({ algorithm: algorithm({ node: [node('Negg', ['y'], ['w_new'])] }) })], [training({ algorithm: algorithm() })]),
    warning('model.graph.shadow', [training({ algorithm: algorithm({ input: [value('x')] }) }), training({ algorithm: algorithm({ initializer: [weight()] }) })],
      [training({ algorithm: algorithm({ input: [value('x2')], initializer: [weight('w2')] }) })]),
    warning('model.node.input-unknown', [training({ initialization: start({ node: [node('Neg', ['x'], ['w_0'])] }) })], [training({ initialization: start() })])
  ]],
  A17: ['the initialization has no input', [
    warning('model.training.binding', [training({ initialization: start({ input: [value('i')] }) })], [training({ initialization: start() })], { path: 'training_info[0].initialization' })
  ]],
  A18: ['the main graph does not read what the algorithm makes', [
    error('model.node.input-unknown', [training({ algorithm: algorithm() }, { node: [node('Add', ['x', 'w_new'], ['y'])] })], [training({ algorithm: algorithm() })],
      { path: 'graph.node[0].input[1]' })
  ]],
  A19: ['each variable is updated once, whatever the number of training graphs', [
    warning('model.training.binding', [
      training([{ algorithm: algorithm(), update_binding: [...update, ...update] }]),
      training([{ algorithm: algorithm(), update_binding: update }, { algorithm: algorithm(), update_binding: update }])
    ], [training([{ algorithm: algorithm(), update_binding: update }, { algorithm: algorithm() }])])
  ]],
  A20: ['bindings are of initializers', [
    warning('model.training.binding', [
      training({ algorithm: algorithm(), update_binding: [{ key: 'x', value: 'w_new' }] }), training({ initialization: start(), initialization_binding: [{ key: 'z', value: 'w_0' }] })
    ], [training({ algorithm: algorithm({ initializer: [weight('step')] }), update_binding: [...update, { key: 'step', value: 'y' }] })])
  ]],
  A21: ['an update takes an output of the algorithm or the main graph', [
    warning('model.training.binding', [training({ algorithm: algorithm(), update_binding: [{ key: 'w', value: 'x' }] })],
      [training({ algorithm: algorithm(), update_binding: update }), training({ algorithm: algorithm(), update_binding: [{ key: 'w', value: 'y' }] })],
      { path: 'training_info[0].update_binding[0]' })
  ]],
  A22: ['a first value is an output of the initialization', [
    warning('model.training.binding', [training({ initialization: start(), initialization_binding: [{ key: 'w', value: 'y' }] })],
      [training({ initialization: start(), initialization_binding: [{ key: 'w', value: 'w_0' }] })], { path: 'training_info[0].initialization_binding[0]' })
  ]],
  A23: ['a model says its IR version', [error('model.ir-version.missing', [message('ModelProto', { opset_import: [{ version: 21 }], graph: graph() }), model({ ir_version: 0 })], good)]],
  A24: ['a model imports an operator set', [error('model.opset.missing', [model({ opset_import: [] })], [...good, model({ ir_version: 3 }), model({ ir_version: 2, opset_import: [] })])]],
  A25: ['functions differ in domain, name or overload', [
    error('model.function.duplicate', [withFunctions([F(), F()])], [withFunctions([F(), F({ overload: 'o' }), F({ name: 'G' })]), withFunctions([F(), F()], { ir_version: 7, graph: graph() })],
      { path: 'functions[1]' })
  ]],
  A26: ['functions and the model mean the same operators', [
    error('model.function.opset', [
      inFunction({ opset_import: [{ version: 12 }] }),
      withFunctions([2, 5].map(version => F({
        name: `F${version}`, opset_import: [{ domain: 'ai.onnx.ml', version }], node: [node('TreeEnsembleClassifier', ['x'], ['y', 'z'], { domain: 'ai.onnx.ml' })]
      })), { graph: graph() })
    ], [inFunction({ opset_import: [{ version: 20 }] })]),
    warning('model.function.opset', [withFunctions([F({ opset_import: [{ version: 12 }] })], { opset_import: [{ domain: 'ai.onnx', version: 21 }, { domain: 'd', version: 1 }] })],
      [withFunctions([F()], { opset_import: [{ domain: 'ai.onnx', version: 21 }, { domain: 'd', version: 1 }] })])
  ]],
  A27: ['functions do not call themselves', [
    error('model.function.recursive', [
      inFunction({ opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], node: [node('F', ['x'], ['y'], { domain: 'd' })] }),
      withFunctions([['F', 'G'], ['G', 'F']].map(([name, called]) => F({ name, opset_import: [{ domain: 'd', version: 1 }], node: [node(called, ['x'], ['y'], { domain: 'd' })] })))
    ], [withFunctions([F({ opset_import: [{ domain: 'd', version: 1 }], node: [node('G', ['x'], ['y'], { domain: 'd' })] }), F({ name: 'G' })])])
  ]],
  A28: ['an annotation names values of the graph by keys that are defined', [
    warning('model.quantization.annotation', [
      annotation({ tensor_name: 'z' }), annotation({ quant_parameter_tensor_names: [{ key: 'SCALE', value: 'scale' }] }),
      annotation({ quant_parameter_tensor_names: [{ key: 'SCALE_TENSOR', value: 'none' }] })
    ], [annotation(), annotation({ quant_parameter_tensor_names: [{ key: 'ZERO_POINT_TENSOR', value: 'scale' }] })])
  ]],
  A29: ['nodes are in an order in which they can run', [
    error('model.node.order', [inGraph({ node: [relu('t', 'y'), relu('x', 't')] })], [inGraph({ node: [relu('x', 't'), relu('t', 'y')] })], { path: 'graph.node[0].input[0]' })
  ]],
  A30: ['an initializer has a name', [
    error('model.initializer.name', [inGraph({ initializer: [weight('')] }), inGraph({ sparse_initializer: [{ dims: [4], values: weight(''), indices: indices([2], [0, 1]) }] })],
      [inGraph({ initializer: [weight()], sparse_initializer: [{ dims: [4], values: weight('s'), indices: indices([2], [0, 1]) }] })])
  ]],
  A31: ['names of initializers are unique, dense and sparse ones together', [
    error('model.initializer.duplicate', [
      inGraph({ initializer: [weight(), weight()] }), inGraph({ initializer: [weight()], sparse_initializer: [{ dims: [4], values: weight(), indices: indices([2], [0, 1]) }] })
    ], [inGraph({ initializer: [weight()], input: [value('x'), value('w')] })])
  ]],
  A32: ['value_info describes each value once', [
    warning('model.value.info-duplicate', [inGraph({ value_info: [value('y'), value('y')] })], [inGraph({ value_info: [value('y'), value('x')] })], { path: 'graph.value_info[1]' })
  ]],
  A33: ['data_type is an element type', [
    error('onnx.tensor.data-type', [only({ dims: [2], float_data: [1, 2] }), tensor({ data_type: 0 }), tensor({ data_type: 99 })], [tensor()], { as: 'tensor', path: 'data_type' }),
    warning('onnx.tensor.data-type', [raw(99, [1], [1])], [raw(UINT8, [1], [1])], { as: 'tensor', path: 'data_type' }),
    error('onnx.tensor.data-type', [inGraph({ initializer: [weight('w', { data_type: 0 })] })], [inGraph({ initializer: [weight()] })], { path: 'graph.initializer[0].data_type' })
  ]],
  A34: ['one field holds the elements', [
    error('onnx.tensor.storage', [tensor({ raw_data: new Uint8Array(8) }), only({ dims: [2], data_type: FLOAT }), tensor({ int32_data: [1] })],
      [tensor(), raw(FLOAT, [2], new Uint8Array(8))], { as: 'tensor' })
  ]],
  A35: ['float_data is for FLOAT and COMPLEX64', [
    error('onnx.tensor.field', [tensor({ data_type: DOUBLE }), tensor({ data_type: INT32 })], [tensor(), only({ dims: [1], data_type: COMPLEX64, float_data: [1, 2] })], { as: 'tensor' })
  ]],
  A36: ['int32_data is for the narrow types and INT32', [
    error('onnx.tensor.field', [int32s(FLOAT, [1], [1]), int32s(INT64, [1], [1]), int32s(UINT32, [1], [1])],
      [INT32, INT8, UINT8, FLOAT16, BOOL, 17, 23, 24].map(type => int32s(type, [1], [1])), { as: 'tensor' })
  ]],
  A37: ['narrow floats lie there as bit patterns', [
    warning('onnx.tensor.range', [int32s(FLOAT16, [1], [65536]), int32s(17, [1], [-1000])], [int32s(FLOAT16, [1], [65535]), int32s(17, [1], [255])], { as: 'tensor' })
  ]],
  A38: ['an int32 holds two 4-bit or four 2-bit elements', [
    warning('onnx.tensor.count', [int32s(INT4, [8], [1]), int32s(INT2, [16], [1])], [int32s(INT4, [3], [1, 2]), int32s(INT2, [5], [1, 2])], { as: 'tensor' }),
    error('onnx.tensor.count', [int32s(INT4, [9], [1]), int32s(INT2, [17], [1])], [int32s(INT4, [4], [1, 2])], { as: 'tensor' })
  ]],
  A39: ['strings are UTF-8 without a mark before or a NUL behind', [
    warning('onnx.tensor.string', [strings([Uint8Array.of(0xff)]), strings(['abc\0']), strings(['\ufeffabc'])], [strings(['é', '', 'a\0b'])], { as: 'tensor' })
  ]],
  A40: ['int64_data, double_data and uint64_data are for their types', [
    error('onnx.tensor.field', [
      only({ dims: [1], data_type: INT32, int64_data: [1] }), only({ dims: [1], data_type: FLOAT, double_data: [1] }), only({ dims: [1], data_type: INT64, uint64_data: [1] })
    ], [only({ dims: [1], data_type: INT64, int64_data: [1] }), only({ dims: [1], data_type: 15, double_data: [1, 2] }), only({ dims: [1], data_type: UINT32, uint64_data: [1] })], { as: 'tensor' })
  ]],
  A41: ['strings are never in raw_data, nor in a file of such', [
    error('onnx.tensor.field', [raw(STRING, [1], [65])], [strings(['A'])], { as: 'tensor', path: 'raw_data' }),
    warning('onnx.tensor.field', [external({ location: 'w.bin' }, { data_type: STRING })], [external({ location: 'w.bin' })], { as: 'tensor', path: 'data_location', files })
  ]],
  A42: ['raw_data has the size of the elements', [
    error('onnx.tensor.raw-size', [raw(FLOAT, [2], new Uint8Array(7)), raw(COMPLEX64, [1], new Uint8Array(4)), raw(INT4, [3], [1])],
      [raw(FLOAT, [2], new Uint8Array(8)), raw(COMPLEX64, [1], new Uint8Array(8))], { as: 'tensor' }),
    warning('onnx.tensor.raw-size', [raw(FLOAT, [2], new Uint8Array(9))], [raw(FLOAT, [2], new Uint8Array(8))], { as: 'tensor' })
  ]],
  A43: ['a BOOL is the byte 0 or 1', [warning('onnx.tensor.bool', [raw(BOOL, [2], [0, 2])], [raw(BOOL, [2], [0, 1])], { as: 'tensor' })]],
  A44: ['narrow elements are packed, whatever is in the bits behind the last', [
    error('onnx.tensor.raw-size', [raw(INT4, [4], [1]), raw(INT2, [9], [1, 2])], [raw(INT4, [3], [0x21, 0xf3]), raw(INT2, [5], [1, 0xff])], { as: 'tensor' })
  ]],
  A45: ['data_location is DEFAULT or EXTERNAL', [warning('onnx.tensor.location', [tensor({ data_location: 7 })], [tensor({ data_location: 0 }), external({ location: 'w.bin' })], { as: 'tensor', files })]],
  A46: ['external data says where it is', [
    error('onnx.external.location', [external({ offset: '0' }), external({ location: '' }), external({ location: '/w.bin' }), external({ location: '../w.bin' }), external({ location: 'a..b' })],
      [external({ location: 'w.bin' }), external({ location: 'a/../w.bin' })], { as: 'tensor', files: { ...files, 'a/../w.bin': files['w.bin'] } }),
    warning('onnx.external.entry', [{ offset: '-1' }, { length: 'x' }, { offset: '0x10' }, { checksum: 'abc' }].map(more => external({ location: 'w.bin', ...more })),
      [external({ location: 'w.bin', offset: '4096', length: '8', checksum: '0123456789abcdef0123456789ABCDEF01234567' })], { as: 'tensor', files }),
    { ...warning('onnx.external.align', [external({ location: 'w.bin', offset: '8', length: '8' })], [external({ location: 'w.bin', offset: '4096', length: '8' })], { as: 'tensor', files }), severity: 'info' }
  ]],
  A47: ['external data has no elements beside it', [
    error('onnx.tensor.storage', [external({ location: 'w.bin' }, { float_data: [1, 2] })], [external({ location: 'w.bin' })], { as: 'tensor', files })
  ]],
  A48: ['values of a sparse tensor are a list', [
    error('onnx.sparse.values', [message('SparseTensorProto', { dims: [4] }), sparse({ values: weight('s', { dims: [2, 1] }) })], [sparse()], { as: 'sparse-tensor' }),
    error('model.initializer.name', [inGraph({ sparse_initializer: [{ dims: [4], values: weight(''), indices: indices([2], [0, 1]) }] })],
      [inGraph({ sparse_initializer: [{ dims: [4], values: weight('s'), indices: indices([2], [0, 1]) }] })], { path: 'graph.sparse_initializer[0]' })
  ]],
  A49: ['indices of a sparse tensor fit it and ascend', [
    error('onnx.sparse.indices', [
      sparse({ indices: indices([3], [1, 2, 3]) }), sparse({ indices: indices([2], [1, 12]) }), sparse({ indices: indices([2, 3], [0, 0, 0, 1, 1, 1]) }),
      sparse({ indices: indices([2, 2], [0, 0, 3, 0]) }), sparse({ indices: { dims: [2], data_type: INT32, int32_data: [0, 1] } }), sparse({ indices: indices([2, 1, 1], [0, 1]) })
    ], [sparse(), sparse({ indices: indices([2, 2], [0, 3, 1, 0]) })], { as: 'sparse-tensor' }),
    error('onnx.sparse.order', [sparse({ indices: indices([2], [7, 1]) }), sparse({ indices: indices([2], [1, 1]) }), sparse({ indices: indices([2, 2], [1, 0, 0, 3]) })], [sparse()], { as: 'sparse-tensor' })
  ]],
  A50: ['a tensor type has an element type that exists', [
    warning('model.type.incomplete', [typed({ tensor_type: { shape: dims(2) } }), typed({ sparse_tensor_type: {} })], [typed(tensorOf())]),
    warning('model.value.elem-type', [typed(tensorOf(77)), typed(tensorOf(0)), inGraph({ input: [value('x'), value('z', tensorOf(99))] })], [typed(tensorOf(26))]),
    warning('model.value.elem-type', [typed(tensorOf(77)), inGraph({ output: [value('y', tensorOf(0))] }), inGraph({ input: [value('x'), value('z', tensorOf(99))] })], [typed(tensorOf(1))], { full: true }),
    error('model.value.elem-type', [inGraph({ input: [value('x', tensorOf(77))] }), inGraph({ output: [value('y', tensorOf(77))] }), inGraph({ input: [value('x', tensorOf(0))] })], good, { full: true }),
    error('model.value.type', [inGraph({ output: [value('y', { tensor_type: {} })] })], good)
  ]],
  A51: ['a sequence type has an element type', [
    error('model.value.type', [inGraph({ input: [value('x'), value('s', { sequence_type: {} })] })], [inGraph({ input: [value('x'), value('s', { sequence_type: { elem_type: tensorOf() } })] })]),
    error('model.type.incomplete', [inGraph({ input: [value('x'), value('s', { sequence_type: { elem_type: {} } })], node: [relu(), node('Identity', ['s'], ['t'])] })],
      [inGraph({ input: [value('x'), value('s', { sequence_type: { elem_type: tensorOf() } })], node: [relu(), node('Identity', ['s'], ['t'])] })], { full: true }),
    warning('model.type.incomplete', [typed({ sequence_type: {} }), inGraph({ input: [value('x'), value('s', { sequence_type: { elem_type: {} } })] })],
      [inGraph({ input: [value('x'), value('s', { sequence_type: { elem_type: tensorOf() } })] })])
  ]],
  A52: ['a map type has a key type of integers or strings, and a value type', [
    error('model.value.type', [{ value_type: tensorOf() }, { key_type: INT64 }].map(map_type => inGraph({ input: [value('x'), value('m', { map_type })] })),
      [inGraph({ input: [value('x'), value('m', { map_type: { key_type: INT64, value_type: tensorOf() } })] })]),
    warning('model.type.key', [FLOAT, BOOL, INT4].map(key_type => inGraph({ input: [value('x'), value('m', { map_type: { key_type, value_type: tensorOf() } })] })),
      [STRING, UINT8, INT64].map(key_type => inGraph({ input: [value('x'), value('m', { map_type: { key_type, value_type: tensorOf() } })] })),
      { path: 'graph.input[1].type.map_type.key_type' }),
    warning('model.type.incomplete', [inGraph({ input: [value('x'), value('m', { sequence_type: { elem_type: { map_type: { key_type: INT64 } } } })] })],
      [inGraph({ input: [value('x'), value('m', { sequence_type: { elem_type: { map_type: { key_type: INT64, value_type: tensorOf() } } } })] })],
      { path: 'graph.input[1].type.sequence_type.elem_type' })
  ]],
  A53: ['an optional type has an element type', [
    error('model.value.type', [inGraph({ input: [value('x'), value('o', { optional_type: {} })] })], [inGraph({ input: [value('x'), value('o', { optional_type: { elem_type: tensorOf() } })] })]),
    warning('model.type.incomplete', [named({ name: '__t', type: 13, tp: { optional_type: {} } })], [named({ name: '__t', type: 13, tp: { optional_type: { elem_type: tensorOf() } } })],
      { path: 'graph.node[0].attribute[0].tp' })
  ]],
  A54: ['an import says its version', [
    warning('model.opset.range', [{}, { version: 0 }, { version: -1 }].map(more => model({ opset_import: [{ version: 21 }, { domain: 'd', ...more }] })), [model({ opset_import: [{ version: 21 }, { domain: 'd', version: 1 }] })],
      { path: 'opset_import[1]' })
  ]],
  A55: ['a domain is imported once', [
    warning('model.opset.duplicate', [model({ opset_import: [{ version: 13 }, { version: 21 }] }), inFunction({ opset_import: [{ version: 20 }, { version: 21 }] })], [model({ opset_import: [{ version: 21 }, { domain: 'd', version: 21 }] })]),
    warning('model.opset.duplicate', [model({ opset_import: [{ version: 21 }, { domain: 'ai.onnx', version: 21 }] }), model({ opset_import: [{ domain: 'ai.onnx', version: 20 }, { version: 21 }] })],
      [model({ opset_import: [{ domain: 'ai.onnx', version: 21 }] })], { path: 'opset_import[1]' })
  ]],
  A56: ['an attribute of a function is declared in one of two lists', [
    warning('model.function.attribute', [inFunction({ attribute: ['k'], attribute_proto: [{ name: 'k', type: 2, i: 1 }] })], [inFunction({ attribute: ['j'], attribute_proto: [{ name: 'k', type: 2, i: 1 }] })])
  ]],
  A57: ['value_info of a function describes values of it, each once', [
    warning('model.value.info-duplicate', [inFunction({ value_info: [value('y'), value('y')] })], [inFunction({ value_info: [value('x'), value('y')] })]),
    warning('model.value.info-unknown', [inFunction({ value_info: [value('t')] })], [inFunction({ value_info: [value('x'), value('y')] })], { path: 'functions[0].value_info[0]' })
  ]],
  A58: ['fields of early versions are not written', [
    warning('model.field.reserved', [
      named({ ...axis, '#12': 1 }), named({ ...axis, '#17': 'x' }), inGraph({ '#3': 'x' }), inGraph({ '#9': 1 }), inFunction({ '#2': 1 }), inFunction({ '#3': 1 }),
      typed({ opaque_type: { name: 'o', '#3': 1 } })
    ], [named({ ...axis, '#15000': 1 }), inGraph({ '#31': 1 }), inFunction({ '#15': 1 }), typed({ opaque_type: { name: 'o' } })])
  ]]
}

// ---- onnx-operators.proto -----------------------------------------------------------------------------------------

const asSet = { as: 'operator-set' }
const operators = (...list) => set({ operator: list.map(more => operator(more)) })
const sets = {
  B1: ['an operator has a name', [error('onnx.opset.operator', [operators({ op_type: '' })], [set()], { ...asSet, path: 'operator[0].op_type' })]],
  B2: ['an operator has a version', [error('onnx.opset.operator', [set({ operator: [{ op_type: 'Foo' }] })], [set()], { ...asSet, path: 'operator[0].since_version' })]],
  B3: ['the version is that of a set', [error('onnx.opset.operator', [operators({ since_version: 0 }), operators({ since_version: -1 })], [set()], asSet)]],
  B4: ['an operator that is stable is described once and for all', [
    error('onnx.opset.duplicate', [operators({ doc_string: 'a' }, { doc_string: 'b' })], [operators({ doc_string: 'a' }, { op_type: 'Bar', doc_string: 'b' })], asSet)
  ]],
  B5: ['an experimental operator becomes stable, not the other way round', [
    warning('onnx.opset.promotion', [operators({}, { since_version: 2, status: 0 })], [operators({ status: 0 }, { since_version: 2 })], { ...asSet, path: 'operator[1].status' })
  ]],
  B6: ['the status is EXPERIMENTAL or STABLE', [warning('onnx.opset.status', [operators({ status: 7 })], [operators({ status: 0 }), set()], asSet)]],
  B7: ['the magic word is there', [error('onnx.opset.header', [set({ magic: 'ONNX' }), message('OperatorSetProto', { ir_version: 10, domain: 'd', opset_version: 1 })], [set()], { ...asSet, path: 'magic' })]],
  B8: ['the IR version is there, and known', [
    error('onnx.opset.ir-version', [set({ ir_version: 0 })], [set()], { ...asSet, path: 'ir_version' }), warning('onnx.opset.newer', [set({ ir_version: 99 })], [set({ ir_version: 14 })], asSet)
  ]],
  B9: ['pre-release and build are parts of SemVer', [
    warning('onnx.opset.semver', [set({ ir_version_prerelease: 'rc..1' }), set({ ir_version_prerelease: '01' }), set({ ir_build_metadata: 'a b' }), set({ ir_build_metadata: 'a.' })],
      [set({ ir_version_prerelease: 'rc.1', ir_build_metadata: '007' }), set()], asSet)
  ]],
  B10: ['a set names its domain', [warning('onnx.opset.domain', [set({ domain: '' }), set({ domain: 'com..example' }), set({ domain: 'my domain' })], [set(), set({ domain: 'ai.onnx.ml' })], { ...asSet, path: 'domain' })]],
  B11: ['an operator is no newer than its set', [warning('onnx.opset.since', [operators({ since_version: 4 })], [operators({ since_version: 3 })], asSet)]],
  B12: ['name and version tell operators apart', [error('onnx.opset.duplicate', [operators({}, {})], [operators({}, { op_type: 'Bar' })], { ...asSet, path: 'operator[1].op_type' })]],
  B13: ['name and version tell operators and functions apart', [
    warning('onnx.opset.function', [set({ operator: [operator({ op_type: 'F', since_version: 3 })], functions: [setFunction()] })],
      [set({ functions: [setFunction()] }), set({ operator: [operator({ op_type: 'F' })], functions: [setFunction()] })], { ...asSet, path: 'functions[0].name' }),
    error('model.function.duplicate', [set({ functions: [setFunction(), setFunction()] })], [set({ functions: [setFunction(), setFunction({ overload: 'o' })] })], asSet)
  ]],
  B14: ['a set has a version', [error('onnx.opset.version', [set({ opset_version: 0 }), set({ opset_version: -3 })], [set()], { ...asSet, path: 'opset_version' })]],
  B15: ['functions of a set keep the rules of functions and are of its domain', [
    warning('onnx.opset.domain', [set({ functions: [F()] })], [set({ functions: [setFunction()] })], { ...asSet, path: 'functions[0].domain' }),
    error('model.node.input-unknown', [set({ functions: [setFunction({ node: [relu('z')] })] })], [set({ functions: [setFunction()] })], { ...asSet, path: 'functions[0].node[0].input[0]' }),
    error('model.function.parameter', [set({ functions: [setFunction({ output: ['y', 'y'] })] })], [set({ functions: [setFunction()] })], asSet),
    warning('model.node.unknown-operator', [set({ functions: [setFunction({ opset_import: [{ domain: 'com.example', version: 3 }], node: [node('Bar', ['x'], ['y'], { domain: 'com.example' })] })] })],
      [set({ functions: [setFunction({ opset_import: [{ domain: 'com.example', version: 3 }], node: [node('Foo', ['x'], ['y'], { domain: 'com.example' })] })] })], asSet)
  ]],
  B16: ['a name means one operator', [warning('onnx.opset.versions', [operators({}, { since_version: 2 })], [operators({}, { op_type: 'Bar', since_version: 2 })], { ...asSet, path: 'operator[1].op_type' })]],
  B17: ['names are identifiers', [warning('onnx.opset.name', [operators({ op_type: 'my op' }), operators({ op_type: '2d' }), operators({ op_type: 'caf\u00e9' })],
    [operators({ op_type: '_Foo2' })], { ...asSet, path: 'operator[0].op_type' })]],
  B18: ['a set has members', [{ ...warning('onnx.opset.empty', [set({ operator: [] })], [set(), set({ operator: [], functions: [setFunction()] })], { ...asSet, path: 'operator' }), severity: 'info' }]],
  B19: ['a function needs nothing later than its own set', [
    warning('onnx.opset.import', [set({ functions: [setFunction({ opset_import: [{ version: 21 }, { domain: 'com.example', version: 4 }] })] })],
      [set({ functions: [setFunction({ opset_import: [{ version: 21 }, { domain: 'com.example', version: 3 }] })] })], { ...asSet, path: 'functions[0].opset_import[1]' })
  ]],
  B20: ["the standard's operators are the standard's", [
    warning('onnx.opset.standard', [set({ domain: 'ai.onnx', opset_version: 21 }), set({ domain: 'ai.onnx.ml', operator: [operator({ op_type: 'Relu' })] })],
      [set({ domain: 'ai.onnx', opset_version: 21, operator: [operator({ op_type: 'Relu', since_version: 14 })] })], { ...asSet, path: 'operator[0].op_type' }),
    warning('onnx.opset.standard', [set({ domain: 'ai.onnx', opset_version: 21, operator: [operator({ op_type: 'Relu', since_version: 15 })] })], [set()], { ...asSet, path: 'operator[0].since_version' }),
    warning('onnx.opset.standard', [set({ domain: 'ai.onnx.ml', opset_version: 99, operator: [operator({ op_type: 'Binarizer' })] })], [set()], { ...asSet, path: 'opset_version' })
  ]]
}

// ---- onnx-data.proto ----------------------------------------------------------------------------------------------

const asSequence = { as: 'sequence' }, asMap = { as: 'map' }, asOptional = { as: 'optional' }
const data = {
  C1: ['a sequence says what its elements are', [
    error('onnx.sequence.elem-type', [sequence({ name: 's' }), sequence({ elem_type: 0 }), sequence({ elem_type: 9 })], [sequence(pair), sequence({ elem_type: 4 })], asSequence)
  ]],
  C2: ['the elements are in the list of their kind', [
    warning('onnx.sequence.field', [
      sequence({ elem_type: 2, tensor_values: [floats] }), sequence({ elem_type: 1, sparse_tensor_values: [{ dims: [4], values: floats, indices: indices([2], [0, 1]) }] }),
      sequence({ ...pair, sequence_values: [pair] }), sequence({ ...pair, map_values: [{ key_type: INT64, values: { elem_type: 1 } }] }), sequence({ ...pair, optional_values: [{ elem_type: 0 }] })
    ], [sequence(pair), sequence({ elem_type: 3, sequence_values: [pair] })], asSequence)
  ]],
  C3: ['the elements have one type', [
    warning('onnx.sequence.types', [
      sequence({ elem_type: 1, tensor_values: [floats, ints] }), sequence({ elem_type: 3, sequence_values: [pair, { elem_type: 1, tensor_values: [ints] }] }),
      sequence({ elem_type: 4, map_values: [INT64, INT32].map(key_type => ({ key_type, values: { elem_type: 1 } })) }),
      sequence({ elem_type: 2, sparse_tensor_values: [floats, ints].map(values => ({ dims: [4], values, indices: indices([2], [0, 1]) })) })
    ], [sequence({ elem_type: 1, tensor_values: [floats, weight('g', { dims: [1], float_data: [1] })] }), sequence({ elem_type: 3, sequence_values: [pair, { elem_type: 1 }] })], asSequence)
  ]],
  C4: ['a map has a value for each key', [
    error('onnx.map.values', [map({ key_type: INT64, keys: [1], values: pair }), map({ key_type: INT64, keys: [1, 2] })], [map({ key_type: INT64, keys: [1, 2], values: pair })], asMap)
  ]],
  C5: ['keys are integers or strings', [
    error('onnx.map.key-type', [map({ values: { elem_type: 1 } }), ...[0, FLOAT, BOOL, FLOAT16, COMPLEX64].map(key_type => map({ key_type, values: { elem_type: 1 } }))],
      [map({ key_type: STRING, string_keys: ['a', 'b'], values: pair })], asMap),
    warning('onnx.map.key-type', [DOUBLE, 16, INT4].map(key_type => map({ key_type, values: { elem_type: 1 } })), [map({ key_type: INT8, keys: [1, 2], values: pair })], asMap)
  ]],
  C6: ['keys are in the list of their kind, each once, in range', [
    error('onnx.map.keys', [map({ key_type: INT64, keys: [1], string_keys: ['a'], values: pair })], [map({ key_type: INT64, keys: [1, 2], values: pair })], asMap),
    warning('onnx.map.keys', [
      map({ key_type: INT64, string_keys: ['a', 'b'], values: pair }), map({ key_type: STRING, keys: [1, 2], values: pair }), map({ key_type: INT64, keys: [1, 1], values: pair }),
      map({ key_type: STRING, string_keys: ['a', 'a'], values: pair }), map({ key_type: UINT8, keys: [1, 256], values: pair })
    ], [map({ key_type: INT8, keys: [-128, 127], values: pair }), map({ key_type: STRING, string_keys: ['a', 'b'], values: pair })], asMap),
    warning('onnx.map.key-text', [map({ key_type: STRING, string_keys: ['a', Uint8Array.of(0xff)], values: pair }), map({ key_type: STRING, string_keys: [Uint8Array.of(0x63, 0xe9), Uint8Array.of(0xe9)], values: pair })],
      [map({ key_type: STRING, string_keys: ['\ufeffé', 'a\0'], values: pair }), map({ key_type: INT64, keys: [255, 1], values: pair })], { ...asMap, path: 'string_keys' })
  ]],
  C7: ['values have one type, and are no optionals', [
    warning('onnx.sequence.types', [map({ key_type: INT64, keys: [1, 2], values: { elem_type: 1, tensor_values: [floats, ints] } })], [map({ key_type: INT64, keys: [1, 2], values: pair })],
      { ...asMap, path: 'values.tensor_values' }),
    warning('onnx.sequence.elem-type', [map({ key_type: INT64, keys: [1], values: { elem_type: 5, optional_values: [{ elem_type: 0 }] } })], [map({ key_type: INT64, keys: [1, 2], values: pair })], asMap)
  ]],
  C8: ['an optional says what it holds, or that it is empty', [
    error('onnx.optional.elem-type', [optional({ name: 'o' }), optional({ elem_type: 9 })], [optional({ elem_type: 0 }), optional({ elem_type: 1, tensor_value: floats }), optional({ elem_type: 1 })], asOptional),
    warning('onnx.optional.elem-type', [optional({ elem_type: 5, optional_value: { elem_type: 0 } })], [optional({ elem_type: 3, sequence_value: pair })], asOptional)
  ]],
  C9: ['the one value is in the field of its kind', [
    warning('onnx.optional.field', [
      optional({ elem_type: 2, tensor_value: floats }), optional({ elem_type: 0, tensor_value: floats }), optional({ elem_type: 1, tensor_value: floats, sequence_value: pair }),
      optional({ elem_type: 1, map_value: { key_type: INT64, values: { elem_type: 1 } } }), optional({ elem_type: 1, sparse_tensor_value: { dims: [4], values: floats, indices: indices([2], [0, 1]) } }),
      optional({ elem_type: 1, optional_value: { elem_type: 0 } })
    ], [optional({ elem_type: 1, tensor_value: floats }), optional({ elem_type: 3, sequence_value: pair })], asOptional)
  ]]
}

// ---- The text of the IR -------------------------------------------------------------------------------------------

const text = {
  D1: ['model_version is a number or SemVer', [warning('model.version.negative', [model({ model_version: -1 })], [model({ model_version: 3 }), model({ model_version: 0x0001000200000159n })], { path: 'model_version' })]],
  D2: ['operators are of imported sets', [
    error('model.node.domain', [inNode({ domain: 'com.acme' })], good, { path: 'graph.node[0]' }),
    error('model.node.domain', [inFunction({ opset_import: [{ domain: 'ai.onnx', version: 21 }] })], [inFunction({}), model({ opset_import: [{ domain: 'ai.onnx', version: 21 }] })]),
    warning('model.node.unknown-operator', [inNode({ overload: 'o' })], good),
    error('model.node.unknown-operator', [inGraph({ node: [node('Reluu', ['x'], ['y'])] })], good),
    warning('model.node.unknown-operator', [model({ opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], graph: graph({ node: [relu('x', 'y', { domain: 'd' })] }) })], [inFunction({})])
  ]],
  D3: ['a graph has no cycles, and nodes give something', [
    error('model.node.cycle', [inGraph({ node: [relu('y', 't'), relu('t', 'y')] })], good),
    warning('model.node.no-output', [model({ opset_import: [{ version: 21 }, { domain: 'd', version: 1 }], graph: graph({ node: [relu(), node('Log', ['x'], [], { domain: 'd' })] }) })], good),
    error('model.node.no-values', [inGraph({ node: [relu(), node('Relu', [], [])] })], good)
  ]],
  D4: ['inputs and outputs of the main graph have name, type and shape', [
    error('model.value.type', [inGraph({ input: [value('x', { tensor_type: { elem_type: FLOAT } })] }), inGraph({ input: [value('x', { sparse_tensor_type: { elem_type: FLOAT } })] })],
      [inGraph({ input: [value('x', { tensor_type: { elem_type: FLOAT, shape: { dim: [] } } })] })]),
    error('model.value.name', [inGraph({ output: [value('y'), value('')] })], good)
  ]],
  D5: ['names of one kind are unique', [
    warning('model.node.name-duplicate', [inGraph({ node: [relu('x', 't', { name: 'n' }), relu('t', 'y', { name: 'n' })] })], [inGraph({ node: [relu('x', 't', { name: 'n' }), relu('t', 'y', { name: 'm' })] })]),
    error('model.node.ssa', [inGraph({ node: [relu('x', 'y'), relu('x', 'y')] })], good),
    error('model.graph.input-duplicate', [inGraph({ input: [value('x'), value('x')] })], good)
  ]],
  D6: ['a body hides no value around it', [
    error('model.node.ssa', [branches({ node: [relu('x', 'x')], output: [value('x')] })], [branches({})]),
    warning('model.graph.shadow', [loop({ input: ['x', 'go', 'at'].map(name => ({ name })) }), branches({ initializer: [weight('c')] })], [loop(), branches({ initializer: [weight()] })])
  ]],
  D7: ['an attribute has a name of its own', [
    error('model.attribute.duplicate', [inGraph({ node: [node('Softmax', ['x'], ['y'], { attribute: [axis, axis] })] })], [named(axis)]),
    warning('model.function.parameter', [inFunction({ attribute: ['x'] }), inFunction({ attribute_proto: [{ name: 'y', type: 2, i: 1 }] })], [inFunction({ attribute: ['k'] })])
  ]],
  D8: ['a call gives what the operator needs', [
    error('model.node.arity', [inGraph({ node: [node('Relu', ['x', 'x'], ['y'])] }), inGraph({ node: [node('Concat', [], ['y'], { attribute: [axis] })] }), inGraph({ node: [node('Add', ['x'], ['y'])] })],
      [inGraph({ node: [node('Clip', ['x'], ['y'])] }), inGraph({ node: [node('Clip', ['x', '', ''], ['y'])] })]),
    error('model.node.missing-value', [inGraph({ node: [node('Add', ['x', ''], ['y'])] })], [inGraph({ node: [node('Clip', ['x', ''], ['y'])] })], { path: 'graph.node[0].input[1]' }),
    warning('model.node.missing-value', [inGraph({ node: [node('Concat', ['x', ''], ['y'], { attribute: [axis] })] })],
      [inGraph({ node: [node('Concat', ['x', 'x'], ['y'], { attribute: [axis] })] }), loop()], { path: 'graph.node[0].input[1]' })
  ]],
  D9: ['an optional output is computed if it has a name', [
    error('model.node.missing-value', [inGraph({ node: [node('MaxPool', ['x'], ['', 'y'], { attribute: [{ name: 'kernel_shape', type: 7, ints: [1] }] })], input: [value('x', tensorOf(FLOAT, 1, 1, 2))], output: [value('y', tensorOf(INT64, 1, 1, 2))] })],
      [inGraph({ node: [node('Dropout', ['x'], ['y', ''])] })], { path: 'graph.node[0].output[0]' }),
    { run: true, model: inGraph({ node: [node('Dropout', ['x'], ['y', 'm'])], output: [value('y'), value('m', tensorOf(BOOL))] }), inputs: [['x', 2]], outputs: ['y', 'm'] },
    { run: true, model: inGraph({ node: [node('Dropout', ['x'], ['y', ''])] }), inputs: [['x', 2]], outputs: ['y'] }
  ]],
  D10: ['optionals are opened by OptionalGetElement alone', [
    error('model.node.type', [inGraph({ input: [value('x', { optional_type: { elem_type: tensorOf() } })] })],
      [inGraph({ input: [value('x', { optional_type: { elem_type: tensorOf() } })], node: [node('OptionalGetElement', ['x'], ['t']), relu('t', 'y')] })], { full: true })
  ]],
  D11: ['a scalar has an element, and a shape with a 0 has none', [
    error('onnx.tensor.storage', [only({ data_type: FLOAT }), tensor({ dims: [2, 0] })], [only({ data_type: FLOAT, float_data: [1] }), only({ dims: [2, 0], data_type: FLOAT })], { as: 'tensor' })
  ]],
  D12: ['a symbol stands for one size', [
    { run: true, model: inGraph({ node: [node('Add', ['x', 'z'], ['y'])], input: [value('x', tensorOf(FLOAT, 'N')), value('z', tensorOf(FLOAT, 'N'))], output: [value('y', tensorOf(FLOAT, 'N'))] }), inputs: [['x', 2], ['z', 2]], outputs: ['y'] },
    { run: true, model: inGraph({ node: [relu('x', 'y'), relu('z', 'v')], input: [value('x', tensorOf(FLOAT, 'N')), value('z', tensorOf(FLOAT, 'N'))], output: [value('y', tensorOf(FLOAT, 'N')), value('v', tensorOf(FLOAT, 'N'))] }), inputs: [['x', 2], ['z', 3]], fails: /N/ }
  ]],
  D13: ['no symbol stands for any number of dims', [
    warning('model.value.dim', [inGraph({ input: [value('x', tensorOf(FLOAT, '*'))] })], [inGraph({ input: [value('x', tensorOf(FLOAT, 'N'))] })], { path: 'graph.input[0].type.tensor_type.shape.dim[0]' })
  ]],
  D14: ['an attribute of a function has a default or none', [
    warning('model.function.attribute', [inFunction({ attribute: ['k'], attribute_proto: [{ name: 'k', type: 1, f: 1 }] })], [inFunction({ attribute_proto: [{ name: 'k', type: 1, f: 1 }] })], { path: 'functions[0].attribute_proto[0]' })
  ]]
}

/** By demand: [what it says, parts]. */
export const demands = { ...models, ...sets, ...data, ...text }
