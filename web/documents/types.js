// Types and shapes of values by name: what their graph declares, what initializers are, what inference found.
import { tensorType, typeOf, typeText } from './messages.js'

export class Types {
  #scopes = new WeakMap() // graph or function -> Map from name to { type, shape, from }
  #inferred = new Map() // graph or function -> Map from name to { type, shape }
  #root

  constructor(root) {
    this.#root = root
  }

  /** values: Map from name to { type, shape }, of the main graph; graphs: such Maps of the others by path. */
  infer(values, graphs) {
    this.#inferred = new Map([[this.#root.graph ?? this.#root, values]])
    for (const [path, inside] of graphs) {
      const graph = this.#at(path)
      if (graph !== undefined) this.#inferred.set(graph, inside)
    }
  }

  #at(path) {
    let at = this.#root
    for (const [, name, index] of path.matchAll(/(\w+)(?:\[(\d+)\])?/g)) {
      at = at?.[name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())]
      if (index !== undefined) at = at?.[Number(index)]
    }
    return at
  }

  /** { type, shape, from } of a value that is seen from the innermost of `graphs`; null = nothing is known. */
  find(name, graphs) {
    if (!name) return null
    for (let at = graphs.length - 1; at >= 0; at--) {
      const declared = this.#scope(graphs[at]).get(name)
      const inferred = this.#inferred.get(graphs[at])?.get(name)
      if (declared !== undefined && (declared.shape !== null || inferred === undefined || inferred.shape === null)) return declared
      if (inferred !== undefined) return { ...inferred, from: 'inferred' }
      if (declared !== undefined) return declared
    }
    return null
  }

  text(name, graphs) {
    const found = this.find(name, graphs)
    return found === null ? '' : typeText(found)
  }

  #scope(graph) {
    let scope = this.#scopes.get(graph)
    if (scope !== undefined) return scope
    scope = new Map()
    for (const tensor of graph.initializer ?? []) scope.set(tensor.name, { ...tensorType(tensor), from: 'of the initializer' })
    for (const { values, dims = [] } of graph.sparseInitializer ?? []) if (values?.name) scope.set(values.name, { ...tensorType({ ...values, dims }), from: 'of the initializer' })
    for (const list of [graph.valueInfo, graph.output, graph.input]) {
      for (const value of list ?? []) {
        if (typeof value === 'string' || !value.type) continue
        const { type, shape } = typeOf(value.type)
        if (type && !(scope.has(value.name) && shape === null)) scope.set(value.name, { type, shape, from: 'declared' })
      }
    }
    this.#scopes.set(graph, scope)
    return scope
  }
}
