// An ONNX document that a person dropped or opened: what it holds, what is wrong with it, and of a model a run. Its
// parts and texts are in the worker of documents; it is checked and run by the engine, whose operators are the package's own, and
// those of plug-ins that the person chose to run.
import { Documents } from './documents/client.js'
import { randomInputs, valueOfFile, valueOfText } from './inputs.js'

const small = 4 << 20 // bytes of a file that is checked as a whole; larger models are read piece by piece
const counted = findings => findings.reduce((counts, { severity }) => ({ ...counts, [severity]: counts[severity] + 1 }), { error: 0, warning: 0, info: 0 })

// Events: 'changed'; 'lines' when the tree has other lines than before, 'version' when it is another version of the document.
export class ModelView extends EventTarget {
  #engine
  #files = null
  #turn = 0
  #abort = null
  #opening = false
  state = 'none' // 'none' | 'loading' | 'shown'
  progress = 0 // of reading, then of checking, from 0 to 1
  name = ''
  size = 0
  identity = null // what the worker of documents knows: { kind, message, evidence, candidates, form, summary, rows, forms, edit, blob, size }
  value = null // of a file that is no model but a tensor
  inputs = []
  outputs = []
  report = null
  problem = null
  given = new Map() // what a person gives inputs: name -> { label, value }; the others get random numbers
  run = { state: 'idle' } // 'idle' | 'running' | 'done' (outputs, ms) | 'failed' (message)

  constructor(engine) {
    super()
    this.#engine = engine
    this.documents = new Documents(engine)
    this.documents.progress = part => { if (this.#opening) this.#set({ progress: part }) }
    this.documents.ended = () => {
      this.#begin()
      this.#opening = false
      this.#set({ state: 'shown', identity: null, problem: new Error('The engine stopped at this document and was restarted. Open the file again; your bundle is safe.') })
    }
  }

  get summary() {
    return this.identity?.summary ?? null
  }

  // `file`: a Blob; files: Map of those that its data may lie in, or null.
  async open(name, file, files = null) {
    const turn = this.#begin()
    if (this.#opening) this.documents.restart()
    this.#files = files
    this.#set({ state: 'loading', progress: 0, name, size: file.size, identity: null, value: null, inputs: [], outputs: [], given: new Map(), report: null, problem: null, run: { state: 'idle' } })
    this.#opening = true
    let identity = null
    try {
      identity = await this.documents.call('open', name, file, files)
    } catch (error) {
      if (turn !== this.#turn) return
      this.problem = error
    }
    if (turn !== this.#turn) return
    this.#opening = false
    if (identity === null) return this.#set({ state: 'shown' })
    this.#set({ identity, progress: 0, problem: identity.problem === null || identity.findings.length > 0 ? null : new Error(identity.problem) })
    await this.#look(turn)
  }

  #begin() {
    this.#abort?.abort()
    this.#abort = new AbortController()
    this.progress = 0
    return ++this.#turn
  }

  // Checks what is open, and has the tree say what was found.
  async #look(turn) {
    const { identity } = this
    const told = identity.findings.length > 0
    if (!told && identity.rows > 0) this.#infer(turn)
    const report = told ? { ok: false, complete: true, incomplete: [], kind: 'unknown', counts: counted(identity.findings), findings: identity.findings } : await this.#check(turn, identity)
    if (turn !== this.#turn) return
    if (identity.rows > 0) {
      await this.documents.call('setFindings', (report?.findings ?? []).map(({ path, severity }) => ({ path, severity }))).catch(() => {})
      if (turn !== this.#turn) return
    }
    this.#set({ state: 'shown', report })
    this.dispatchEvent(new Event('lines'))
  }

  async #infer(turn) {
    const found = await this.documents.call('infer').catch(() => false)
    if (turn === this.#turn && found) this.dispatchEvent(new Event('lines'))
  }

  // What a call of this turn tells how far it is: of the share from `start` to `end` of all there is to wait for.
  #telling(turn, start, end) {
    return (done, of = 1) => {
      const progress = start + (end - start) * done / of
      if (turn === this.#turn && Math.floor(progress * 100) !== Math.floor(this.progress * 100)) this.#set({ progress })
    }
  }

  async #check(turn, { kind, blob, rows, chosen }) {
    const { signal } = this.#abort
    if (kind === 'model' && rows > 0 && (blob.size > small || this.#files !== null)) {
      const model = await this.#attempt(turn, 'open', blob, { signal, onProgress: this.#telling(turn, 0, 0.3), ...this.#files !== null && { files: this.#files } })
      return model === null ? null : this.#ofModel(turn, model, { signal, onProgress: this.#telling(turn, 0.3, 1) })
    }
    const bytes = new Uint8Array(await blob.arrayBuffer())
    const beside = this.#files === null ? {} : { files: this.#files }
    const report = await this.#attempt(turn, 'check', bytes, { signal, onProgress: this.#telling(turn, 0, 1), ...chosen && { as: kind }, ...beside })
    if (turn !== this.#turn) return null
    if (report?.findings.length > 0 && rows === 0) this.problem = null // they say it better
    if (kind === 'model' && rows > 0) {
      const loaded = await this.#attempt(turn, 'loadModel', bytes)
      if (loaded !== null && turn === this.#turn) this.#setEnds(loaded)
      await loaded?.dispose()
    }
    const value = kind === 'tensor' && report?.ok && bytes.length <= small ? await this.#attempt(turn, 'readValue', bytes, 'tensor', beside) : null
    if (turn === this.#turn) this.value = value
    return report
  }

  async #ofModel(turn, model, options) {
    this.#setEnds(model)
    try {
      return await model.check(options)
    } catch (error) {
      if (turn === this.#turn) this.problem = error
      return null
    } finally {
      await model.dispose()
    }
  }

  #setEnds({ inputs, outputs }) {
    this.#set({ inputs, outputs })
  }

  // Checks the same document anew: the operators are other ones than before.
  async again() {
    if (this.state !== 'shown' || this.identity === null) return
    const turn = this.#begin()
    this.#set({ state: 'loading', report: null, run: { state: 'idle' }, problem: null })
    await this.#look(turn)
  }

  stop() {
    this.#abort?.abort()
    if (!this.#opening) return
    this.#turn++
    this.#opening = false
    this.documents.restart()
    this.#set({ state: 'shown', problem: new Error('Reading was stopped.') })
  }

  // The same bytes as another message: of some the content does not say which it is.
  async readAs(message) {
    const turn = this.#begin()
    const read = await this.documents.call('readAs', message)
    if (turn !== this.#turn) return
    this.#set({ state: 'loading', report: null, value: null, problem: null, identity: { ...this.identity, ...read, chosen: true } })
    await this.#look(turn)
  }

  // ---- Edits: each makes another version of the document, which is checked anew.

  async #edited(method, ...values) {
    const state = await this.documents.call(method, ...values)
    const turn = this.#begin()
    Object.assign(this.identity, state, { findings: [], problem: null })
    this.#set({ state: 'loading', size: state.size, report: null, run: { state: 'idle' }, problem: null })
    this.dispatchEvent(new Event('version'))
    await this.#look(turn)
  }

  /** edits: those of the package's model.edit. */
  edit(edits, what) {
    return this.#edited('edit', edits, what)
  }

  step(by) {
    return this.#edited('step', by)
  }

  fix(finding) {
    return this.#edited('fix', finding)
  }

  replaceText(form, text) {
    return this.#edited('replaceText', form, text)
  }

  async #attempt(turn, method, ...values) {
    try {
      return await this.#engine.call(method, ...values)
    } catch (error) {
      if (turn === this.#turn) this.problem = error
      return null
    }
  }

  // The dims without a number, each with a field of its own: names, and '#axis' for nameless ones.
  get symbols() {
    return [...new Set(this.inputs.flatMap(({ shape }) => (shape ?? []).flatMap((dim, axis) => typeof dim === 'string' ? [dim] : dim === null ? [`#${axis}`] : [])))]
  }

  // What to try first for a dim: one item in a batch, pictures of 64 by 64, short lists.
  likelySize(symbol) {
    for (const { shape } of this.inputs) {
      const axis = (shape ?? []).findIndex((dim, index) => (dim ?? `#${index}`) === symbol)
      if (axis >= 0) return axis === 0 ? 1 : shape.length === 4 ? 64 : 8
    }
    return 1
  }

  async giveFile(input, file) {
    this.#give(input, file.name, await valueOfFile(this.#engine, input, file))
  }

  async giveText(input, text) {
    this.#give(input, text, await valueOfText(this.#engine, input, text))
  }

  giveRandom({ name }) {
    this.given.delete(name)
    this.#set({})
  }

  #give({ name }, label, value) {
    this.given.set(name, { label, value })
    this.#set({})
  }

  /** Runs the model; sizes: by symbol, of the inputs that get random numbers. */
  async runOn(sizes) {
    const turn = this.#turn
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#set({ run: { state: 'running' } })
    let session = null
    try {
      const feeds = { ...randomInputs(this.inputs.filter(({ name }) => !this.given.has(name)), sizes), ...Object.fromEntries([...this.given].map(([name, { value }]) => [name, value])) }
      session = await this.#engine.call('createSession', this.identity.blob, this.#files === null ? {} : { files: this.#files })
      const started = performance.now()
      const outputs = await session.run(feeds, { signal })
      if (turn === this.#turn) this.#set({ run: { state: 'done', outputs, ms: performance.now() - started } })
    } catch (error) {
      if (turn === this.#turn) this.#set({ run: { state: 'failed', message: error.message } })
    } finally {
      session?.dispose?.()
    }
  }

  #set(values) {
    Object.assign(this, values)
    this.dispatchEvent(new Event('changed'))
  }
}
