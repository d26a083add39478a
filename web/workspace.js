// The open bundle: its files, which one is shown, where it came from. Tells what changes through events:
// 'open' (another bundle), 'files' (names), 'active', 'edit' (detail: name).
import { inOrder, readDocument } from './bundle.js'
import { withDiagnostics } from './editor.js'

export class Workspace extends EventTarget {
  #entries = new Map() // name -> { state, scroll, came } of a text, { bytes } of the rest
  #editor = null
  #document = null
  active = null
  origin = 'own' // 'sample' | 'own' | 'shared' | 'file'
  label = ''

  attach(editor) {
    this.#editor = editor
  }

  // Replaces everything. files: Map from name to text or bytes.
  open(files, { origin = 'own', label = '', active = null } = {}) {
    this.#entries = new Map([...inOrder(files)].map(([name, content]) => [name, this.#entry(name, content)]))
    this.#document = null
    Object.assign(this, { origin, label, active: null })
    this.#tell('open')
    this.show(this.#entries.has(active) ? active : this.names[0] ?? null)
  }

  get names() {
    return [...this.#entries.keys()]
  }

  // The files as checked and run: line ends are "\n", so that offsets are the editor's.
  get files() {
    return new Map([...this.#entries].map(([name, entry]) => [name, entry.bytes ?? entry.state.doc.toString()]))
  }

  // { document, stale }: the operator document as parsed; while a person types something that is not JSON, as it stood before.
  get reading() {
    const present = readDocument(this.files)
    this.#document = present ?? this.#document
    return { document: this.#document, stale: present === null }
  }

  // The files as they are saved: a text that nobody changed as it came, a changed one with the line end that most lines had.
  get saved() {
    return new Map([...this.#entries].map(([name, { bytes, state, came }]) => {
      if (bytes) return [name, bytes]
      if (state.doc.eq(came.doc)) return [name, came.text]
      return [name, state.doc.toString().replaceAll('\n', came.lineEnd)]
    }))
  }

  text(name) {
    return this.#entries.get(name)?.state?.doc.toString() ?? null
  }

  bytes(name) {
    return this.#entries.get(name)?.bytes ?? null
  }

  show(name) {
    this.#remember()
    this.active = name
    const entry = this.#entries.get(name)
    if (entry?.state) this.#editor.show(name, entry)
    this.#tell('active')
  }

  add(name, content) {
    this.#entries.set(name, this.#entry(name, content))
    this.#reorder()
    this.#tell('files')
    this.show(name)
  }

  rename(name, to) {
    this.#remember()
    const renamed = entry => entry.bytes ? entry : { ...this.#entry(to, entry.state.doc.toString()), came: entry.came }
    this.#entries = new Map([...this.#entries].map(([key, entry]) => key === name ? [to, renamed(entry)] : [key, entry]))
    this.#reorder()
    this.#tell('files')
    this.show(this.active === name ? to : this.active)
  }

  remove(name) {
    const at = this.names.indexOf(name)
    this.#entries.delete(name)
    this.#tell('files')
    if (this.active === name) this.show(this.names[Math.min(at, this.names.length - 1)] ?? null)
    else this.#tell('active')
  }

  // A new text for a file, as one step of its undo.
  replace(name, text) {
    if (this.active !== name) this.show(name)
    this.#editor.replace(text)
  }

  edited(name) {
    this.#entries.get(name).state = this.#editor.state
    this.#tell('edit', name)
  }

  diagnose(name, diagnostics) {
    const entry = this.#entries.get(name)
    if (!entry?.state) return
    if (name === this.active) this.#editor.diagnose(diagnostics)
    else entry.state = withDiagnostics(entry.state, diagnostics)
  }

  #entry(name, content) {
    if (typeof content !== 'string') return { bytes: content }
    const state = this.#editor.create(name, content)
    const windows = content.match(/\r\n/g)?.length ?? 0
    return { state, scroll: null, came: { text: content, doc: state.doc, lineEnd: 2 * windows >= state.doc.lines ? '\r\n' : '\n' } }
  }

  #remember() {
    const entry = this.#entries.get(this.active)
    if (entry?.state) Object.assign(entry, { state: this.#editor.state, scroll: this.#editor.scroll })
  }

  #reorder() {
    const order = [...inOrder(this.files).keys()]
    this.#entries = new Map(order.map(name => [name, this.#entries.get(name)]))
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }))
  }
}
