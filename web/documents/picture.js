// The picture of one graph or function: its boxes and lines, laid out once, of which a window of the page asks for what it shows.
import { operatorName } from './messages.js'
import { layout } from './layout.js'

const height = 40     // pixels of a box
const pitch = 76      // from layer to layer
const letter = 7      // pixels, about, of a letter of a title
const least = 72, most = 232 // pixels that a box is wide
const tallest = 15_000_000   // pixels that a page scrolls
const mostShown = 4000
const mostNamed = 3   // of far ends that are named at a box

const cut = (text, letters) => text.length > letters ? `${text.slice(0, letters - 1)}…` : text
const nameOf = value => typeof value === 'string' ? value : value?.name ?? ''

// Names that a node takes, and its graphs from outside.
function usedBy(node) {
  const used = new Set(node.input ?? []), made = new Set()
  const graphsOf = ({ attribute = [] }) => attribute.flatMap(({ g, graphs = [] }) => g ? [g, ...graphs] : graphs)
  const waiting = graphsOf(node)
  while (waiting.length > 0) {
    const { node: nodes = [], input = [], initializer = [], output = [] } = waiting.pop()
    for (const value of [...input, ...initializer]) made.add(nameOf(value))
    for (const value of output) used.add(nameOf(value))
    for (const inner of nodes) {
      for (const name of inner.input ?? []) used.add(name)
      for (const name of inner.output ?? []) made.add(name)
      waiting.push(...graphsOf(inner))
    }
  }
  return [...used].filter(name => !made.has(name))
}

const isConstant = node => node.opType === 'Constant' && !node.domain && !node.input?.length

/**
 * Constants are left out, as initializers are: what flows is drawn. Box: { kind: 'input' | 'outer' | 'node' | 'output', number (in its list; -1 for 'outer'), title, name }.
 */
export class Picture {
  #boxes = []
  #values = []
  #layout
  #rise
  #far = { from: new Map(), to: new Map() } // box -> other ends

  // graph: a GraphProto or FunctionProto; path: where it stands; typed(name): text of a value's type.
  constructor(graph, path, typed) {
    this.graph = graph
    this.path = path
    this.typed = typed
    this.#collect()
    const widths = this.#boxes.map(({ title, name }) => Math.min(most, Math.max(least, 24 + letter * Math.max(title.length, name.length))))
    this.#layout = layout(widths, this.#values)
    this.#rise = Math.min(pitch, tallest / Math.max(1, this.#layout.layers.length))
    for (const { value, from, to } of this.#layout.far) {
      for (const [ends, box, other] of [[this.#far.from, from, to], [this.#far.to, to, from]]) {
        if (!ends.has(box)) ends.set(box, [])
        ends.get(box).push({ other, value })
      }
    }
  }

  #collect() {
    const { graph } = this
    const held = new Set([...(graph.initializer ?? []).map(nameOf), ...(graph.sparseInitializer ?? []).map(({ values }) => values?.name)])
    const inputs = (graph.input ?? []).map((input, number) => ({ kind: 'input', number, title: nameOf(input), name: '' })).filter(({ title }) => !held.has(title))
    const all = (graph.node ?? []).map((node, number) => ({ node, number }))
    const flowing = all.filter(({ node }) => !isConstant(node))
    const drawn = flowing.length > 0 ? flowing : all
    this.constants = all.length - drawn.length
    if (this.constants > 0) for (const { node } of all) if (isConstant(node)) for (const name of node.output ?? []) held.add(name)
    const nodes = drawn.map(({ node, number }) => ({ kind: 'node', number, title: operatorName(node), name: node.name ?? '' }))
    const outputs = (graph.output ?? []).map((output, number) => ({ kind: 'output', number, title: nameOf(output), name: '' }))
    const makers = new Map(inputs.map(({ title }) => [title, null]))
    for (const { node } of drawn) for (const name of node.output ?? []) makers.set(name, null)
    const used = drawn.map(({ node }) => usedBy(node))
    const outer = []
    for (const names of [...used, outputs.map(({ title }) => title)]) {
      for (const name of names) {
        if (name === '' || makers.has(name) || held.has(name)) continue
        makers.set(name, null)
        outer.push({ kind: 'outer', number: -1, title: name, name: '' })
      }
    }
    this.#boxes = [...outer, ...inputs, ...nodes, ...outputs]
    const first = outer.length + inputs.length
    const make = (name, from) => {
      if (name !== '' && makers.get(name) === null) makers.set(name, this.#values.push({ name, from, to: [] }) - 1)
    }
    ;[...outer, ...inputs].forEach(({ title }, box) => make(title, box))
    drawn.forEach(({ node }, at) => { for (const name of node.output ?? []) make(name, first + at) })
    const use = (name, box) => this.#values[makers.get(name)]?.to.push(box)
    used.forEach((names, at) => { for (const name of names) use(name, first + at) })
    outputs.forEach(({ title }, at) => use(title, first + nodes.length + at))
  }

  get size() {
    const { layers, center, width } = this.#layout
    const right = center.reduce((wide, at, place) => Math.max(wide, at + width[place] / 2), 0)
    const top = layers[0]?.find(place => place < this.#boxes.length)
    return { width: Math.ceil(right), height: Math.ceil(Math.max(0, layers.length - 1) * this.#rise + height), boxes: this.#boxes.length, constants: this.constants, start: top === undefined ? null : this.place(top) }
  }

  /** The box of a part of the graph, by its path from the graph on; -1 = none. */
  boxAt(path) {
    const [, kind, number] = /^(node|input|output)\[(\d+)\]/.exec(path) ?? []
    return kind === undefined ? -1 : this.#boxes.findIndex(box => box.kind === kind && box.number === Number(number))
  }

  pathOf(box) {
    const { kind, number } = this.#boxes[box] ?? { number: -1 }
    return number < 0 ? null : [this.path, `${kind}[${number}]`].filter(Boolean).join('.')
  }

  place(box) {
    const { center, layer, width } = this.#layout
    return { x: center[box] - width[box] / 2, y: layer[box] * this.#rise, width: width[box], height }
  }

  /** What is in a rectangle, in pixels: { boxes, lines, cut }. `chosen`: a box, whose lines are told from the others. */
  window({ left, top, right, bottom }, chosen, worstOf) {
    const { layers, center, width, below } = this.#layout
    const from = Math.max(0, Math.floor((top - height) / this.#rise)), to = Math.min(layers.length - 1, Math.ceil(bottom / this.#rise))
    const boxes = [], lines = []
    for (let at = Math.max(0, from - 1); at <= to; at++) {
      for (const place of layers[at]) {
        const inSight = center[place] + width[place] / 2 >= left && center[place] - width[place] / 2 <= right
        if (inSight && at >= from && place < this.#boxes.length && boxes.length < mostShown) boxes.push(this.#shown(place, worstOf))
        for (const { to: other, value } of below[place]) {
          if (Math.max(center[place], center[other]) < left || Math.min(center[place], center[other]) > right || lines.length >= 2 * mostShown) continue
          lines.push(this.#line(place, other, value, chosen))
        }
      }
    }
    return { boxes, lines, cut: boxes.length >= mostShown || lines.length >= 2 * mostShown }
  }

  #shown(box, worstOf) {
    const { kind, number, title, name } = this.#boxes[box]
    const place = this.place(box)
    const letters = Math.floor((place.width - 16) / letter)
    const ends = (list, mark) => (list ?? []).slice(0, mostNamed).map(({ other, value }) => `${mark} ${this.#values[value].name} (${this.#boxes[other].title})`)
    const path = this.pathOf(box)
    return {
      box, kind, ...place, title: cut(title, letters), name: cut(name, letters), graphs: kind === 'node' && (this.graph.node[number].attribute ?? []).some(({ g, graphs }) => g || graphs?.length > 0),
      label: [kind === 'node' ? title : `${kind} ${title}`, name, ...kind === 'node' ? [] : [this.typed(title)]].filter(Boolean).join(', '),
      worst: path === null ? null : worstOf(path), before: ends(this.#far.to.get(box), '↑'), after: ends(this.#far.from.get(box), '↓')
    }
  }

  // From the lower edge of the one above to the upper edge of the one below; a passing line goes straight through its layer.
  #line(place, other, value, chosen) {
    const { center, layer } = this.#layout
    const y = layer[place] * this.#rise
    const passing = place >= this.#boxes.length
    const { from, name } = this.#values[value]
    const type = this.typed(name)
    return { x1: center[place], y1: passing ? y : y + height, straight: passing ? y + height : null, x2: center[other], y2: layer[other] * this.#rise, own: chosen >= 0 && (from === chosen || other === chosen), text: type ? `${name}: ${type}` : name }
  }

  /** The box that a key leads to. */
  step(box, key) {
    const { layers, layer, center } = this.#layout
    const last = this.#boxes.length - 1
    if (key === 'Home') return 0
    if (key === 'End') return last
    if (box < 0) return layers[0]?.find(place => place <= last) ?? -1
    const beside = by => {
      const list = layers[layer[box]]
      for (let at = list.indexOf(box) + by; at >= 0 && at < list.length; at += by) if (list[at] <= last) return list[at]
      return box
    }
    if (key === 'ArrowLeft') return beside(-1)
    if (key === 'ArrowRight') return beside(1)
    const nearest = list => list.length === 0 ? box : list.reduce((best, other) => Math.abs(center[other] - center[box]) < Math.abs(center[best] - center[box]) ? other : best)
    if (key === 'ArrowDown') return nearest(this.#values.flatMap(({ from, to }) => from === box ? to : []))
    if (key === 'ArrowUp') return nearest(this.#values.flatMap(({ from, to }) => to.includes(box) ? [from] : []))
    return box
  }
}
