// What a client has made in its worker and what it has given back, in the order in which the worker did it: done again in that
// order, another worker has the same. What was given back stays as long as something needs it: a session the model that it was
// made from, a model or session the operators that were registered when it was made.

const ALIVE = Infinity

// An edit is part of its model: done again as long as that is, or something that was made from it afterwards.
const edits = ({ method }) => method === 'edit'
const registers = ({ method }) => method === 'registerOperator' || method === 'loadPlugin'

export class Journal {
  #entries = new Map() // id -> entry, in order
  #time = 0

  /** call: { method, parameters, args, uses }; uses: ids of the handles among the arguments. */
  made(id, call) {
    this.#entries.set(id, { id, call, from: ++this.#time, to: ALIVE, leaving: false })
  }

  /** The caller gives it back, which the worker does not know yet. Answers whether there was anything to give back. */
  leave(id) {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.leaving) return false
    entry.leaving = true
    return true
  }

  /** The worker has taken it back. */
  left(id) {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.to = ++this.#time
    this.#prune()
  }

  /** It cannot be made again. */
  drop(id) {
    this.#entries.delete(id)
  }

  #prune() {
    const used = new Set()
    let next = Infinity // when the first of the later models and sessions that stay was made
    for (const entry of [...this.#entries.values()].reverse()) {
      const { id, call, to } = entry
      const needed = edits(call)
        ? used.has(call.handle) || this.#entries.get(call.handle)?.to === ALIVE
        : to === ALIVE || used.has(id) || registers(call) && next < to
      if (!needed) {
        this.#entries.delete(id)
        continue
      }
      for (const other of call.uses) used.add(other)
      if (!registers(call)) next = entry.from
    }
  }

  /** What another worker has to do: { id, call }, or { id, call: null } where it is taken back. */
  steps() {
    const steps = []
    for (const { id, call, from, to } of this.#entries.values()) {
      steps.push({ id, call, time: from })
      if (to !== ALIVE) steps.push({ id, call: null, time: to })
    }
    return steps.sort((a, b) => a.time - b.time)
  }
}
