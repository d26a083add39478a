// The pictures of a document's graphs, of which one is looked at: what the page asks by the paths of parts.
import { asText } from './messages.js'
import { Picture } from './picture.js'

const mostInside = 20 // graphs of one node that are offered

const isGraph = ({ type }) => type === 'GraphProto' || type === 'FunctionProto'

export class Pictures {
  #tree
  #types
  #picture = null

  constructor(tree, types) {
    this.#tree = tree
    this.#types = types
  }

  // The innermost graph or function that a part is in; the main graph where it is in none; null = the document has none.
  #graphAt(path) {
    for (let at = this.#tree.find(path); at !== null; at = at.parent) if (isGraph(at)) return at
    const main = this.#tree.find('graph')
    return isGraph(main) ? main : null
  }

  /** The picture of the graph that a part is in: its size, the box of the part, and the ways to the graphs around and inside. */
  open(path) {
    const item = this.#graphAt(path)
    if (item === null) return null
    const at = this.#tree.path(item)
    if (this.#picture?.graph !== item.value) {
      const graphs = this.#tree.graphs(item)
      this.#picture = new Picture(item.value, at, name => this.#types.text(name, graphs))
    }
    let above = item.parent
    while (above !== null && above.type !== 'NodeProto') above = above.parent
    const rest = at === '' ? path : path.slice(at.length + 1)
    return { path: at, title: this.#tree.row(item).title || at || item.type, above: above && this.#tree.path(above), ...this.#picture.size, ...this.box(this.#picture.boxAt(rest)) }
  }

  // Those of a node: [{ name of the attribute, path }].
  #inside(path) {
    const parts = item => this.#tree.children(item).flatMap(child => child.type === 'list' ? this.#tree.children(child) : [child])
    return parts(this.#tree.find(path)).filter(({ type }) => type === 'AttributeProto')
      .flatMap(attribute => parts(attribute).filter(isGraph).map(graph => ({ name: asText(attribute.value.name ?? ''), path: this.#tree.path(graph) }))).slice(0, mostInside)
  }

  box(box) {
    const path = box < 0 ? null : this.#picture.pathOf(box)
    return { box, boxPath: path, place: box < 0 ? null : this.#picture.place(box), inside: path === null ? [] : this.#inside(path) }
  }

  step(box, key) {
    return this.box(this.#picture.step(box, key))
  }

  window(rectangle, chosen) {
    return this.#picture.window(rectangle, chosen, path => {
      const item = this.#tree.find(path)
      return item.worst < 0 ? null : this.#tree.row(item).worst
    })
  }
}
