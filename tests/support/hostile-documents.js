// Documents that are small and ask for much: nesting, lengths that are not there, fields without end. As bytes and as texts.
import { Writer } from './onnx.js'

const inside = (number, bytes) => new Writer().field(number, bytes).bytes()

// Field numbers around `bytes`, the innermost last, again and again up to a size.
function nested (numbers, size) {
  let bytes = new Uint8Array(0)
  for (let i = numbers.length; bytes.length < size; i += numbers.length - 1) bytes = inside(numbers[i % numbers.length], bytes)
  return bytes
}

const repeated = (head, count) => {
  const out = new Uint8Array(head.length * count)
  for (let i = 0; i < count; i++) out.set(head, i * head.length)
  return out
}
const ir = Uint8Array.of(8, 10)
const join = (...parts) => Uint8Array.from(parts.flatMap(part => [...part]))
const graphOf = content => new Writer().put(ir).field(7, content).bytes()

/** name -> bytes of what wants to be a ModelProto. */
export const hostileBytes = {
  '9 kB of messages in messages': () => new Writer().put(ir).put(nested([7, 1, 5, 6], 9000)).bytes(),
  '9 kB of types in types': () => graphOf(inside(11, new Writer().field(1, 'x').field(2, nested([4, 1], 9000)).bytes())),
  '9 kB of groups in groups': () => join(ir, repeated([0x7b], 9000)),
  'a length of 2^64 - 1': () => join(ir, [0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
  '1 GB declared in 20 bytes': () => join(ir, [0x3a, 0x80, 0x80, 0x80, 0x80, 0x04], new Array(12).fill(0)),
  '1 GB of floats declared in a tensor': () => graphOf(inside(5, join([8, 0x80, 0x80, 0x80, 0x80, 1, 16, 1, 0x22, 0x80, 0x80, 0x80, 0x80, 0x04], [0, 0, 0, 0]))),
  'a million empty nodes': () => graphOf(repeated([0x0a, 0], 1e6)),
  'a million empty initializers': () => graphOf(repeated([0x2a, 0], 1e6)),
  'a million empty inputs': () => graphOf(repeated([0x5a, 0], 1e6)),
  'a million attributes of one node': () => graphOf(inside(1, join([0x22, 4, 0x52, 0x65, 0x6c, 0x75], repeated([0x2a, 0], 1e6)))),
  'a million names of one node': () => graphOf(inside(1, repeated([0x0a, 0], 1e6))),
  'a million operator sets': () => join(ir, repeated([0x42, 0], 1e6)),
  'a million functions': () => join(ir, repeated([0xca, 0x01, 0], 1e6)),
  'a million unknown fields': () => join(ir, repeated([0xf8, 0x7f, 0], 1e6)),
  'a graph in a million pieces': () => join(ir, repeated([0x3a, 0], 1e6)),
  'a million dims': () => graphOf(inside(5, join(repeated([8, 1], 1e6), [16, 1])))
}

const deep = 100_000
const graphJson = '{"graph":{"node":[{"attribute":[{"g":'
const graphText = 'graph { node { attribute { '

/** name -> [form, text]. */
export const hostileTexts = {
  'lists in lists': () => ['json', '['.repeat(deep)],
  'objects in objects': () => ['json', '{"graph":'.repeat(deep)],
  'graphs in nodes, as JSON': () => ['json', graphJson + '{"node":[{"attribute":[{"g":'.repeat(9000)],
  'lists in a field that is unknown': () => ['json', `{"x":${'['.repeat(deep)}`],
  'a number of a million digits': () => ['json', `{"irVersion":${'9'.repeat(1e6)}}`],
  'a number with a huge exponent': () => ['json', '{"graph":{"initializer":[{"floatData":[1e999999999,-1e-999999999]}]}}'],
  'a string without an end': () => ['json', `{"producerName":"${'a'.repeat(1e6)}`],
  'a million empty nodes, as JSON': () => ['json', `{"graph":{"node":[${'{},'.repeat(1e6)}{}]}}`],
  'escapes without an end': () => ['json', `{"producerName":"${'\\u0041'.repeat(2e5)}`],
  'messages in messages, as text': () => ['textproto', graphText + 'g { node { attribute { '.repeat(9000)],
  'messages of an unknown field': () => ['textproto', '99 { '.repeat(deep)],
  'lists in lists, as text': () => ['textproto', `graph: ${'['.repeat(deep)}`],
  'a text without an end': () => ['textproto', `producer_name: "${'a'.repeat(1e6)}`],
  'a number of a million digits, as text': () => ['textproto', `ir_version: ${'9'.repeat(1e6)}`],
  'a million empty nodes, as text': () => ['textproto', `graph { ${'node {} '.repeat(1e6)} }`],
  'a comment without an end': () => ['textproto', `#${'#'.repeat(1e6)}`],
  'graphs in nodes, in ONNX syntax': () => ['onnxtxt', `<ir_version: 10, opset_import: ["" : 21]> g (float[1] x) => (float[1] y) { ${'y = If <a = g (float[1] x) => (float[1] y) { '.repeat(9000)}`],
  'types in types': () => ['onnxtxt', `<ir_version: 10, opset_import: ["" : 21]> g (${'seq('.repeat(deep)}`],
  'a list without an end': () => ['onnxtxt', `<ir_version: 10, opset_import: ["" : 21]> g (float[${'1,'.repeat(deep)}`],
  'a number of a million digits, in ONNX syntax': () => ['onnxtxt', `<ir_version: ${'9'.repeat(1e6)}`],
  'a text without an end, in ONNX syntax': () => ['onnxtxt', `<producer_name: "${'a'.repeat(1e6)}`],
  'a name without an end': () => ['onnxtxt', 'a'.repeat(1e6)],
  'brackets without an end': () => ['onnxtxt', '<'.repeat(deep)],
  'a million lines behind the model': () => ['onnxtxt', `<ir_version: 10, opset_import: ["" : 21]> g (float[1] x) => (float[1] y) { y = Relu(x) }\n${'#: graph.node[0] {doc_string: "a"}\n'.repeat(3e4)}`]
}
