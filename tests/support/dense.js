// Documents that hold very many small things: each list and each field of every message of a model, again and again.
import protobuf from 'protobufjs'
import { Writer } from './onnx.js'
import { messageTypes, varint } from './rewrite.js'

function repeated (unit, count) {
  const out = new Uint8Array(unit.length * count)
  out.set(unit)
  for (let done = unit.length; done < out.length; done *= 2) out.copyWithin(done, 0, Math.min(done, out.length - done))
  return out
}

// `count` strings of four letters, no two the same, each behind `head` (tags and lengths).
function names (head, count) {
  const out = repeated([...head, 4, 0, 0, 0, 0], count)
  for (let i = 0, at = head.length + 1; i < count; i++, at += head.length + 5) {
    for (let letter = 0, left = i; letter < 4; letter++, left = Math.floor(left / 26)) out[at + letter] = 97 + left % 26
  }
  return out
}

const wires = { float: 5, double: 1, string: 2, bytes: 2 }
const one = { 0: [1], 1: [0, 0, 0, 0, 0, 0, 240, 63], 5: [0, 0, 128, 63] }

/** name -> a function of how many that gives the bytes of a ModelProto. */
export function denseDocuments () {
  const root = messageTypes().lookupType('onnx.ModelProto')
  const paths = new Map([[root, []]]) // the fields that lead to each message, the shortest way
  for (const type of paths.keys()) {
    for (const field of type.fieldsArray) {
      if (field.resolvedType instanceof protobuf.Type && !paths.has(field.resolvedType)) paths.set(field.resolvedType, [...paths.get(type), field])
    }
  }
  const documents = new Map()
  for (const [type, path] of paths) {
    const inside = content => {
      for (const field of path.toReversed()) content = new Writer().varint(field.id * 8 + 2).varint(content.length).put(content).bytes()
      return new Writer().field(1, 10).put(content).bytes()
    }
    const add = (name, content) => documents.set(`${type.name}: ${name}`, count => inside(content(count)))
    for (const { name, id, type: kind, repeated: list, resolvedType } of type.fieldsArray) {
      const message = resolvedType instanceof protobuf.Type
      const wire = message ? 2 : wires[kind] ?? 0
      const tag = varint(id * 8 + wire)
      if (wire === 2) add(`${name}, empty`, count => repeated([...tag, 0], count))
      if (wire !== 2 && list) {
        add(`${name}, one by one`, count => repeated([...tag, ...one[wire]], count))
        add(`${name}, packed`, count => new Writer().field(id, repeated(one[wire], count)).bytes())
      }
      if (list && kind === 'string') add(`${name}, each another`, count => names(tag, count))
      const named = message && list && resolvedType.fieldsArray.find(field => field.type === 'string' && !field.repeated)
      if (named) add(`${name}, each with another ${named.name}`, count => names([...tag, 6, ...varint(named.id * 8 + 2)], count))
    }
    add('unknown fields', count => repeated([...varint(2047 * 8), 0], count))
    add('groups', count => repeated([...varint(2047 * 8 + 3), ...varint(2047 * 8 + 4)], count))
  }
  return documents
}
