// Writes onnx.proto for the C generator: models hold very many nodes, attributes and tensors, of which few use more than a few fields,
// so the others lie in a message Rare of their own and the struct in C is small. On the wire there is no such message: its
// fields are those of the message around it, and the field that leads to it has the highest number, which no file uses
// (proto/plan.c, proto/rare.h).

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'

const RARE_NUMBER = 536870911

const rare = {
  AttributeProto: ['ref_attr_name', 'doc_string', 'g', 'floats', 'strings', 'tensors', 'graphs', 'tp', 'type_protos',
    'sparse_tensor', 'sparse_tensors'],
  NodeProto: ['doc_string', 'overload', 'metadata_props', 'device_configurations'],
  TensorProto: ['segment', 'double_data', 'uint64_data', 'doc_string', 'external_data', 'metadata_props']
}

function setAside (text, message, names) {
  const lines = text.split('\n')
  const first = lines.indexOf(`message ${message} {`)
  const last = lines.indexOf('}', first)
  if (first < 0 || last < 0) throw new Error(`no message ${message}`)
  const fieldOf = line => /^ {2}(?:optional|repeated) \S+ (\w+) = \d+/.exec(line)?.[1]
  const aside = lines.slice(first, last).filter(line => names.includes(fieldOf(line)))
  if (aside.length !== names.length) throw new Error(`${message} has ${aside.length} of the fields ${names.join(', ')}`)
  const kept = lines.slice(first, last).filter(line => !aside.includes(line))
  return [...lines.slice(0, first), ...kept, '  message Rare {', ...aside, '  }', `  optional Rare rare = ${RARE_NUMBER};`,
    ...lines.slice(last)].join('\n')
}

const [, , , out, input] = process.argv
let text = readFileSync(input, 'utf8')
for (const [message, names] of Object.entries(rare)) text = setAside(text, message, names)
writeFileSync(join(out, basename(input)), text)
