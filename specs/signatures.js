// Turns onnx-signatures.json into C constants: node signatures.js --out DIR types|operators onnx-signatures.json
//
// types:     standard_types.c for core/type/standard_types.h
// operators: signature_data.c for core/op/signature_data.h, where the form of the tables is written down

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToC } from './bytes.js'

const [, , , folder, part, file] = process.argv
const data = JSON.parse(readFileSync(file, 'utf8'))
const elementNumbers = new Map(readFileSync(new URL('../core/include/opspec/element_types.def', import.meta.url), 'utf8')
  .split('\n').map(line => /^OPSPEC_ELEMENT\(\w+, (\d+), "(\w+)"/.exec(line)).filter(Boolean)
  .map(([, number, name]) => [name, Number(number)]))
const elementCount = elementNumbers.size + 1

// ---- Types: ids as os_types_new gives them ----

const KINDS = { sparse_tensor: 'OS_TYPE_SPARSE', seq: 'OS_TYPE_SEQUENCE', map: 'OS_TYPE_MAP', optional: 'OS_TYPE_OPTIONAL' }
const standardTypes = [] // { text, kind, elem, of }

const typeId = text => {
  const [, word, inner] = /^(\w+)(?:\((.*)\))?$/.exec(text)
  if (inner === undefined) return elementNumbers.get(word)
  if (word === 'tensor') return elementNumbers.get(inner)
  const at = standardTypes.findIndex(type => type.text === text)
  if (at >= 0) return elementCount + at
  const [, key, rest] = word === 'map' ? /^(\w+), ?(.*)$/.exec(inner) : [undefined, undefined, inner]
  const element = word === 'sparse_tensor'
  const type = { text, kind: KINDS[word], elem: element ? elementNumbers.get(inner) : elementNumbers.get(key) ?? 0, of: element ? 0 : typeId(rest) }
  if (!type.kind || (!type.of && !element)) throw new Error(`unknown type ${text}`)
  return elementCount + standardTypes.push(type) - 1
}

const typeSets = data.typeSets.map(text => text.split(' | ').map(typeId).sort((a, b) => a - b))
if (elementCount + standardTypes.length > 255) throw new Error('type ids no longer fit a byte')

const head = note => `// Generated from ${file.split('/').pop()} by signatures.js.\n\n${note}`
const cText = text => JSON.stringify(text)

if (part === 'types') {
  writeFileSync(join(folder, 'standard_types.c'), `${head('#include "standard_types.h"\n\n#include "type.h"\n')}
const os_standard_type os_standard_types[] = {
${standardTypes.map(({ text, kind, elem, of }) => `  {${kind}, ${elem}, ${of}}, // ${text}`).join('\n')}
};
const uint32_t os_standard_type_count = ${standardTypes.length};
`)
  process.exit(0)
}

// ---- Operators ----

const strings = new Map() // text -> offset in the pool
let pool = ''
const stringOf = text => {
  if (!strings.has(text)) {
    strings.set(text, pool.length)
    if (text.length > 255) throw new Error(`too long: ${text}`)
    pool += String.fromCharCode(text.length) + text
  }
  return strings.get(text)
}

const lists = new Map() // bytes -> offset in the list bytes
const listBytes = []
const listOf = bytes => {
  const key = bytes.join()
  if (!lists.has(key)) {
    lists.set(key, listBytes.length)
    listBytes.push(...bytes)
  }
  return lists.get(key)
}

const u16 = n => {
  if (n > 65535) throw new Error('an offset no longer fits 16 bits')
  return [n & 255, n >> 8]
}
// Sign in the lowest bit, seven bits a byte, lowest first.
const varint = value => {
  let n = BigInt(value)
  n = n < 0n ? -n * 2n - 1n : n * 2n
  const bytes = []
  for (; n > 127n; n >>= 7n) bytes.push(Number(n & 127n) | 128)
  return [...bytes, Number(n)]
}

const parameterBytes = (text, labels) => {
  const [, name, mark, empty, type] = /^(.+?)(\?|\*\*|\*|)(0?): (.*)$/.exec(text)
  const constraint = labels.indexOf(type)
  if (constraint < 0) throw new Error(`no type ${type}`)
  const flags = { '': 0, '?': 1, '*': 2, '**': 2 }[mark] | (mark === '**' ? 4 : 0) | (empty ? 8 : 0)
  return [...u16(stringOf(name)), flags, constraint]
}

const ATTRIBUTE_KINDS = ['', 'FLOAT', 'INT', 'STRING', 'TENSOR', 'GRAPH', 'FLOATS', 'INTS', 'STRINGS', 'TENSORS', 'GRAPHS',
  'SPARSE_TENSOR', 'SPARSE_TENSORS', 'TYPE_PROTO', 'TYPE_PROTOS']
const floatBytes = value => [...new Uint8Array(new Float32Array([value]).buffer)]
const listDefault = itemBytes => values => [values.length, ...values.flatMap(itemBytes)]
const stringBytes = text => u16(stringOf(text))
const DEFAULTS = { FLOAT: floatBytes, INT: varint, STRING: stringBytes, FLOATS: listDefault(floatBytes), INTS: listDefault(varint), STRINGS: listDefault(stringBytes) }

const attributeBytes = ([name, [type, ...fallback]]) => {
  const required = type.endsWith('!')
  const kind = type.replace('!', '')
  if (!ATTRIBUTE_KINDS.includes(kind)) throw new Error(`unknown kind ${kind}`)
  return [...u16(stringOf(name)), ATTRIBUTE_KINDS.indexOf(kind) | (required ? 32 : 0) | (fallback.length ? 64 : 0),
    ...(fallback.length ? DEFAULTS[kind](fallback[0]) : [])]
}

const sized = items => [items.length, ...items.flat()]
const bound = n => {
  if (n !== null && n > 254) throw new Error('an arity no longer fits a byte')
  return n ?? 255
}

const domains = Object.keys(data.domains).sort()
const records = data.operators.flatMap(({ domain, name, versions }) => versions.map(version => {
  const labels = Object.keys(version.types)
  const refs = [
    listOf(sized(version.inputs.map(text => parameterBytes(text, labels)))),
    listOf(sized(version.outputs.map(text => parameterBytes(text, labels)))),
    listOf(sized(labels.map(label => [...u16(stringOf(label)), version.types[label]]))),
    listOf(sized(Object.entries(version.attributes).map(attributeBytes)))
  ]
  const flags = (version.deprecated ? 1 : 0) | (version.function ? 2 : 0)
  return [...[stringOf(name), ...refs].flatMap(u16), domains.indexOf(domain), version.since, flags, ...version.arity.map(bound), 0]
}))
if (typeSets.length > 255) throw new Error('type sets no longer fit a byte')

// Ids in runs: first and last of each.
const setBytes = typeSets.map(ids => {
  const runs = []
  for (const id of ids) {
    if (runs.length && runs.at(-1)[1] === id - 1) runs.at(-1)[1] = id
    else runs.push([id, id])
  }
  return [ids.length, runs.length, ...runs.flat()]
})
const setStarts = setBytes.map((_, i) => setBytes.slice(0, i).flat().length)

// First bytes of all rows, second bytes of all rows, ...: packs better than row by row.
const columns = records[0].flatMap((_, i) => records.map(bytes => bytes[i]))
const poolBytes = [...Buffer.from(pool, 'latin1')]
if (Buffer.from(pool, 'utf8').length !== poolBytes.length) throw new Error('a name is not ASCII')

const parts = [columns, setStarts.flatMap(u16), listBytes, setBytes.flat(), poolBytes]
const partStarts = parts.map((_, i) => parts.slice(0, i).flat().length)

writeFileSync(join(folder, 'signature_data.c'), `${head('#include "signature_data.h"\n')}
${bytesToC('os_signature_data', Buffer.from(parts.flat()))}const uint16_t os_signature_parts[] = {${partStarts.join(', ')}};
const uint32_t os_signature_set_count = ${typeSets.length};
const os_signature_domain os_signature_domains[] = {
${domains.map(domain => `  {OS_STR_INIT(${cText(domain)}), ${data.domains[domain]}},`).join('\n')}
};
const uint32_t os_signature_domain_count = ${domains.length};
const os_str os_signature_legacy[] = {
${data.legacy.map(name => `  OS_STR_INIT(${cText(name)}),`).join('\n')}
};
const uint32_t os_signature_legacy_count = ${data.legacy.length};
const uint32_t os_signature_count = ${records.length};
`)
