// The parts of an opened document: its tree, its texts, the search in both, what is known of the chosen part.
import { confirm, openMenu } from '../dialogs.js'
import { bytesText, fillTabs, h, icon, plural, tabKeys, whenReleased } from '../dom.js'
import { download } from '../files.js'
import { notice } from '../notices.js'
import { redraw } from '../redraw.js'
import { detailsPanel } from './details.js'
import { editsOf } from './edits.js'
import { Finder } from './finder.js'
import { PictureView } from './picture-view.js'
import { TextEditor } from './text-editor.js'
import { TextView } from './text-view.js'
import { TreeView } from './tree-view.js'

const names = { overview: 'Overview', tree: 'Tree', picture: 'Picture', json: 'JSON', textproto: 'Text', onnxtxt: 'ONNX syntax' }
const fileForms = { binary: ['ONNX (protobuf)', 'the document as programs read it'], json: ['JSON', 'protobuf’s JSON mapping'], textproto: ['Text', 'protobuf’s text format'], onnxtxt: ['ONNX syntax', 'the textual syntax of models and graphs'], npy: ['NumPy', 'the values as .npy'] }
const hints = { tree: 'Find a name, op:Conv, type:float, shape:[1, *, 3]', text: 'Find in this text' }
const narrow = 760 // pixels: below, one thing at a time

// model: ModelView. `overview`: the element with what is known of the whole.
export class DocumentView {
  #model
  #call
  #part = 'tree'
  #narrow = false
  #details = h('section', { class: 'details', 'aria-label': 'The chosen part', tabindex: '-1' })
  #textNote = h('div', { class: 'text-note' })
  #body = h('div', { class: 'part', role: 'tabpanel' })
  #nothing = h('p', { class: 'empty quiet' }, 'It cannot be read as a whole, so there are no parts to show. What is wrong with it stands under the findings.')
  #chosen = null
  #wanted = null // the id of the part whose details were asked for last
  #present = null // the opened file that is shown

  constructor(model, overview) {
    this.#model = model
    this.#call = (method, ...values) => model.documents.call(method, ...values)
    this.tree = new TreeView(this.#call)
    this.text = new TextView(this.#call)
    this.picture = new PictureView(this.#call)
    this.editor = new TextEditor({ apply: (form, text) => model.replaceText(form, text), done: () => this.show(this.#part) })
    this.finder = new Finder({ find: words => this.#find(words), go: number => this.#goToHit(number) })
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Forms of the document' })
    tabKeys(this.tabs)
    this.title = h('h2')
    this.facts = h('div', { class: 'facts' })
    this.tools = h('div', { class: 'tools' })
    this.element = h('article', { class: 'model document' },
      h('header', {}, h('div', { class: 'grow' }, this.title, this.facts), this.tools),
      h('div', { class: 'document-panes' }, overview, h('section', { class: 'parts', 'aria-label': 'Parts of the document' }, h('div', { class: 'strip' }, this.tabs), this.finder.element, this.#body)))
    this.tree.addEventListener('chosen', ({ detail }) => this.#choose(detail))
    this.picture.addEventListener('chosen', ({ detail }) => this.#chooseAt(detail))
    for (const part of [this.tree, this.picture]) part.addEventListener('acted', () => this.#details.querySelector('button')?.focus({ preventScroll: true }))
    this.element.addEventListener('keydown', event => this.#key(event))
    new ResizeObserver(([{ contentRect }]) => this.#measure(contentRect.width)).observe(this.element)
    // A click is lost when what is pressed is replaced before it is released.
    const draw = () => this.draw()
    model.addEventListener('changed', () => whenReleased(draw))
    const refresh = () => {
      this.tree.list.refresh()
      this.picture.again()
    }
    model.addEventListener('lines', () => whenReleased(refresh))
    model.addEventListener('version', () => this.#again())
  }

  // Fields and the editor have an undo of their own.
  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest('.text-editor')) return
    const key = event.key.toLowerCase()
    const { undo = null, redo = null } = this.#model.identity?.edit ?? {}
    const back = key === 'z' && !event.shiftKey
    if (key === 'f') this.finder.input.focus()
    else if (!event.target.closest('input') && (back || key === 'z' || key === 'y')) {
      if ((back ? undo : redo) !== null) this.#model.step(back ? -1 : 1)
    } else return
    event.preventDefault()
  }

  /** Saves the document as it is now. */
  save() {
    if (this.#model.identity?.size > 0) this.#save('file', 'binary')
  }

  #measure(width) {
    if (width === 0) return
    const now = width < narrow
    if (now === this.#narrow) return
    this.#narrow = now
    this.element.classList.toggle('narrow', now)
    if (!now && this.#part === 'overview') this.show('tree')
    else this.draw()
  }

  get #parts() {
    const { identity } = this.#model
    return [...this.#narrow || identity === null ? ['overview'] : [], ...identity?.rows > 0 ? ['tree'] : [], ...identity?.picture ? ['picture'] : [], ...identity?.forms ?? []]
  }

  // ---- Drawing

  draw() {
    const { model, title } = { model: this.#model, title: this.title }
    title.textContent = model.name
    redraw(this.facts, this.#factLines().map(line => h('p', { class: 'quiet' }, line)))
    this.#drawTools()
    if (model.identity !== this.#present) {
      this.#present = model.identity
      this.#begin()
    }
    this.#drawTabs()
    this.#drawDetails()
  }

  #begin() {
    this.#chosen = null
    this.#details.replaceChildren()
    this.finder.set('')
    const { identity } = this.#model
    this.tree.reset(0)
    if (identity === null) {
      this.#body.replaceChildren()
      return
    }
    this.show(this.#narrow ? 'overview' : identity.rows > 0 ? 'tree' : identity.forms[0] ?? 'overview')
    this.tree.reset(identity.rows)
  }

  // Another version of the same document.
  async #again() {
    const path = this.#chosen?.path
    this.#chosen = null
    this.draw()
    if (this.#part !== 'tree') return this.show(this.#part)
    this.finder.again()
    const found = path === undefined ? null : await this.#call('reveal', path).catch(() => null)
    if (found === null) this.tree.list.refresh()
    else this.tree.show(found)
    if (document.activeElement === document.body) this.tree.element.focus({ preventScroll: true })
  }

  #factLines() {
    const { size, identity, report } = this.#model
    if (identity === null) return [bytesText(size)]
    const { kind, evidence, candidates, summary } = identity
    const known = kind === 'unknown' && report ? report.kind : kind
    const facts = [known, bytesText(size), ...summary ? [plural(summary.nodes, 'node'), plural(summary.initializers, 'initializer'), ...summary.irVersion ? [`IR ${summary.irVersion}`] : [], ...summary.imports] : []]
    return [facts.join(' · '), ...summary?.producer ? [`made by ${summary.producer}`] : [], ...evidence ? [[`${evidence[0].toUpperCase()}${evidence.slice(1)}${candidates ? '; the same bytes may also be ' : '.'}`, candidates.split(', ').filter(Boolean).map(message => h('button', { type: 'button', class: 'small', data: { key: message }, onclick: () => this.#model.readAs(message) }, message))]] : []]
  }

  #drawTools() {
    const { identity } = this.#model
    const { undo = null, redo = null } = identity?.edit ?? {}
    const key = JSON.stringify([identity !== null, undo, redo])
    if (this.tools.dataset.state === key) return
    this.tools.dataset.state = key
    const focused = this.tools.contains(document.activeElement) ? document.activeElement.dataset.key : null
    const edited = undo !== null || redo !== null
    this.tools.replaceChildren(...[
      edited && h('button', { type: 'button', data: { key: 'undo' }, disabled: undo === null, title: undo === null ? null : `Takes back: ${undo}`, onclick: () => this.#model.step(-1) }, 'Undo'),
      edited && h('button', { type: 'button', data: { key: 'redo' }, disabled: redo === null, title: redo === null ? null : `Does again: ${redo}`, onclick: () => this.#model.step(1) }, 'Redo'),
      identity?.size > 0 && h('button', { type: 'button', data: { key: 'download' }, 'aria-haspopup': 'menu', 'aria-expanded': 'false', onclick: ({ currentTarget }) => this.downloadMenu(currentTarget) }, 'Download'),
      h('button', { type: 'button', class: 'wide', data: { key: 'width' }, 'aria-pressed': String(document.body.dataset.document === 'wide'), onclick: event => this.#turnWide(event.currentTarget) }, 'Full width')
    ].filter(Boolean))
    if (focused) [...this.tools.children].find(button => button.dataset.key === focused)?.focus()
  }

  #turnWide(button) {
    const wide = document.body.dataset.document !== 'wide'
    document.body.dataset.document = wide ? 'wide' : 'beside'
    button.setAttribute('aria-pressed', String(wide))
  }

  #drawTabs() {
    const parts = this.#parts
    fillTabs(this.tabs, parts.map(id => ({ id, label: names[id] })), parts.includes(this.#part) ? this.#part : parts[0], id => this.show(id))
    this.element.dataset.part = this.#part
  }

  // ---- One of the parts

  async show(part) {
    this.#part = part
    this.finder.hint(part === 'tree' || part === 'picture' || part === 'overview' ? hints.tree : hints.text)
    this.finder.element.hidden = part === 'overview' || !this.#parts.includes(part)
    this.#drawTabs()
    if (!this.#parts.includes(part) || part === 'overview') return this.#place(this.#nothing)
    if (part === 'tree') {
      this.#place(this.tree.element, this.#details)
      if (this.#chosen !== null) await this.#reveal(this.#chosen.path)
      this.tree.list.refresh()
      this.finder.again()
      return
    }
    if (part === 'picture') {
      this.#place(this.picture.element, this.#details)
      await this.picture.show(this.#chosen?.path ?? '')
      this.finder.again()
      return
    }
    this.#textNote.replaceChildren(h('p', { class: 'note' }, 'Writing the text …'))
    this.text.show(null, 0)
    this.#place(this.#textNote, this.text.element)
    try {
      const told = await this.#call('text', part)
      if (this.#part !== part) return
      this.#tellText(part, told)
      this.text.show(part, told.total)
      this.finder.again()
    } catch (error) {
      this.#textNote.replaceChildren(h('p', { class: 'note error' }, icon('error'), error.message))
      this.text.show(null, 0)
    }
  }

  #place(...elements) {
    const present = [...this.#body.children]
    if (present.length !== elements.length || elements.some((element, at) => element !== present[at])) this.#body.replaceChildren(...elements)
  }

  #tellText(form, { total, characters, editable, cut, lost, lostCount }) {
    const { findings = [] } = this.#model.identity ?? {}
    this.#textNote.replaceChildren(h('p', { class: 'note' }, h('span', { class: 'grow' }, `${plural(total, 'line')}, ${plural(characters, 'character')}.`,
      cut !== null && ` The data of ${plural(cut.tensors, 'tensor')} (${bytesText(cut.bytes)}) are left out here; a download has them.`,
      lostCount > 0 && ` ${plural(lostCount, 'thing')} cannot be said in this form: ${lost.map(({ path, message }) => `${path ? `${path}: ` : ''}${message}`).slice(0, 3).join('; ')}${lostCount > 3 ? '; …' : ''}`),
    editable ? h('button', { type: 'button', class: 'small', data: { key: 'edit text' }, onclick: () => this.#edit(form, findings) }, 'Edit') : h('span', { class: 'quiet' }, 'Too large to be changed as text here.')))
  }

  async #edit(form, findings) {
    const text = await this.#call('wholeText', form)
    this.#place(this.editor.element)
    this.editor.open(form, text)
    if (findings.length > 0) this.editor.refuse(findings)
  }

  // ---- The search

  #find(words) {
    return this.#part === 'tree' || this.#part === 'picture' ? this.#call('search', words) : this.#call('searchText', this.#part, words)
  }

  async #goToHit(number) {
    if (this.#part === 'tree') this.tree.show(await this.#call('hit', number))
    else if (this.#part === 'picture') await this.#showInPicture(await this.#call('pathOfHit', number))
    else this.text.mark(await this.#call('lineOfHit', this.#part, number))
  }

  /** Shows the part that a finding names. */
  async reveal(path) {
    if (!(this.#model.identity?.rows > 0)) return
    if (this.#part === 'picture') {
      await this.#showInPicture(path)
      this.picture.scroller.focus({ preventScroll: true })
      return
    }
    if (this.#part !== 'tree') await this.show('tree')
    await this.#reveal(path)
    this.tree.element.focus({ preventScroll: true })
  }

  async #reveal(path) {
    this.tree.show(await this.#call('reveal', path))
  }

  async #showInPicture(path) {
    await this.picture.show(path)
    await this.#chooseAt(path)
  }

  // ---- The chosen part

  async #chooseAt(path) {
    const { id } = await this.#call('reveal', path)
    await this.#choose(id)
  }

  async #choose(id) {
    this.#wanted = id
    const details = await this.#call('details', id).catch(error => ({ id, path: '', label: '', message: null, facts: [['Trouble', error.message]], links: [], findings: [] }))
    if (id !== this.#wanted || details === null) return
    this.#chosen = details
    this.#drawDetails(true)
  }

  // Not while somebody is about to press something in it, unless it is of another part.
  #drawDetails(other = false) {
    if (this.#chosen === null) {
      this.#details.replaceChildren()
      return
    }
    if (!other && this.#details.contains(document.activeElement)) return
    this.#details.replaceChildren(...[detailsPanel(this.#chosen, {
      findings: this.#model.report?.findings ?? [], go: path => this.reveal(path), fix: finding => this.#model.fix(finding),
      save: form => this.#save('tensorFile', this.#chosen.id, form), edits: editsOf(this.#chosen, (edits, what) => this.#model.edit(edits, what))
    })].flat(Infinity).filter(Boolean))
    if (other) this.#details.scrollTop = 0
  }

  // ---- Downloads

  downloadMenu(button) {
    const { identity } = this.#model
    if (!(identity?.size > 0)) return
    const forms = identity.message === null || identity.rows === 0 ? ['binary'] : ['binary', ...identity.forms, ...identity.kind === 'tensor' ? ['npy'] : []]
    openMenu(button, forms.map(form => ({ label: fileForms[form][0], note: fileForms[form][1], act: () => this.#save('file', form) })))
  }

  async #save(method, ...values) {
    try {
      const { name, blob } = await this.#call(method, ...values)
      download(name, blob)
    } catch (error) {
      if (error.code !== 'unsupported' || !(error.findings?.length > 0)) return notice('download', `It could not be written: ${error.message}`, { kind: 'error' })
      const lost = error.findings.slice(0, 3).map(({ message, path }) => `${path ? `${path}: ` : ''}${message}`).join('; ')
      if (await confirm({ title: 'The form cannot hold all of it', text: `${lost}${error.findings.length > 3 ? ' …' : ''}`, yes: 'Write it without that' })) await this.#save(method, values[0], true)
    }
  }
}
