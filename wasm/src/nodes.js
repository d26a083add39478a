// The nodes of a graph for those who read all of them: columns of the module's (core/host/host_nodes.c), out of which a
// node makes what it is asked for.

import { asciiText } from './platform.js'

const HEAD = 14, NODE = 8, ATTRIBUTE = 3
const LARGE = 32, REFERENCE = 64
const kinds = { 4: 'tensor', 5: 'graph', 9: 'tensors', 10: 'graphs', 11: 'sparse_tensor', 12: 'sparse_tensors', 13: 'type_proto', 14: 'type_protos' }
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

class Columns {
  constructor(memory, start) {
    const head = new Uint32Array(memory.buffer, start, HEAD)
    const place = i => [head[2 * i], head[2 * i + 1]]
    const column = (Type, i, parts = 1) => {
      const [address, count] = place(i)
      return new Type(memory.buffer, address, count * parts).slice()
    }
    this.numbers = column(Float64Array, 0)
    this.integers = new BigInt64Array(this.numbers.buffer)
    this.nodes = column(Uint32Array, 1, NODE)
    this.attributes = column(Uint32Array, 2, ATTRIBUTE)
    this.ends = column(Uint32Array, 3)
    const ends = column(Uint32Array, 4)
    const [texts] = place(5)
    const size = head[12]
    // A text that is ASCII is cut by bytes.
    this.plain = head[13] === 1
    const text = memory.subarray(texts, texts + size)
    this.text = this.plain ? null : text.slice()
    this.units = this.plain ? asciiText(text) : ''
    this.words = Array.from(ends, (end, i) => decoder.decode(memory.subarray(texts + (i === 0 ? size : ends[i - 1]), texts + end)))
  }

  bytes(i) {
    return this.text.subarray(i === 0 ? 0 : this.ends[i - 1], this.ends[i])
  }

  string(i) {
    return this.plain ? this.units.substring(i === 0 ? 0 : this.ends[i - 1], this.ends[i]) : decoder.decode(this.bytes(i))
  }

  strings(first, count) {
    const list = new Array(count)
    for (let i = 0; i < count; i++) list[i] = this.string(first + i)
    return list
  }

  // Of an attribute: bytes where it is no text.
  content(i) {
    if (this.plain) return this.string(i)
    try {
      return strict.decode(this.bytes(i))
    } catch {
      return this.bytes(i).slice()
    }
  }

  list(at, of) {
    return Array.from({ length: this.numbers[at] }, (_, i) => of(i))
  }

  value(type, at) {
    switch (type) {
      case 1:
      case 2: return this.numbers[at]
      case 2 + LARGE: return this.integers[at]
      case 3: return this.content(at)
      case 6:
      case 7: return Array.from(this.numbers.subarray(at + 1, at + 1 + this.numbers[at]))
      case 7 + LARGE: return this.list(at, i => this.integers[at + 1 + i])
      case 8: return this.list(at, i => this.content(this.numbers[at + 1] + i))
      case REFERENCE: return { ref: this.string(at) }
      default: return { kind: kinds[type] ?? 'unknown' }
    }
  }
}

/** A node of the main graph, as it was when the model was asked for its nodes. */
class Node {
  #columns

  constructor(columns, index) {
    this.#columns = columns
    /** Its number: what an edit may name it by. */
    this.index = index
  }

  get opType() {
    const { words, nodes } = this.#columns
    return words[nodes[this.index * NODE]]
  }

  get domain() {
    const { words, nodes } = this.#columns
    return words[nodes[this.index * NODE + 1]]
  }

  get overload() {
    const { words, nodes } = this.#columns
    return words[nodes[this.index * NODE + 2]]
  }

  get name() {
    return this.#columns.string(this.#columns.nodes[this.index * NODE + 3])
  }

  get inputs() {
    const { nodes } = this.#columns
    const at = this.index * NODE
    return this.#columns.strings(nodes[at + 3] + 1, nodes[at + 4])
  }

  get outputs() {
    const { nodes } = this.#columns
    const at = this.index * NODE
    return this.#columns.strings(nodes[at + 3] + 1 + nodes[at + 4], nodes[at + 5])
  }

  get attributes() {
    const columns = this.#columns
    const { nodes, attributes, words } = columns
    const made = {}
    const first = nodes[this.index * NODE + 6]
    for (let i = first; i < first + nodes[this.index * NODE + 7]; i++) {
      const name = words[attributes[i * ATTRIBUTE]]
      const value = columns.value(attributes[i * ATTRIBUTE + 1], attributes[i * ATTRIBUTE + 2])
      if (name === '__proto__') Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true })
      else made[name] = value
    }
    return made
  }

  toJSON() {
    const { index, name, opType, domain, overload, inputs, outputs, attributes } = this
    return { index, name, opType, domain, overload, inputs, outputs, attributes }
  }
}

/** The nodes of a graph, made one by one as they are asked for. */
class Nodes {
  #columns

  constructor(columns) {
    this.#columns = columns
    this.length = columns.nodes.length / NODE
  }

  at(index) {
    const i = index < 0 ? this.length + index : index
    return Number.isInteger(i) && i >= 0 && i < this.length ? new Node(this.#columns, i) : undefined
  }

  [Symbol.iterator]() {
    const columns = this.#columns
    const { length } = this
    let i = 0
    return {
      next: () => i < length ? { value: new Node(columns, i++), done: false } : { value: undefined, done: true },
      [Symbol.iterator]() {
        return this
      }
    }
  }

  toJSON() {
    return Array.from(this, node => node.toJSON())
  }
}

/** What the module has left at `start` of its memory. */
export const nodesOf = (memory, start) => new Nodes(new Columns(memory, start))
