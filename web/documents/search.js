// Finding things in a document. Words are looked for in names and operators, all of them; op:, name:, type: and shape: say where
// a word is to be; one that is a shape, [1, *, 3], or a type, tensor(…), says that by itself. * stands for any dimension, … at the
// end for any more of them.
import { asText, describe, fields, parts } from './messages.js'

const words = /(?:[^\s[(]|\[[^\]]*\]?|\([^)]*\)?)+/g
const isType = /^(tensor|sparse_tensor|seq|map|optional)\(/

function shapeTest(text) {
  const whole = text.endsWith(']')
  const dims = text.replace(/^\[|\]$/g, '').split(',').map(dim => dim.trim()).filter(dim => dim !== '')
  const more = ['…', '...'].includes(dims.at(-1)) && dims.pop() !== undefined
  return shape => shape !== null && dims.every((dim, at) => at < shape.length && (dim === '*' || (whole || at < dims.length - 1 ? shape[at] === dim : shape[at].startsWith(dim)))) && (more || !whole || shape.length === dims.length)
}

// Shapes in the text of a type: lists of dims.
const shapesOf = type => [...type.matchAll(/\[([^\]]*)\]/g)].map(([, inner]) => inner === '' ? [] : inner.split(', '))

/** A function of an entry of the index. */
export function parseQuery(query) {
  const tests = (query.match(words) ?? []).map(word => {
    const [, place, rest] = /^(op|name|type|shape):(.*)$/i.exec(word) ?? [null, '', word]
    const wanted = rest.toLowerCase()
    if (place === 'shape' || place === '' && rest.startsWith('[')) {
      const fits = shapeTest(wanted)
      return entry => shapesOf(entry.type.toLowerCase()).some(fits)
    }
    if (place === 'type' || place === '' && isType.test(wanted)) return entry => entry.type.toLowerCase().includes(wanted)
    if (place === 'op') return entry => entry.operator.toLowerCase() === wanted || wanted.length > 1 && entry.operator.toLowerCase().startsWith(wanted)
    if (place === 'name') return entry => entry.names.includes(wanted)
    return entry => entry.words.includes(wanted)
  })
  return tests.length === 0 ? null : entry => tests.every(test => test(entry))
}

class Entry {
  #words = null
  #names = null
  #described = null
  #types

  constructor(parent, key, index, type, value, graphs, types) {
    Object.assign(this, { parent, key, index, kind: type, value, graphs })
    this.#types = types
  }

  get #line() {
    return this.#described ??= describe(this.kind, this.value, name => this.#types.text(name, this.graphs))
  }

  get operator() {
    return this.kind === 'NodeProto' || this.kind === 'OperatorProto' ? this.value.opType ?? '' : ''
  }

  get type() {
    return this.#line.type
  }

  // Of a node its own name and those that it gives; of others what they are called.
  get names() {
    if (this.#names === null) {
      const { title, name } = this.#line
      this.#names = (this.kind === 'NodeProto' ? [name, ...this.value.output ?? []] : [title]).join('\n').toLowerCase()
    }
    return this.#names
  }

  get words() {
    if (this.#words === null) {
      const { title, name, note } = this.#line
      const more = this.kind === 'NodeProto' ? [...this.value.input ?? [], ...this.value.output ?? []] : this.kind === 'AttributeProto' ? [asText(this.value.s ?? ''), this.value.refAttrName ?? ''] : this.kind === 'StringStringEntryProto' ? [note] : []
      this.#words = [title, name, ...more, this.value.docString ?? ''].join('\n').toLowerCase()
    }
    return this.#words
  }

  /** Types were inferred: what was said of this one may be more now. */
  forget() {
    this.#described = null
  }

  get steps() {
    const out = []
    for (let at = this; at.parent !== null; at = at.parent) out.push([at.key, at.index])
    return out.reverse()
  }
}

/** Every message of a document, in the order of the tree. */
export class Index {
  #entries = []
  hits = []

  constructor(root, type, types) {
    const first = new Entry(null, '', -1, type, root, [], types)
    const waiting = [first]
    while (waiting.length > 0) {
      const entry = waiting.pop()
      if (entry !== first) this.#entries.push(entry)
      const below = []
      const graphs = entry.kind === 'GraphProto' || entry.kind === 'FunctionProto' ? [...entry.graphs, entry.value] : entry.graphs
      for (const [key, value] of parts(entry.kind, entry.value)) {
        const kind = fields[entry.kind]?.[key]
        if (kind === undefined) continue
        if (Array.isArray(value)) value.forEach((item, index) => below.push(new Entry(entry, key, index, kind, item, graphs, types)))
        else below.push(new Entry(entry, key, -1, kind, value, graphs, types))
      }
      for (let at = below.length - 1; at >= 0; at--) waiting.push(below[at])
    }
  }

  find(query) {
    const test = parseQuery(query)
    this.hits = test === null ? [] : this.#entries.filter(test)
    return this.hits.length
  }

  forget() {
    for (const entry of this.#entries) entry.forget()
  }
}
