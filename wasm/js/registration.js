import { withDispose } from './values.js'

/** An operator that was registered; dispose() takes it back. Made by env.registerOperator. */
export class Registration {
  #release

  constructor(engine, address, name, onRelease) {
    this.operators = Object.freeze([name])
    // Never taken back by collection: a registration stays until it is disposed of or the Env is.
    this.#release = () => {
      onRelease()
      if (engine.dead) return
      engine.exports.opspec_remove_operator(address)
      engine.kernels.settle()
    }
  }

  dispose() {
    const release = this.#release
    this.#release = null
    release?.()
  }
}
withDispose(Registration)
