// Wire bytes of any message, from objects with the names of our .proto files; apart from the code under test.
import { readFileSync } from 'node:fs'

const utf8 = new TextEncoder()
const wireTypes = { varint: 0, double: 1, bytes: 2, float: 5 }

/** Messages by name: field name -> { number, type, repeated, packed }. */
function readProto (messages, text) {
  const open = []
  for (const line of text.replaceAll(/\/\/.*$/gm, '').split('\n')) {
    const begun = /^\s*(message|enum|oneof)\s+(\w+)\s*\{/.exec(line)
    if (begun !== null) {
      open.push(begun[1] === 'message' ? begun[2] : null)
      if (begun[1] === 'message') messages[begun[2]] ??= {}
    } else if (/^\s*\}/.test(line)) {
      open.pop()
    } else {
      const field = /^\s*(?:(optional|repeated)\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)/.exec(line)
      const message = open.findLast(name => name !== null)
      if (field === null || message === undefined || ['reserved', 'option'].includes(field[2])) continue
      const [, label, type, name, number] = field
      messages[message][name] = { number: Number(number), type, repeated: label === 'repeated', packed: line.includes('packed = true') }
    }
  }
}

const messages = {}
for (const file of ['onnx', 'onnx-data', 'onnx-operators']) readProto(messages, readFileSync(new URL(`../../proto/${file}.proto`, import.meta.url), 'utf8'))

function varint (value) {
  const out = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  return [...out, Number(rest)]
}
const bits = (array, value) => [...new Uint8Array(new array([value]).buffer)]
const lengthed = bytes => [...varint(bytes.length), ...bytes]

/** The wire kind of a field's type, and the bytes of a value of it. */
function scalar (type, value) {
  if (type === 'float') return ['float', bits(Float32Array, value)]
  if (type === 'double') return ['double', bits(Float64Array, value)]
  if (type === 'string' || type === 'bytes') return ['bytes', lengthed(typeof value === 'string' ? utf8.encode(value) : value)]
  if (messages[type] !== undefined) return ['bytes', lengthed(body(type, value))]
  return ['varint', varint(value)]
}

function body (type, object) {
  return Object.entries(object).flatMap(([name, value]) => {
    // '#12': a field that the message does not have (any more).
    const field = name.startsWith('#') ? { number: Number(name.slice(1)), type: typeof value === 'string' ? 'string' : 'int64' } : messages[type][name]
    if (field === undefined) throw new Error(`${type} has no field ${name}`)
    const last = field.type.split('.').at(-1)
    if (field.packed) return [...varint(field.number << 3 | 2), ...lengthed(value.flatMap(item => scalar(last, item)[1]))]
    return (field.repeated ? value : [value]).flatMap(item => {
      const [kind, bytes] = scalar(last, item)
      return [...varint(field.number << 3 | wireTypes[kind]), ...bytes]
    })
  })
}

/** message('ModelProto', { ir_version: 10 }) */
export const message = (type, object) => Uint8Array.from(body(type, object))
