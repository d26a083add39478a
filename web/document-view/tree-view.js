// The tree of a document: a virtual list with the keys and roles of a tree. What is open, and what every line says, the worker knows.
import { h, icon } from '../dom.js'
import { VirtualList } from '../virtual-list.js'

const patience = 700 // milliseconds between letters of one word

// call(method, ...values) -> promise. Events: 'chosen' (detail: the row's id, or null), 'acted' (Enter on what does not open).
export class TreeView extends EventTarget {
  #call
  #active = { id: 0, index: 0 }
  #typed = ''
  #typedAt = -Infinity
  #queue = Promise.resolve() // keys are acted on one after the other, each on what the one before has left

  constructor(call) {
    super()
    this.#call = call
    this.list = new VirtualList({
      attributes: { class: 'virtual tree', role: 'tree', 'aria-label': 'Parts of the document' },
      fetch: (from, to) => call('rows', from, to),
      draw: (row, index) => this.#row(row, index),
      state: ({ id }) => id === this.#active.id
    })
    this.element = this.list.element
    this.element.addEventListener('keydown', event => this.#key(event))
    this.element.addEventListener('click', event => this.#click(event))
    this.element.addEventListener('dblclick', event => this.#toggle(this.#rowOf(event)))
    this.element.addEventListener('placed', () => this.#tellActive())
  }

  get active() {
    return this.#active.id
  }

  reset(total) {
    this.#active = { id: 0, index: 0 }
    this.list.reset(total)
  }

  // Shows an item that the worker has found.
  show({ id, index, total }, where = 'center') {
    this.list.scrollTo(index, where, total)
    this.#choose(id, index)
  }

  #row(row, index) {
    const active = row.id === this.#active.id
    const badge = row.worst && h('span', { class: `found ${row.worst}`, title: row.own > 0 ? `${row.own === 1 ? 'A finding' : `${row.own} findings`} here` : `${row.inside === 1 ? 'A finding' : `${row.inside} findings`} below` }, row.own > 0 ? icon(row.worst) : h('span', { class: 'badge' }, String(row.inside)))
    const line = h('div', {
      class: `line ${row.open === null ? 'leaf' : ''}`, role: 'treeitem', id: `item-${row.id}`, 'aria-level': row.depth + 1, 'aria-posinset': row.position, 'aria-setsize': row.size,
      'aria-selected': String(active), ...row.open !== null && { 'aria-expanded': String(row.open) }, data: { index: String(index) }
    },
    h('span', { class: 'twisty', 'aria-hidden': 'true' }, row.open !== null && icon('chevron')),
    h('span', { class: 'label' }, row.label), badge,
    row.title && h('code', { class: 'title' }, row.title), row.name && h('code', { class: 'name' }, row.name),
    row.type && h('code', { class: 'type' }, row.type), row.note && h('code', { class: 'remark' }, row.note))
    line.style.setProperty('--depth', row.depth)
    return line
  }

  #tellActive() {
    const there = this.list.rows.some(({ id }) => id === this.#active.id)
    if (there) this.element.setAttribute('aria-activedescendant', `item-${this.#active.id}`)
    else this.element.removeAttribute('aria-activedescendant')
  }

  #choose(id, index) {
    const other = id !== this.#active.id
    this.#active = { id, index }
    this.list.redraw()
    this.#tellActive()
    if (other) this.dispatchEvent(new CustomEvent('chosen', { detail: id }))
  }

  #rowOf(event) {
    const line = event.target.closest?.('[role="treeitem"]')
    return line ? this.list.row(Number(line.dataset.index)) : null
  }

  #click(event) {
    const row = this.#rowOf(event)
    if (row === null) return
    this.#choose(row.id, Number(event.target.closest('[role="treeitem"]').dataset.index))
    if (event.target.closest('.twisty')) this.#toggle(row)
  }

  async #toggle(row, open = !row?.open) {
    if (row === null || row.open === null || row.open === open) return
    const { total } = await this.#call('setOpen', row.id, open)
    await this.list.update(total)
  }

  async #moveTo(index) {
    const at = Math.max(0, Math.min(this.list.total - 1, index))
    let row = this.list.row(at)
    if (row === null) {
      const { rows: [found] } = await this.#call('rows', at, at + 1)
      row = found ?? null
    }
    if (row === null) return
    this.list.scrollTo(at)
    this.#choose(row.id, at)
  }

  #key(event) {
    const { key, timeStamp } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const letter = key.length === 1 && (key !== ' ' || this.#typed !== '')
    if (!letter && !Object.hasOwn(this.#keys, key)) return
    event.preventDefault()
    event.stopPropagation()
    this.#queue = this.#queue.then(() => letter ? this.#type(key, timeStamp) : this.#act(key)).catch(() => {})
  }

  #act(key) {
    this.#typed = ''
    return this.#keys[key](this.list.row(this.#active.index))
  }

  #keys = {
    ArrowDown: () => this.#moveTo(this.#active.index + 1),
    ArrowUp: () => this.#moveTo(this.#active.index - 1),
    Home: () => this.#moveTo(0),
    End: () => this.#moveTo(this.list.total - 1),
    PageDown: () => this.#moveTo(this.#active.index + this.list.page),
    PageUp: () => this.#moveTo(this.#active.index - this.list.page),
    ArrowRight: row => row?.open === true ? this.#moveTo(this.#active.index + 1) : this.#toggle(row, true),
    ArrowLeft: row => row?.open === true ? this.#toggle(row, false) : this.#toParent(),
    Enter: row => row === null || row.open === null ? void this.dispatchEvent(new Event('acted')) : this.#toggle(row)
  }

  async #toParent() {
    const found = await this.#call('above', this.#active.id)
    if (found !== null) await this.#moveTo(found.index)
  }

  // at: when the key was pressed, which may be long before its turn.
  async #type(letter, at) {
    const more = at - this.#typedAt < patience
    this.#typedAt = at
    this.#typed = more ? this.#typed + letter : letter
    // One letter again and again goes from one to the next.
    const same = [...this.#typed].every(each => each === letter)
    const found = await this.#call('typeahead', this.#active.index + (same || !more ? 1 : 0), same ? letter : this.#typed)
    if (found >= 0) await this.#moveTo(found)
  }
}
