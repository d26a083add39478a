import { withDispose } from './values.js'

/** Operators that were registered; dispose() takes them back. Made by env.registerOperator and env.loadPlugin. */
export class Registration {
  #release

  // made: { address, name, key } of each; onRelease gets it
  constructor(engine, made, onRelease, unmatched = { documents: [], operators: [] }) {
    this.operators = Object.freeze(made.map(({ name }) => name))
    this.unmatched = Object.freeze(unmatched)
    // Never taken back by collection: a registration stays until it is disposed of or the Env is.
    this.#release = () => {
      if (!engine.dead) engine.checkIdle()
      this.#release = null
      onRelease(made)
      if (engine.dead) return
      for (const { address } of made) engine.exports.opspec_remove_operator(address)
      engine.kernels.settle()
    }
  }

  dispose() {
    this.#release?.()
  }
}
withDispose(Registration)
