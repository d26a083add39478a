// Each rule of JSON texts, JSON Schema, specifications and evidence: documents in which it speaks and documents, alike but
// right, in which it is silent. rules.test.js runs them.
import { schemaCases } from './schema-cases.js'

import * as onnx from '../support/onnx.js'

/** A specification without any finding; cases change pieces of it. */
export const spec = `{
  "kind": "runlocal.operator-extension",
  "protocol_version": "1.0",
  "name": "soft-gate",
  "version": "1.0.0",
  "authority": "specification",
  "operator": { "domain": "com.example", "op_type": "SoftGate", "overload": "" },
  "inputs": [
    { "name": "X", "cardinality": "single", "type_parameter": "T", "description": "The values." },
    { "name": "mask", "cardinality": "optional", "type_parameter": "M", "description": "Where to act." }
  ],
  "outputs": [{ "name": "Y", "cardinality": "single", "type_parameter": "T", "description": "The result." }],
  "type_parameters": {
    "T": { "allowed_types": ["tensor(double)", "tensor(float)"], "description": "Element types." },
    "M": { "allowed_types": ["tensor(bool)"], "description": "Truth." }
  },
  "attributes": {
    "alpha": { "kind": "float", "required": false, "default": 0.5, "allowed_values": null, "description": "Slope." },
    "mode": { "kind": "int", "required": true, "default": null, "allowed_values": [0, 1, 2], "description": "How." }
  },
  "input_conditions": ["\`mask\` has the shape of \`X\`."],
  "shape_rules": ["\`Y\` has the shape of \`X\`."],
  "boundary_behavior": "NaN gives NaN.",
  "numerical_behavior": "Exact.",
  "nondeterminism": "None.",
  "state_effects": "None.",
  "reference": {
    "kind": "onnx.reference_python", "interface_version": "1", "adapter": "adapter.py", "class_name": "SoftGate",
    "implementation": ["gate.py"],
    "environment": { "kind": "python", "python": "3.11.7", "packages": { "numpy": "2.0.1", "onnx": "1.20.0" } }
  },
  "tests": ["one.json", "two.json"]
}
`

/** Evidence of that operator. */
export const evidence = `{
  "kind": "opspec.evidence",
  "version": "1",
  "attributes": { "mode": 1 },
  "inputs": [{ "type": "tensor(float)", "shape": [2], "data": [1, "NaN"] }],
  "outputs": [{ "type": "tensor(float)", "shape": [2], "data": [1, "NaN"] }]
}
`

/** A kernel that agrees with it. */
export const kernel = 'export default { compute: ([x], { mode }, ctx) => mode === 2 ? ctx.fail("mode 2 is not there") : [x] }\n'

/** The standard's Celu as a specification. */
const celu = `{
  "kind": "runlocal.operator-extension", "protocol_version": "1.0", "name": "celu", "version": "12", "authority": "specification",
  "operator": { "domain": "", "op_type": "Celu", "overload": "" },
  "inputs": [{ "name": "X", "cardinality": "single", "type_parameter": "T", "description": "Input." }],
  "outputs": [{ "name": "Y", "cardinality": "single", "type_parameter": "T", "description": "Output." }],
  "type_parameters": { "T": { "allowed_types": ["tensor(float)"], "description": "Element type." } },
  "attributes": { "alpha": { "kind": "float", "required": false, "default": 1, "allowed_values": null, "description": "Scale." } },
  "input_conditions": [], "shape_rules": ["\`Y\` has the shape of \`X\`."], "boundary_behavior": "NaN gives NaN.",
  "numerical_behavior": "max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).", "nondeterminism": "None.", "state_effects": "None.",
  "reference": null, "tests": ["a.json"]
}`

const library = (file, system, machine, libraries = '"onnxruntime": "1.20.0"') => `"reference": {
    "kind": "onnxruntime.custom_library", "interface_version": "1", "library": "${file}", "registration_symbol": "RegisterCustomOps",
    "environment": { "kind": "native", "operating_system": "${system}", "architecture": "${machine}", "libraries": { ${libraries} } }
  },
  "tests"`
const reference = spec.slice(spec.indexOf('"reference": {'), spec.indexOf('"tests"') + '"tests"'.length)

function replaced(text, ...changes) {
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`not in the text: ${from}`)
    text = text.replace(from, () => to)
  }
  return text
}

// What a case is: { text, as } for a text alone, { files } for a bundle that is checked, { files, run: true } for one that is run.
const change = (...changes) => ({ text: replaced(spec, ...changes), as: 'spec' })
const standard = (...changes) => ({ text: replaced(celu, ...changes), as: 'spec' })
const native = (...what) => change([reference, library(...what)])
const json = text => ({ text, as: 'json' })
const bundle = (files, more = {}) => ({
  files: Object.fromEntries(Object.entries({ 'soft-gate.opspec.json': spec, 'adapter.py': '', 'gate.py': '', 'one.json': evidence, 'two.json': evidence, ...files }).filter(([, content]) => content !== undefined)), ...more
})
const gate = more => onnx.functionProto({ domain: 'com.example', name: 'SoftGate', inputs: ['X', 'mask'], outputs: ['Y'], attributes: ['alpha', 'mode'], nodes: [onnx.node('Identity', ['X'], ['Y'])], ...more })
const withFunction = (bytes, document = spec) => bundle({ 'soft-gate.opspec.json': document, 'kernel.onnx': bytes })
// Without attributes, as a model has none.
const plainSpec = JSON.stringify({ ...JSON.parse(spec), inputs: [JSON.parse(spec).inputs[0]], attributes: {}, type_parameters: { T: JSON.parse(spec).type_parameters.T } })
const plain = ({ input = 'float32', output = input, nodes = [onnx.node('Identity', ['X'], ['Y'])] } = {}) => onnx.model({ inputs: [onnx.value('X', input, ['N'])], outputs: [onnx.value('Y', output, ['N'])], nodes })
const held = value => ({ files: { ...bundle().files, 'two.json': JSON.stringify({ kind: 'opspec.evidence', version: '1', description: 'A value.', inputs: [value], outputs: [] }) } })
const sparse = (indices, values = [1, 2], type = 'float') => ({ type: `sparse_tensor(${type})`, shape: [2, 3], values, indices })
const proof = (...changes) => bundle({ 'two.json': replaced(evidence, ...changes) })
const without = (name, { files }) => ({ files: Object.fromEntries(Object.entries(files).filter(([key]) => key !== name)) })
const trial = (changes, { source = kernel, document = spec } = {}) => bundle({ 'soft-gate.opspec.json': document, 'two.json': replaced(evidence, ...changes), 'kernel.js': source }, { run: true })

const value = '"default": 0.5'
const kindOf = kind => [`"kind": "float", "required": false, ${value}`, `"kind": "${kind}", "required": false, "default": `]
const typed = (kind, text) => change([kindOf(kind)[0], kindOf(kind)[1] + text])
const type = text => change(['tensor(double)', text])
const data = '"data": [1, "NaN"] }],\n  "outputs"'
const noise = 'let n = 0; export default { compute: ([x]) => [{ ...x, data: x.data.map(v => v + 1e-6 * n++) }] }'

/** rule: { fires, silent }, and `fixed: true` where each case that fires has a fix. */
export const cases = {
  ...schemaCases,
  'json.syntax': {
    fires: [json('[1, 2'), json("{ 'a': 1 }"), json('[01]'), json('["a\tb"]'), json('nul'), json(''), json('[1] 2'), json('[1:2]')],
    silent: [json('[1, 2]'), json('{ "a": [null, true, -0.5e+3] }'), json('"\\u0009"')]
  },
  'json.syntax (a comma too many, or too few)': { fires: [json('[1,, 2]'), json('{, "a": 1 }'), json('{ "a": 1\n"b": 2 }'), json('[{}\n, {}\n {}]')], silent: [json('[1, 2]')], fixed: true },
  'json.syntax (trailing comma)': { fires: [json('[1, 2,]'), json('{ "a": 1, }')], silent: [json('[1, 2]')], fixed: true },
  'json.encoding': {
    fires: [json(Uint8Array.of(0x22, 0xe9, 0x22)), json(Uint8Array.of(0x22, 0xc0, 0x80, 0x22)), json(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))],
    silent: [json('"é€😀"')]
  },
  'json.surrogate': { fires: [json('"\\uD83D"'), json('"\\uDE00\\uD83D"'), json('"\\uD83Dx"')], silent: [json('"\\uD83D\\uDE00"')] },
  'json.depth': { fires: [json('['.repeat(1001) + ']'.repeat(1001))], silent: [json('['.repeat(999) + ']'.repeat(999))] },
  'json.bom': { fires: [json('\uFEFF[1]')], silent: [json('[1]'), json('["\uFEFF"]')], fixed: true },
  'json.number-range': { fires: [{ text: '[1e400]', as: 'json', canonical: true }], silent: [{ text: '[1e308, 1e-400]', as: 'json', canonical: true }] },
  'json.duplicate-key': {
    fires: [json('{ "a": 1, "a": 2 }'), json('{ "a": 1, "\\u0061": 2 }'), change(['"version": "1.0.0",', '"version": "1.0.0", "version": "1.0.1",'])],
    silent: [json('{ "a": 1, "A": 2, "b": { "a": 3 } }')]
  },
  'json.duplicate-key (which say the same)': {
    fires: [json('{ "a": 1, "a": 1 }'), json('{"a":[1,{"b":2}],"\\u0061":[1.0,{"b":2}]}'), json('{ "a": {}, "b": 2\n  , "a" : {} , "c": 3 }'), json('{"a":1,"a":1,"a":1}'), json(`{${Array.from({ length: 100 }, (_, i) => `"k${i % 50}":${i % 50}`).join()}}`), change(['"version": "1.0.0",', '"version": "1.0.0", "version": "1.0.0",'])],
    silent: [json('{ "a": 1, "A": 1 }')], fixed: true
  },
  'json.number-precision': {
    fires: [change([value, '"default": 9007199254740993']), typed('floats', '[1, 9007199254740993]')],
    silent: [change([value, '"default": 9007199254740992']), change([value, '"default": 0.1000000000000000055511151231257827']), typed('int', '9007199254740993')]
  },

  'spec.operator.standard-mismatch': {
    fires: [
      standard(['"alpha":', '"alpha_grad":']), standard(['"name": "X"', '"name": "Z"']), standard(['"cardinality": "single"', '"cardinality": "optional"']),
      standard(['["tensor(float)"]', '["tensor(double)"]']), standard(['["tensor(float)"]', '["tensor(double)", "tensor(float)"]']),
      standard(['"default": 1,', '"default": 2,']), standard(['"kind": "float"', '"kind": "int"']), standard(['"required": false, "default": 1', '"required": true, "default": null']),
      standard(['"attributes": {', '"attributes": { "beta": { "kind": "int", "required": true, "default": null, "allowed_values": null, "description": "None of Celu." },']),
      standard(['"version": "12"', '"version": "11"']),
      standard(['"outputs": [', '"outputs": [{ "name": "Z", "cardinality": "single", "type_parameter": "T", "description": "More." }, '])
    ],
    silent: [standard(), standard(['"default": 1,', '"default": 1.0,']), standard(['"domain": ""', '"domain": "ai.onnx"']), standard(['"domain": ""', '"domain": "com.example"'], ['"alpha":', '"beta":']), standard(['"version": "12"', '"version": "20"'])]
  },
  'spec.operator.domain-reserved': {
    fires: ['', 'ai.onnx', 'ai.onnx.ml', 'ai.onnx.preview', 'ai.onnx.preview.training', 'ai.onnx.training'].map(domain => change(['com.example', domain])),
    silent: [change(['com.example', 'ai.onnx.contrib']), standard()]
  },
  'spec.operator.domain-form': {
    fires: [change(['com.example', 'com example']), change(['com.example', 'com.\\texample']), change(['com.example', 'Com.example']), change(['com.example', 'example']), change(['com.example', 'com/example'])],
    silent: [change(['com.example', 'com.exam-ple_2']), standard()]
  },
  'spec.operator.op-type-form': {
    fixed: true,
    fires: [change(['"op_type": "SoftGate"', '"op_type": "Soft-Gate"']), change(['"op_type": "SoftGate"', '"op_type": "2Gate"']), change(['"overload": ""', '"overload": "2d"'])],
    silent: [change(['"op_type": "SoftGate"', '"op_type": "_Soft2"'])]
  },
  'spec.version.form': {
    fires: [change(['"1.0.0"', '"the first"']), change(['"1.0.0"', '"1.0.0-"'])],
    silent: ['12', '1.2.0-rc.1+build.5', '2024.1rc1.post2.dev3', '1!2.0'].map(version => change(['"1.0.0"', `"${version}"`]))
  },

  'spec.parameter.duplicate-name': {
    fires: [change(['"name": "mask"', '"name": "X"']), change(['"outputs": [', '"outputs": [{ "name": "Y", "cardinality": "single", "type_parameter": "T", "description": "The same." }, '])],
    silent: [change(['"name": "mask"', '"name": "x"'])]
  },
  'spec.parameter.input-output-name': { fires: [change(['"name": "Y"', '"name": "X"'])], silent: [change(['"name": "Y"', '"name": "x"'])] },
  'spec.parameter.variadic-not-last': { fires: [change(['"single"', '"variadic"'])], silent: [change(['"optional"', '"variadic"'])] },
  'spec.parameter.optional-before-single': { fires: [change(['"single"', '"optional"'], ['"mask", "cardinality": "optional"', '"mask", "cardinality": "single"'])], silent: [change(['"single"', '"optional"'])] },
  'spec.output.none': {
    fires: [change([/"outputs": \[.*\]/.exec(spec)[0], '"outputs": []']), change([/"outputs": \[.*\]/.exec(spec)[0], '"outputs": []'], ['"state_effects": "None."', '"state_effects": "Writes a log."'])],
    silent: [change(['"state_effects": "None."', '"state_effects": "Writes a log."'])]
  },
  'spec.parameter.type-parameter-unknown': { fires: [change(['"type_parameter": "M"', '"type_parameter": "m"']), change(['"type_parameter": "T"', '"type_parameter": "T1"'])], silent: [change(['"type_parameter": "M"', '"type_parameter": null'])], fixed: true },
  'spec.parameter.untyped': { fires: [change(['"type_parameter": "M"', '"type_parameter": null'])], silent: [change(['"type_parameter": "M"', '"type_parameter": "T"'])] },

  'spec.type-parameter.unused': { fires: [change(['"type_parameter": "M"', '"type_parameter": "T"'])], silent: [change()], fixed: true },
  'spec.type-parameter.undetermined': {
    fires: [change(['"single", "type_parameter": "T"', '"single", "type_parameter": "M"'])],
    silent: [change(['"single", "type_parameter": "T"', '"single", "type_parameter": "M"'], ['"tensor(double)", ', '']), standard()]
  },
  'spec.type-parameter.name-clash': { fires: [change(['"M": {', '"float": {']), change(['"M": {', '"X": {']), change(['"M": {', '"Y": {'])], silent: [change(['"M": {', '"x": {'])] },
  'spec.type.syntax': {
    fires: ['tensor(', 'tensor', 'map(string)', 'seq()'].map(type),
    silent: ['tensor(uint8)', 'seq(map(string, float))', 'optional(seq(tensor(int64)))', 'sparse_tensor(double)', 'opaque(com.example,handle)'].map(type)
  },
  'spec.type.syntax (of other languages)': { fires: ['double[]', 'Tensor<double>'].map(type), silent: [type('tensor(double)')], fixed: true },
  'spec.type.element': { fires: ['tensor(float32)', 'tensor(fp16)', 'seq(tensor(float64))'].map(type), silent: ['tensor(float16)', 'tensor(bfloat16)', 'tensor(float8e4m3fn)', 'tensor(int2)', 'tensor(complex64)'].map(type), fixed: true },
  'spec.type.map-key': { fires: ['map(float, int64)', 'map(bool, int64)', 'map(double, tensor(float))'].map(type), silent: ['map(string, int64)', 'map(uint8, tensor(float))'].map(type) },
  'spec.type.nesting': { fires: ['optional(optional(tensor(double)))', 'sparse_tensor(tensor(float))', 'seq(optional(optional(tensor(float))))'].map(type), silent: ['optional(seq(tensor(float)))', 'seq(seq(tensor(float)))'].map(type) },
  'spec.type.duplicate': { fires: [change(['["tensor(bool)"]', '["tensor(bool)", "tensor(bool)"]']), change(['["tensor(bool)"]', '["map(string, int64)", "map(string,tensor(int64))"]'])], silent: [change(['["tensor(bool)"]', '["tensor(bool)", "seq(tensor(bool))"]'])], fixed: true },
  'spec.type.spelling': { fires: ['tensor( double )', 'map(string,int64)', 'map(string, tensor(int64))'].map(type), silent: ['map(string, int64)', 'map(string, seq(tensor(int64)))'].map(type), fixed: true },

  'spec.attribute.name-form': { fires: [change(['"alpha": {', '"al-pha": {']), change(['"alpha": {', '"2al.pha": {'])], silent: [change(['"alpha": {', '"_alpha2": {'])], fixed: true },
  'spec.attribute.required-with-default': { fires: [change(['"default": null', '"default": 1'])], silent: [change(['"required": true, "default": null', '"required": false, "default": 1'])], fixed: true },
  'spec.attribute.optional-without-default': { fires: [change([value, '"default": null'])], silent: [change(['"required": false, "default": 0.5', '"required": true, "default": null'])] },
  'spec.attribute.default-type': {
    fires: [
      change([value, '"default": "0.5"']), typed('int', '0.5'), typed('int', '"0"'), typed('string', '0'), typed('floats', '[1, null]'), typed('ints', '0'), typed('strings', '["a", 1]'),
      typed('type', '"tensor(f)"'), typed('tensor', '{ "shape": [1], "data": [2] }'), typed('graph', '"X"'), typed('tensors', '[{ "dims": ["1"], "dataType": 1, "floatData": [2] }, 1]')
    ],
    silent: [
      typed('int', '1.0'), typed('int', '-1e3'), typed('float', '2'), typed('string', '"sum"'), typed('floats', '[1, 2.5]'), typed('ints', '[]'), typed('type', '"tensor(float)"'),
      typed('types', '["tensor(float)", { "tensorType": { "elemType": 1 } }]'), typed('tensor', '{ "dims": ["1"], "dataType": 1, "floatData": [2] }'),
      typed('tensor', '{ "type": "tensor(float)", "shape": [1], "data": [2] }'), typed('sparse_tensor', '{ "type": "sparse_tensor(float)", "shape": [3], "values": [2], "indices": [1] }'), typed('graph', '{ "name": "then" }')
    ]
  },
  'spec.attribute.default-type (tensors that do not fit their shapes)': {
    fires: [
      typed('tensor', '{ "type": "tensor(float)", "shape": [2], "data": [1] }'), typed('tensor', '{ "type": "tensor(float)", "shape": [2], "data": [1, true] }'), typed('tensor', '{ "type": "tensor(float)", "shape": [1], "data": { "base64": "AAA=" } }'),
      typed('tensor', '{ "type": "tensor(float)", "data": [1] }'), typed('tensor', '{ "type": "tensor(float)", "shape": "2", "data": [1, 2] }'), typed('tensor', '{ "type": "tensor(float)", "shape": [-1], "data": [] }'),
      typed('tensors', '[{ "type": "tensor(int8)", "shape": [], "data": [1] }, { "type": "tensor(int8)", "shape": [], "data": [200] }]'), typed('sparse_tensor', '{ "type": "sparse_tensor(float)", "shape": [2], "values": [1] }')
    ],
    silent: [
      typed('tensor', '{ "type": "tensor(float)", "shape": [2], "data": [1, "NaN"] }'), typed('tensor', '{ "type": "tensor(float)", "shape": [1], "data": { "base64": "AAAAAA==" } }'), typed('tensors', '[{ "type": "tensor(int8)", "shape": [], "data": [1] }]'),
      typed('sparse_tensor', '{ "type": "sparse_tensor(float)", "shape": [2], "values": [1], "indices": [0] }')
    ]
  },
  'spec.attribute.default-type (messages that are none)': {
    fires: [
      typed('tensor', '{ "dims": ["2"], "dataType": 1, "floatData": [2] }'), typed('tensor', '{ "dims": [1], "dataType": 1, "floatData": ["two"] }'), typed('tensor', '{ "dims": ["1.5"], "dataType": 1, "floatData": [2] }'),
      typed('tensor', '{ "dims": [1], "dataType": 99, "floatData": [2] }'), typed('tensor', '{ "dims": [1], "floatData": [2] }'), typed('tensor', '{ "dims": [1], "dataType": 1, "int64Data": [2] }'), typed('tensor', '{ "dims": [1], "dataType": 1, "rawData": "AAA=" }'),
      typed('tensor', '{ "dims": [1], "dataType": 1, "rawData": "AAAAA" }'),
      typed('tensors', '[{ "dims": [1], "dataType": 1, "floatData": [2] }, { "dims": [1], "dataType": 1, "floatData": {} }]'),
      typed('sparse_tensor', '{ "values": { "dims": [1], "dataType": 1, "floatData": [2], "name": "s" }, "indices": { "dims": [1], "dataType": 7, "int64Data": [9] }, "dims": [3] }'), typed('sparse_tensor', '{ "values": [2], "indices": [1], "dims": [3] }'),
      typed('graph', '{ "node": [{ "op": "Relu" }] }'), typed('graph', '{ "name": 5 }'), typed('type', '{ "tensorType": { "elemType": 1, "elem": 2 } }'), typed('type', '{ "tensorType": {} }'), typed('types', '["tensor(float)", { "sequenceType": 1 }]')
    ],
    silent: [
      typed('tensor', '{ "dims": [1], "dataType": 1, "rawData": "AAAAAA==" }'), typed('tensor', '{ "dims": ["2"], "data_type": 7, "int64_data": [1, "-9223372036854775808"], "name": "t" }'), typed('tensors', '[]'),
      typed('sparse_tensor', '{ "values": { "dims": [1], "dataType": 1, "floatData": [2], "name": "s" }, "indices": { "dims": [1], "dataType": 7, "int64Data": [1] }, "dims": [3] }'),
      typed('graph', '{ "node": [{ "opType": "Relu", "input": ["x"], "output": ["y"] }] }'), typed('type', '{ "optionalType": { "elemType": { "tensorType": { "elemType": 9, "shape": { "dim": [{ "dimParam": "N" }] } } } } }')
    ]
  },
  'spec.attribute.default-type (types of other languages)': { fires: ['"tensor(float32)"', '"float"'].map(type => typed('type', type)).concat(typed('types', '["tensor(bool)", "tensor(float32)"]')), silent: [typed('type', '"tensor(float)"')], fixed: true },
  'spec.attribute.value-type': { fires: [change(['[0, 1, 2]', '["0", 1, 2]']), change(['[0, 1, 2]', '[0, 0.5, 2]'])], silent: [change(['[0, 1, 2]', '[0, 1.0, 2]'])] },
  'spec.attribute.int-range': { fires: [change(['[0, 1, 2]', '[0, 1, 9223372036854775808]']), typed('int', '-9223372036854775809')], silent: [typed('int', '9223372036854775807'), typed('int', '-9223372036854775808')] },
  'spec.attribute.float-range': { fires: [change([value, '"default": 3.5e38']), change([value, '"default": 1e400']), change([value, '"default": 1e-60'])], silent: [change([value, '"default": 3.4e38']), change([value, '"default": 0e99']), change([value, '"default": 1e-45'])] },
  'spec.attribute.default-not-allowed': {
    fires: [change([`${value}, "allowed_values": null`, `${value}, "allowed_values": [0.25, 1]`])],
    silent: [change([`${value}, "allowed_values": null`, `${value}, "allowed_values": [0.25, 5e-1]`]), change([kindOf('int')[0] + ', "allowed_values": null', kindOf('int')[1] + '1.0, "allowed_values": [1, 2]'])]
  },
  'spec.set.order': { fires: [change(['[0, 1, 2]', '[16, 128,  32]']), change(['["gate.py"]', '["gate.py", "base.py"]']), change(['[0, 1, 2]', '[2, 1, 0]'])], silent: [change(['[0, 1, 2]', '[128, 16, 256]']), change([`${value}, "allowed_values": null`, `${value}, "allowed_values": [-1, 0.5, 1e+21, 1e-07, 20]`])], fixed: true },
  'spec.set.unique': { fires: [change(['[0, 1, 2]', '[9007199254740992, 9007199254740993]'])], silent: [change(['[0, 1, 2]', '[9007199254740992, 9007199254740994]'])] },
  'spec.attribute.parameter-clash': { fires: [change(['"alpha": {', '"X": {']), change(['"alpha": {', '"Y": {'])], silent: [change(['"alpha": {', '"x": {'])] },
  'spec.attribute.single-allowed': { fires: [change(['[0, 1, 2]', '[2]'])], silent: [change(['"required": true, "default": null, "allowed_values": [0, 1, 2]', '"required": false, "default": 2, "allowed_values": [2]'])] },

  'spec.text.blank': { fires: ['TBD', ' \\n ', '\\u2026 ...', 'N/A.', 'todo: say it', 'Lorem ipsum dolor'].map(text => change(['NaN gives NaN.', text])), silent: ['NaN gives NaN.', 'Ünüblich.', '日本語', 'No.'].map(text => change(['NaN gives NaN.', text])) },
  'spec.text.repeated': { fires: [change(['["`mask` has the shape of `X`."]', '["`mask` has the shape of `X`.", "`mask` has  the shape of `X`"]'])], silent: [change(['["`mask` has the shape of `X`."]', '["`mask` has the shape of `X`.", "`X` has the shape of `mask`."]'])], fixed: true },
  'spec.text.unknown-name': { fires: [change(['Slope.', 'Slope of `aplha` in `float`.']), change(['NaN gives', '`msak` gives'])], silent: [change(['Slope.', '`alpha`, `T` or `X`; `NaN`, `float`, `SoftGate`, `a + b`.'])], fixed: true },
  'spec.shape.output-unmentioned': { fires: [change(['["`Y` has the shape of `X`."]', '["Yes, that of `X`."]']), change(['["`Y` has the shape of `X`."]', '[]'])], silent: [change(['`Y` has', 'Y has'])] },

  'spec.authority.reference-missing': { fires: [change([reference, '"reference": null, "tests"'], ['"specification"', '"reference_implementation"'])], silent: [change(['"specification"', '"reference_implementation"'])] },
  'spec.authority.no-evidence': { fires: [change([reference, '"reference": null, "tests"'], ['["one.json", "two.json"]', '[]'])], silent: [change([reference, '"reference": null, "tests"']), change(['["one.json", "two.json"]', '[]'])] },
  'spec.reference.package-missing': { fires: [change([', "onnx": "1.20.0"', '']), change(['"numpy": "2.0.1", ', '']), native('ops.so', 'linux', 'x86_64', '')], silent: [change(), native('ops.so', 'linux', 'x86_64')] },
  'spec.reference.python-version': { fires: [change(['3.11.7', '3.11']), change(['3.11.7', '2.7.18'])], silent: [change(['3.11.7', '3.14.0rc1'])] },
  'spec.reference.class-name': { fires: ['lambda', 'a.b', '2D'].map(name => change(['"class_name": "SoftGate"', `"class_name": "${name}"`])), silent: [change(['"class_name": "SoftGate"', '"class_name": "Lambda"'])] },
  'spec.reference.file-name': { fires: [change(['adapter.py', 'adapter.txt']), change(['gate.py', 'gate.c']), native('ops.dll', 'linux', 'x86_64'), native('ops.so', 'windows', 'x86_64'), native('ops.so', 'macos', 'arm64')], silent: [change(), native('libops.so.1', 'linux', 'x86_64'), native('ops.dylib', 'macos', 'arm64')] },
  'spec.reference.adapter-repeated': { fires: [change(['"gate.py"', '"adapter.py"']), change(['"gate.py"', '"adapter.py", "gate.py"']), change(['"gate.py"', '"aa.py", "adapter.py", "gate.py"'])], silent: [change(['"gate.py"', '"adapter2.py", "gate.py"'])], fixed: true },
  'spec.reference.unobtainable-version': { fires: ['1.20.0.dev3', '1.20.0+cpu'].map(version => change(['1.20.0', version])), silent: [change(['1.20.0', '1.20.0rc1'])] },
  'spec.reference.package-name': { fires: [change(['"numpy"', '"a--b": "1", "numpy"']), change(['"numpy"', '"a_.b": "1", "numpy"'])], silent: [change(['"numpy"', '"a-b": "1", "numpy"'])], fixed: true },
  'spec.reference.architecture': { fires: [native('ops.so', 'linux', 'amd64'), native('ops.so', 'linux', 'arm64'), native('ops.dll', 'windows', 'AMD64'), native('ops.dylib', 'macos', 'aarch64')], silent: [native('ops.so', 'linux', 'aarch64'), native('ops.dylib', 'macos', 'arm64'), native('ops.so', 'linux', 'riscv64')], fixed: true },
  'spec.reference.architecture (unheard of)': { fires: [native('ops.dll', 'windows', 'z80')], silent: [native('ops.dll', 'windows', 'x86_64')] },
  'spec.tests.duplicate': { fires: [change(['"two.json"', '"one"']), change(['"two.json"', '"one.json"'])], silent: [change(['"two.json"', '"one.zip"'])], fixed: true },
  'spec.tests.case': { fires: ['One.json', 'aux.json', 'two.', 'LPT1'].map(name => change(['"two.json"', `"${name}"`])), silent: ['auxiliary.json', 'com10', 'a.b'].map(name => change(['"two.json"', `"${name}"`])) },

  'spec.bundle.missing-file': {
    fires: [without('two.json', bundle()), without('adapter.py', bundle()), without('gate.py', bundle()), { files: { 'a.txt': '' } }],
    silent: [bundle(), bundle({ 'soft-gate.opspec.json': replaced(spec, ['"two.json"', '"two"']) })]
  },
  'spec.bundle.unused-file': { fires: [bundle({ 'three.json': evidence }), bundle({ 'notes.txt': 'x' })], silent: [bundle({ 'README.md': '', LICENSE: '', 'kernel.js': kernel, 'src/a.c': '', '.hidden': '', '__MACOSX/x': '' }), bundle({ 'soft-gate.opspec.json': replaced(spec, ['"two.json"', '"two"']), 'two/test_data_set_0/input_0.pb': '', 'two/test_data_set_0/output_0.pb': '', 'two/model.onnx': '', 'two.json': undefined })] },
  'spec.bundle.function-signature': {
    fires: [
      withFunction(gate({ inputs: ['mask', 'X'] })), withFunction(gate({ inputs: ['X'] })), withFunction(gate({ outputs: ['Y', 'Z'], nodes: [onnx.node('Identity', ['X'], ['Y']), onnx.node('Identity', ['X'], ['Z'])] })),
      withFunction(gate({ name: 'Gate' })), withFunction(gate({ domain: 'com.other' })), withFunction(gate({ attributes: ['alpha'] })), withFunction(gate({ attributes: ['alpha', 'mode', 'beta'] })),
      withFunction(gate({ nodes: [onnx.node('Elu', ['X'], ['Y'], { alpha: { reference: 'mode', type: 1 } })] })),
      withFunction(onnx.model({ inputs: [onnx.value('X', 'float32', ['N']), onnx.value('mask', 'bool', ['N'])], outputs: [onnx.value('Y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['X'], ['Y'])] })),
      withFunction(plain({ input: 'int32' }), plainSpec), withFunction(plain({ output: 'float16', nodes: [onnx.node('Cast', ['X'], ['Y'], { to: 10n })] }), plainSpec)
    ],
    silent: [withFunction(gate()), withFunction(gate({ inputs: ['A', 'B'], nodes: [onnx.node('Identity', ['A'], ['Y'])] })), withFunction(plain(), plainSpec)]
  },
  'spec.bundle.conflict': { fires: [bundle({ 'b/again.opspec.json': spec })], silent: [bundle({ 'b/again.opspec.json': replaced(spec, ['"overload": ""', '"overload": "other"']) }), bundle({ 'b/again.opspec.json': replaced(spec, ['"1.0.0"', '"2"']) })] },

  'evidence.form': {
    fires: [
      proof(['"kind": "opspec.evidence"', '"kind": "other"']), proof(['"outputs"', '"recorded"']), proof([data, '"data": [1] }],\n  "outputs"']), proof([data, '"data": [1, true] }],\n  "outputs"']),
      proof([data, '"data": { "base64": "AAAA" } }],\n  "outputs"']), proof(['"shape": [2], ', '']), proof(['"inputs"', '"operator": { "domain": "org.other", "op_type": "SoftGate" }, "inputs"']),
      proof([data, '"data": [1, 1e39] }],\n  "outputs"']),
      proof(['"inputs"', '"expect_error": "x", "inputs"']), proof(['"inputs"', '"tolerance": { "rtol": -1 }, "inputs"']), proof(['"inputs"', '"compare": "bits", "inputs"']),
      { files: { ...bundle().files, 'two.json': '[]' } }
    ],
    silent: [
      bundle(), proof([data, '"data": { "base64": "AACAPwAAwH8=" } }],\n  "outputs"']), proof(['"inputs"', '"operator": { "domain": "com.example", "op_type": "SoftGate" }, "inputs"']),
      proof(['"inputs"', '"tolerance": [{ "rtol": 1e-3, "atol": 0 }], "signed_zero": false, "compare": "shape", "inputs"']), proof(['"inputs"', '"tolerance": { "ulp": 2, "signed_zero": false }, "inputs"'])
    ]
  },
  'evidence.form (two tolerances for one)': {
    fires: [{ atol: 0, ulp: 2 }, { rtol: 1e-3, ulp: 2 }, [{ rtol: 1e-3, atol: 0, ulp: 2 }]].map(tolerance => proof(['"inputs"', `"tolerance": ${JSON.stringify(tolerance)}, "inputs"`])),
    silent: [proof(['"inputs"', '"tolerance": { "ulp": 2 }, "inputs"']), proof(['"inputs"', '"tolerance": { "rtol": 1e-3, "atol": 0 }, "inputs"'])], fixed: true
  },
  'evidence.form (more tolerances than outputs)': {
    fires: [proof(['"inputs"', '"tolerance": [{ "ulp": 2 }, null], "inputs"'])],
    silent: [proof(['"inputs"', '"tolerance": [], "inputs"']), proof(['"inputs"', '"tolerance": [null], "inputs"'])]
  },
  'evidence.form (sparse tensors)': {
    fires: [[[0, 6]], [[0, -1]], [[0, 0, 2, 2]], [[0, 0, 1]], [[0, 1.5]], [[0], ['x']], [[0], [1, 2, 3], 'complex64']].map(([indices, values, type]) => held(sparse(indices, values, type))),
    silent: [[[0, 5]], [[0, 0, 1, 2]], [['0', '5']], [[0], [1, 2], 'complex64'], [[], []]].map(([indices, values, type]) => held(sparse(indices, values, type)))
  },
  'evidence.form (keys of maps)': {
    fires: [['int64', [[1, 1], ['1', 2]]], ['int64', [[1, 1], [1, 2]]], ['string', [['a', 1], ['b', 1], ['a', 2]]], ['int8', [[128, 1]]]].map(([key, entries]) => held({ type: `map(${key}, float)`, entries })),
    silent: [['int64', [[1, 1], [2, 1]]], ['string', [['1', 1], ['01', 1]]], ['uint64', [['18446744073709551615', 1], ['18446744073709551614', 1]]]].map(([key, entries]) => held({ type: `map(${key}, float)`, entries }))
  },
  'evidence.form (another version)': { fires: [proof(['"version": "1"', '"version": "2"'])], silent: [bundle()], fixed: true },
  'evidence.arity': {
    fires: [proof([evidence.slice(evidence.indexOf('"inputs"'), evidence.indexOf('\n  "outputs"')), '"inputs": [],']), proof(['"NaN"] }],\n  "outputs"', '"NaN"] }, null, null],\n  "outputs"']), proof(['"outputs": [', '"outputs": [null, '])],
    silent: [proof(['"NaN"] }],\n  "outputs"', '"NaN"] }, null],\n  "outputs"'])]
  },
  'evidence.type': {
    fires: [proof(['"outputs": [{ "type": "tensor(float)"', '"outputs": [{ "type": "tensor(double)"']), proof(['"inputs": [{ "type": "tensor(float)"', '"inputs": [{ "type": "tensor(float16)"'])],
    silent: [proof(['"inputs": [{ "type": "tensor(float)"', '"inputs": [{ "type": "tensor(double)"'], ['"outputs": [{ "type": "tensor(float)"', '"outputs": [{ "type": "tensor(double)"'])]
  },
  'evidence.type (of other languages)': { fires: [proof(['"inputs": [{ "type": "tensor(float)"', '"inputs": [{ "type": "tensor(float32)"'])], silent: [bundle()], fixed: true },
  'evidence.attribute': {
    fires: [proof(['"mode": 1', '']), proof(['"mode": 1', '"mode": 3']), proof(['"mode": 1', '"mode": 1.5']), proof(['"mode": 1', '"mode": 1, "gamma": 1'])],
    silent: [proof(['"mode": 1', '"mode": 1.0']), proof(['"mode": 1', '"mode": 2, "alpha": 3'])]
  },
  'evidence.attribute (misspelt)': { fires: [proof(['"mode": 1', '"mode": 1, "aplha": 1'])], silent: [bundle()], fixed: true },
  'evidence.value': {
    fires: [trial([['"outputs": [{ "type": "tensor(float)", "shape": [2], "data": [1,', '"outputs": [{ "type": "tensor(float)", "shape": [2], "data": [2,']])],
    silent: [trial([]), trial([['"outputs": [{ "type": "tensor(float)", "shape": [2], "data": [1,', '"tolerance": { "atol": 1 }, "outputs": [{ "type": "tensor(float)", "shape": [2], "data": [2,']])]
  },
  'evidence.error': {
    fires: [trial([['"mode": 1', '"mode": 2']]), trial([[/"outputs": \[.*\]/.exec(evidence)[0], '"expect_error": "mode"']])],
    silent: [trial([['"mode": 1', '"mode": 2'], [/"outputs": \[.*\]/.exec(evidence)[0], '"expect_error": { "stage": "run", "contains": "mode 2" }']])]
  },
  'evidence.nondeterministic': { fires: [trial([], { source: noise })], silent: [trial([]), trial([], { source: noise, document: replaced(spec, ['"nondeterminism": "None."', '"nondeterminism": "Rounding may vary."']) })] }
}
