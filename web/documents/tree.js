// A decoded document as a tree of items, made as they are opened. What is visible is one list, of which a window is shown.
import { describe, fields, flat, operatorName, parts, sizeOf, snake, valueText } from './messages.js'

const mostFlat = 64
const fewItems = 24
const mostText = 300 // characters of a name or a type in a line
const severities = ['info', 'warning', 'error']

/**
 * Item: { id, parent, depth, key, index (-1 = no list), value, type (a message's name; 'list'; null = a plain value), children
 * (null = not made yet), open }.
 */
export class Tree {
  #items = []
  #types
  #names = new Map() // list item -> type of what is in it
  visible = []

  constructor(root, type, types) {
    this.#types = types
    this.root = this.#make(null, '', -1, root, type)
    this.visible = [this.root]
    this.#openFirst()
  }

  item(id) {
    return this.#items[id] ?? null
  }

  #make(parent, key, index, value, type) {
    const item = { id: this.#items.length, parent, depth: parent === null ? 0 : parent.depth + 1, key, index, value, type, children: null, open: false, findings: null, inside: 0, worst: -1 }
    this.#items.push(item)
    return item
  }

  #openFirst() {
    this.setOpen(this.root, true)
    const graph = this.root.type === 'ModelProto' ? this.children(this.root).find(({ key }) => key === 'graph') : this.root
    if (graph === undefined) return
    this.setOpen(graph, true)
    for (const child of this.children(graph)) {
      if (child.type === 'list' && (child.key === 'node' || child.key === 'operator' || child.value.length <= fewItems && ['input', 'output'].includes(child.key))) this.setOpen(child, true)
    }
  }

  hasChildren(item) {
    if (item.type === null) return false
    if (item.type === 'list') return item.value.length > 0
    return item.children === null ? parts(item.type, item.value).length > 0 : item.children.length > 0
  }

  children(item) {
    return item.children ??= item.type === null ? [] : item.type === 'list' ? this.#ofList(item) : this.#ofMessage(item)
  }

  #ofList(item) {
    const type = this.#names.get(item) ?? null
    return item.value.map((value, index) => this.#make(item, item.key, index, value, type))
  }

  #ofMessage(item) {
    const out = []
    for (const [key, value] of parts(item.type, item.value)) {
      const type = fields[item.type]?.[key] ?? null
      const list = Array.isArray(value) && (type !== null || value.length > 0 && typeof value[0] === 'string')
      if (!list) out.push(this.#make(item, key, -1, value, type))
      else if (flat[item.type]?.includes(key) && value.length <= mostFlat) value.forEach((one, index) => out.push(this.#make(item, key, index, one, type)))
      else {
        const made = this.#make(item, key, -1, value, 'list')
        this.#names.set(made, type)
        out.push(made)
      }
    }
    return out
  }

  // ---- What is visible

  indexOf(item) {
    return this.visible.indexOf(item)
  }

  // Those that stand below an open item.
  #below(item) {
    const out = []
    const waiting = [...this.children(item)].reverse()
    while (waiting.length > 0) {
      const next = waiting.pop()
      out.push(next)
      if (next.open) for (let at = next.children.length - 1; at >= 0; at--) waiting.push(next.children[at])
    }
    return out
  }

  setOpen(item, open) {
    if (item.open === open || !this.hasChildren(item)) return
    const at = this.indexOf(item)
    if (open) this.children(item)
    const below = at < 0 ? [] : this.#below(item)
    item.open = open
    if (at < 0) return
    const before = this.visible.slice(0, at + 1)
    this.visible = open ? before.concat(below, this.visible.slice(at + 1)) : before.concat(this.visible.slice(at + 1 + below.length))
  }

  /** Opens all that stands above it; answers its place in what is visible. */
  reveal(item) {
    const above = []
    for (let at = item.parent; at !== null; at = at.parent) above.push(at)
    for (const each of above.reverse()) this.setOpen(each, true)
    return this.indexOf(item)
  }

  // ---- Paths

  /** As findings write them: graph.node[3].input[0]. */
  path(item) {
    const out = []
    for (let at = item; at.parent !== null; at = at.parent) {
      if (at.type === 'list') continue
      out.push(`${snake(at.key)}${at.index < 0 ? '' : `[${at.index}]`}`)
    }
    return out.reverse().join('.')
  }

  /** The item that a path names, or the closest one above it. */
  find(path) {
    const steps = path.split('.').filter(Boolean).map(step => /^([a-z_0-9]+)(?:\[(\d+)\])?$/.exec(step))
    // Findings of a graph that is a document by itself begin with what it is.
    if (steps[0]?.[2] === undefined && this.root.type !== 'ModelProto' && snake(this.root.type).slice(1).startsWith(steps[0]?.[1]) && !this.children(this.root).some(({ key }) => snake(key) === steps[0][1])) steps.shift()
    let at = this.root
    for (const step of steps) {
      const next = step && this.#child(at, step[1], step[2] === undefined ? -1 : Number(step[2]))
      if (!next) break
      at = next
    }
    return at
  }

  #child(item, key, index) {
    const named = this.children(item).filter(child => snake(child.key) === key)
    const direct = named.find(child => child.type !== 'list' && (child.index === index || index < 0))
    const list = named.find(({ type }) => type === 'list')
    if (direct !== undefined || list === undefined) return direct
    return this.children(list)[index] ?? list
  }

  /** Of an entry of the search: steps of [key, index]. */
  at(steps) {
    let item = this.root
    for (const [key, index] of steps) {
      const children = this.children(item)
      const direct = children.find(child => child.key === key && child.index === index)
      const list = direct === undefined ? children.find(child => child.key === key && child.type === 'list') : undefined
      item = direct ?? (list && this.children(list)[index]) ?? item
    }
    return item
  }

  // ---- Findings

  /** findings: [{ path, severity, … }]; those without a path stand at the root. */
  setFindings(findings) {
    for (const item of this.#items) if (item.worst >= 0) Object.assign(item, { findings: null, inside: 0, worst: -1 })
    for (const [number, { path = '', severity }] of findings.entries()) {
      const item = this.find(path)
      ;(item.findings ??= []).push(number)
      for (let at = item; at !== null; at = at.parent) {
        at.inside++
        at.worst = Math.max(at.worst, severities.indexOf(severity))
      }
    }
  }

  /** The next visible item, from `index` on and around, whose line begins with `prefix`; -1 = none. */
  typeahead(index, prefix) {
    const wanted = prefix.toLowerCase()
    const { length } = this.visible
    for (let step = 0; step < length; step++) {
      const at = (index + step) % length
      const { title, name, label } = this.row(this.visible[at])
      if ([title, name, label].some(text => text.toLowerCase().startsWith(wanted))) return at
    }
    return -1
  }

  // ---- Lines

  /** Graphs and functions that an item is in, outermost first. */
  graphs(item) {
    const out = []
    for (let at = item; at !== null; at = at.parent) if (at.type === 'GraphProto' || at.type === 'FunctionProto') out.push(at.value)
    return out.reverse()
  }

  row(item) {
    const row = this.#line(item)
    for (const name of ['title', 'name', 'type']) if (row[name].length > mostText) row[name] = `${row[name].slice(0, mostText)} …`
    return row
  }

  #line(item) {
    const { id, depth, key, index, value, type, parent } = item
    const label = key === '' ? type : `${snake(key)}${index >= 0 ? `[${index}]` : ''}`
    const row = { id, depth, label, title: '', name: '', type: '', note: '', open: this.hasChildren(item) ? item.open : null, inside: item.inside, own: item.findings?.length ?? 0, worst: item.worst < 0 ? null : severities[item.worst] }
    const siblings = parent === null ? null : parent.children
    Object.assign(row, siblings === null ? { position: 1, size: 1 } : { position: (parent.type === 'list' ? index : siblings.indexOf(item)) + 1, size: siblings.length })
    const graphs = this.graphs(item)
    const typed = name => this.#types.text(name, graphs)
    if (type === 'list') return { ...row, note: value.length.toLocaleString('en') }
    if (type !== null) return { ...row, ...describe(type, value, typed) }
    if (index >= 0 && ['NodeProto', 'FunctionProto'].includes(this.#message(item)) && key !== 'attribute') return { ...row, title: value === '' ? '(left out)' : String(value), type: typed(value) }
    return { ...row, note: sizeOf(value) !== null && key === 'rawData' ? `${value.length.toLocaleString('en')} bytes` : valueText(value) }
  }

  #message(item) {
    const { parent } = item
    return parent.type === 'list' ? parent.parent.type : parent.type
  }

  rows(from, to) {
    return this.visible.slice(from, to).map(item => this.row(item))
  }

  /** Paths of what is open, to be opened again in another version of the document. */
  get opened() {
    return this.#items.filter(({ open }) => open).map(item => [this.path(item), item.type === 'list' ? item.key : null])
  }

  open(paths) {
    for (const [path, list] of paths) {
      const item = this.find(path)
      const target = list === null ? item : this.children(item).find(({ key, type }) => key === list && type === 'list')
      if (target !== undefined && (list !== null || this.path(item) === path)) this.setOpen(target, true)
    }
  }
}

export const operatorsOf = graphs => {
  const counts = new Map()
  const waiting = [...graphs]
  let nodes = 0
  while (waiting.length > 0) {
    for (const node of waiting.pop()?.node ?? []) {
      const name = operatorName(node)
      nodes++
      counts.set(name, (counts.get(name) ?? 0) + 1)
      for (const { g, graphs: more = [] } of node.attribute ?? []) waiting.push(...more, ...g ? [g] : [])
    }
  }
  return { nodes, operators: [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)) }
}
