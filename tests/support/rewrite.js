// Messages written as no program writes them, but as any may by the rules of protobuf's wire format.
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'

/** The types of our .proto files; protobufjs cannot find the file that defines protobuf-c's options, and needs none of them. */
export function messageTypes () {
  const root = new protobuf.Root()
  for (const name of ['onnx', 'onnx-data', 'onnx-operators']) {
    const text = readFileSync(new URL(`../../proto/${name}.proto`, import.meta.url), 'utf8')
    protobuf.parse(text.replace(/^(import|option) .*$/gm, '').replace(/ ?\[\(pb_c_field\).*?\]/g, ''), root, { keepCase: true })
  }
  return root.resolveAll()
}

/** Numbers from a seed, so that a failure comes again. */
export function generator (seed) {
  let state = seed >>> 0
  // Neighbours among the seeds begin far from each other.
  for (let i = 0; i < 3; i++) state = (Math.imul(state ^ (state >>> 16), 0x45d9f3b) + 0x9e3779b9) >>> 0
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return { below: n => Math.floor(next() * n), chance: p => next() < p }
}

function readVarint (bytes, at) {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++]
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return [BigInt.asUintN(64, value), at]
  }
}

/** Bytes of a number, at least `size` of them. */
export function varint (value, size = 1) {
  const out = []
  for (let left = BigInt(value); left > 0n || out.length < size || out.length === 0; left >>= 7n) out.push(Number(left & 127n) | 128)
  out[out.length - 1] &= 127
  return out
}

const wireOf = type => ({ double: 1, fixed64: 1, sfixed64: 1, string: 2, bytes: 2, float: 5, fixed32: 5, sfixed32: 5 })[type] ?? 0

/**
 * A function of bytes and type that gives other bytes of the same message; `unknown`: also with fields that it does not have;
 * `odd`: not quite the same, for some texts are no UTF-8 and some floats signalling NaNs.
 */
export function rewriter (types, { below, chance }, { unknown = false, odd = false } = {}) {
  const long = () => chance(0.1) ? 1 + below(10) : 1
  const tag = (number, wire) => varint(number * 8 + wire, chance(0.1) ? 1 + below(5) : 1)
  const delimited = (number, bytes) => [...tag(number, 2), ...varint(bytes.length, long()), ...bytes]

  // [{ number, wire, body }], body without a length.
  function items (bytes) {
    const out = []
    for (let at = 0; at < bytes.length;) {
      let key, end;
      [key, at] = readVarint(bytes, at)
      const wire = Number(key & 7n)
      if (wire === 2) {
        let length;
        [length, at] = readVarint(bytes, at)
        end = at + Number(length)
      } else {
        end = wire === 0 ? readVarint(bytes, at)[1] : at + (wire === 1 ? 8 : 4)
      }
      out.push({ number: Number(key >> 3n), wire, body: bytes.subarray(at, end) })
      at = end
    }
    return out
  }

  // Elements of a list of numbers, from packed and other records.
  function elements (field, records) {
    const wire = wireOf(field.type)
    return records.flatMap(record => {
      if (record.wire !== 2) return [record.body]
      const out = []
      for (let at = 0; at < record.body.length;) {
        const end = wire === 0 ? readVarint(record.body, at)[1] : at + (wire === 1 ? 8 : 4)
        out.push(record.body.subarray(at, end))
        at = end
      }
      return out
    })
  }

  const longer = (field, body) => wireOf(field.type) === 0 ? varint(readVarint(body, 0)[0], long()) : [...body]

  function numbers (field, records) {
    const all = elements(field, records), out = []
    if (all.length > 5000) return records.map(({ body, wire }) => wire === 2 ? delimited(field.id, body) : [...tag(field.id, wire), ...body])
    for (let i = 0; i < all.length;) {
      const run = all.slice(i, i + 1 + below(4))
      if (chance(0.5)) out.push(delimited(field.id, run.flatMap(body => longer(field, oddly(field, body)))))
      else for (const body of run) out.push([...tag(field.id, wireOf(field.type)), ...longer(field, oddly(field, body))])
      i += run.length
    }
    return out
  }

  const strange = () => {
    const number = 1000 + below(1000)
    switch (below(5)) {
      case 0: return [...tag(number, 0), ...varint(below(2 ** 30), long())]
      case 1: return [...tag(number, 1), 1, 2, 3, 4, 5, 6, 7, 8]
      case 2: return [...tag(number, 5), 1, 2, 3, 4]
      case 3: return delimited(number, [1, 2, 3])
      default: return [...tag(number, 3), ...(chance(0.5) ? strange() : []), ...tag(number, 4)]
    }
  }

  // The same bytes, or odd ones in their place.
  function oddly (field, body) {
    if (!odd || !chance(0.3)) return body
    if (field.type === 'float') return Uint8Array.of(1 + below(255), 0, 0x80, 0x7f)
    if (field.type !== 'string' || body.length === 0) return body
    const out = Uint8Array.from(body)
    out[below(out.length)] = 0xff
    return out
  }

  // Records of one field, in an order that has to stay.
  function records (field, given) {
    const message = field.resolvedType instanceof protobuf.Type ? field.resolvedType : null
    const scalar = wireOf(field.type) !== 2 && message === null
    if (field.repeated && scalar) return numbers(field, given)
    const out = given.flatMap(({ body, wire }) => {
      if (message === null) return [wire === 2 ? delimited(field.id, oddly(field, body)) : [...tag(field.id, wire), ...longer(field, oddly(field, body))]]
      if (field.repeated || !chance(0.3)) return [delimited(field.id, message_(body, message))]
      const parts = [[], []] // a message in two parts, which merge
      for (const item of fieldsOf(body, message)) parts[chance(0.5) ? 1 : 0].push(item)
      return [merged(parts[0], message), merged(parts[1], message)].map(part => delimited(field.id, part))
    })
    // The last of several scalars counts.
    if (!field.repeated && scalar && field.partOf === null && chance(0.2)) out.unshift([...tag(field.id, wireOf(field.type)), ...(wireOf(field.type) === 0 ? [1] : new Array(wireOf(field.type) === 1 ? 8 : 4).fill(0))])
    return out
  }

  // The message's fields as groups of items that must not be torn apart: of a field, or of a oneof.
  function fieldsOf (bytes, type) {
    const groups = new Map()
    for (const item of items(bytes)) {
      const field = type.fieldsById[item.number]
      const key = field?.partOf?.name ?? item.number
      if (!groups.has(key)) groups.set(key, [])
      groups.get(key).push(item)
    }
    return [...groups.values()]
  }

  function merged (groups, type) {
    const queues = groups.map(group => {
      const field = type.fieldsById[group[0].number]
      return field === undefined ? group.map(({ number, wire, body }) => wire === 2 ? delimited(number, body) : [...tag(number, wire), ...body]) : records(field, group)
    })
    if (unknown && chance(0.3)) queues.push([strange()])
    const out = []
    for (let left = queues.filter(queue => queue.length > 0); left.length > 0; left = left.filter(queue => queue.length > 0)) {
      const queue = left[below(left.length)]
      for (let n = chance(0.8) ? queue.length : 1; n > 0; n--) for (const byte of queue.shift()) out.push(byte)
    }
    return out
  }

  const message_ = (bytes, type) => merged(fieldsOf(bytes, type), type)
  return (bytes, type) => Uint8Array.from(message_(bytes, types.lookupType(`onnx.${type}`)))
}
