// Plug-ins that a person brought beside the bundle: modules of operators for the models of this page. Bringing one runs nothing;
// it is loaded when the person presses Run at it.
import { readDocument } from './bundle.js'

const longest = 10000

export const looksLikePlugin = bytes => bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d

const nameOf = ({ operator } = {}) => operator && `${operator.domain ? `${operator.domain}.` : ''}${operator.op_type}`

// Events: 'changed'; 'loaded' when there are other operators than before.
export class Plugins extends EventTarget {
  #engine
  #workspace
  #next = 1
  list = [] // [{ number, name, size, bytes, state: 'waiting' | 'loading' | 'loaded' | 'refused', message, operators, unmatched, registration }]

  constructor(engine, workspace) {
    super()
    this.#engine = engine
    this.#workspace = workspace
  }

  // One of the same name takes the place of the earlier one.
  async bring(name, bytes) {
    for (const plugin of this.list.filter(other => other.name === name)) await this.remove(plugin)
    this.list.push({ number: this.#next++, name, size: bytes.length, bytes, state: 'waiting', message: '', operators: [], unmatched: [], registration: null })
    this.#tell('changed')
  }

  async load(plugin) {
    if (plugin.state === 'loading' || plugin.state === 'loaded') return
    this.#set(plugin, { state: 'loading', message: '' })
    try {
      const document = readDocument(this.#workspace.files)
      const documents = document?.kind === 'runlocal.operator-extension' ? [JSON.stringify(document)] : []
      const registration = await this.#engine.call('loadPlugin', plugin.bytes, { documents, timeoutMs: longest })
      // It may have been taken away meanwhile.
      if (!this.list.includes(plugin)) return void registration.dispose()
      const described = new Set(documents.length > 0 && registration.unmatched.documents.length === 0 ? [nameOf(document)] : [])
      this.#set(plugin, {
        state: 'loaded', registration, unmatched: [...registration.unmatched.operators],
        operators: registration.operators.map(name => ({ name, described: described.has(name) }))
      })
      this.#tell('loaded')
    } catch (error) {
      this.#set(plugin, { state: 'refused', message: error?.message ?? String(error) })
    }
  }

  async remove(plugin) {
    this.list = this.list.filter(other => other !== plugin)
    this.#tell('changed')
    if (plugin.registration === null) return
    await plugin.registration.dispose()
    this.#tell('loaded')
  }

  #set(plugin, values) {
    Object.assign(plugin, values)
    this.#tell('changed')
  }

  #tell(type) {
    this.dispatchEvent(new Event(type))
  }
}
