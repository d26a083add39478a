// Types and shapes of values by name: what their graph declares, what initializers are, what inference found of the main graph.
import { tensorType, typeOf, typeText } from './messages.js'

export class Types {
  #scopes = new WeakMap() // graph or function -> Map from name to { type, shape, from }
  #inferred = new Map()
  #main

  constructor(root) {
    this.#main = root.graph ?? root
  }

  /** values: Map from name to { type, shape }. */
  infer(values) {
    this.#inferred = values
  }

  /** { type, shape, from } of a value that is seen from the innermost of `graphs`; null = nothing is known. */
  find(name, graphs) {
    if (!name) return null
    for (let at = graphs.length - 1; at >= 0; at--) {
      const declared = this.#scope(graphs[at]).get(name)
      const inferred = graphs[at] === this.#main ? this.#inferred.get(name) : undefined
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
