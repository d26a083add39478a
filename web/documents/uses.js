// Who makes a value and who uses it, of the graphs of a document.

export class Uses {
  #graphs = new WeakMap() // graph -> Map from name to { makers, users }, node numbers

  find(graph, name) {
    let known = this.#graphs.get(graph)
    if (known === undefined) {
      known = new Map()
      const at = value => known.get(value) ?? known.set(value, { makers: [], users: [] }).get(value)
      for (const [number, node] of (graph.node ?? []).entries()) {
        for (const value of node.output ?? []) if (value !== '') at(value).makers.push(number)
        for (const value of new Set(node.input ?? [])) if (value !== '') at(value).users.push(number)
      }
      this.#graphs.set(graph, known)
    }
    return known.get(name) ?? { makers: [], users: [] }
  }
}
