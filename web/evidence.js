// The evidence of the open bundle and what running it said. A run happens when a person asks for it; only a bundle that
// the page itself brought runs unasked.
import { kernelName, roleOf, testNames } from './bundle.js'
import { runBundle } from './runner.js'

const statuses = ['passed', 'failed', 'skipped', 'error']

// Results come from the sandbox, where a foreign kernel may have spoken: only its known parts are taken, as text.
function sanitize(tests) {
  const words = value => value == null ? undefined : String(value).slice(0, 4000)
  return tests.slice(0, 10000).map(test => ({
    path: words(test?.path) ?? '', name: words(test?.name) ?? '', message: words(test?.message),
    status: statuses.includes(test?.status) ? test.status : 'error', ms: Number(test?.ms) || 0,
    findings: (Array.isArray(test?.findings) ? test.findings : []).slice(0, 50).map(finding => ({
      rule: words(finding?.rule) ?? '', severity: ['error', 'warning', 'info'].includes(finding?.severity) ? finding.severity : 'error',
      message: words(finding?.message) ?? '', expected: words(finding?.expected), actual: words(finding?.actual), related: []
    })),
    refused: (Array.isArray(test?.refused) ? test.refused : []).slice(0, 20).map(words),
    outputs: Array.isArray(test?.outputs) ? test.outputs : null
  }))
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// Events: 'changed'.
export class Evidence extends EventTarget {
  #engine
  #workspace
  #abort = null
  #turn = 0
  #results = new Map() // evidence name -> test
  #others = [] // tests that no file of ours names, such as data sets of a folder
  state = 'idle' // 'idle' | 'running' | 'done' | 'ended'
  message = ''
  ms = 0
  stale = false

  constructor(engine, workspace) {
    super()
    this.#engine = engine
    this.#workspace = workspace
    workspace.addEventListener('open', () => this.#reset())
    for (const type of ['edit', 'files']) {
      workspace.addEventListener(type, () => {
        this.stale = this.state === 'done' || this.state === 'ended'
        this.#tell()
      })
    }
  }

  // [{ name, missing, document, test }]: the tests that the document names, then other evidence that is there.
  get rows() {
    const { files, reading } = this.#workspace
    const named = testNames(files, reading.document)
    const present = [...files.keys()].filter(name => roleOf(name, files.get(name)) === 'evidence')
    const rows = [...new Set([...named, ...present])].map(name => ({
      name, missing: !files.has(name), unnamed: !named.includes(name),
      document: typeof files.get(name) === 'string' ? parse(files.get(name)) : null, test: this.#results.get(name) ?? null
    }))
    return [...rows, ...this.#others.map(test => ({ name: test.name, missing: false, document: null, test }))]
  }

  get counts() {
    const tests = [...this.#results.values(), ...this.#others]
    return { passed: tests.filter(({ status }) => status === 'passed').length, all: tests.length }
  }

  get kernel() {
    return kernelName(this.#workspace.files)
  }

  stop() {
    this.#abort?.abort()
  }

  async run() {
    if (this.state === 'running') return
    const { files } = this.#workspace
    const turn = ++this.#turn
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#set({ state: 'running', message: '', stale: false })
    const started = performance.now()
    try {
      const wasm = await this.#engine.module()
      const tests = await runBundle({ files, wasm, signal, started: name => this.#set({ message: name }) })
      if (turn !== this.#turn) return
      this.#take(sanitize(tests))
      this.#set({ state: 'done', message: '', ms: performance.now() - started })
    } catch (error) {
      if (turn !== this.#turn) return
      this.#results.clear()
      this.#others = []
      const message = error.code === 'aborted' ? 'Stopped.' : `The kernel was ended: ${error.message}.`
      this.#set({ state: 'ended', message: `${message} Your text is safe.`, ms: performance.now() - started })
    }
  }

  #take(tests) {
    const names = new Set(this.rows.map(({ name }) => name))
    this.#results.clear()
    this.#others = []
    for (const test of tests) {
      const name = [test.name, test.path, `${test.name}.json`].find(candidate => names.has(candidate))
      if (name !== undefined && !this.#results.has(name)) this.#results.set(name, test)
      else this.#others.push(test)
    }
  }

  #reset() {
    this.#abort?.abort()
    this.#turn++
    this.#results.clear()
    this.#others = []
    this.#set({ state: 'idle', message: '', stale: false })
  }

  #set(values) {
    Object.assign(this, values)
    this.#tell()
  }

  #tell() {
    this.dispatchEvent(new Event('changed'))
  }
}
