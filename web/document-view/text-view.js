// A text of any length by its lines, as the worker has it.
import { h } from '../dom.js'
import { VirtualList } from '../virtual-list.js'

export class TextView {
  #call
  #form = null
  #marked = -1

  constructor(call) {
    this.#call = call
    this.list = new VirtualList({
      attributes: { class: 'virtual text', role: 'region', 'aria-label': 'Text of the document' }, rowHeight: 20,
      fetch: (from, to) => this.#form === null ? Promise.resolve({ total: 0, rows: [] }) : this.#call('lines', this.#form, from, to),
      state: (row, index) => index === this.#marked,
      draw: ({ number, text, left }, index) => h('div', { class: `line ${index === this.#marked ? 'marked' : ''}` },
        h('span', { class: 'number', 'aria-hidden': 'true' }, String(number)), h('code', {}, text), left > 0 && h('span', { class: 'cut' }, `… ${left.toLocaleString('en')} characters more`))
    })
    this.element = this.list.element
    this.element.addEventListener('keydown', event => this.#key(event))
  }

  show(form, total) {
    this.#form = form
    this.#marked = -1
    this.element.style.setProperty('--digits', String(total).length)
    this.list.reset(total)
  }

  mark(line) {
    this.#marked = line
    this.list.redraw()
    this.list.scrollTo(line, 'center')
  }

  #key(event) {
    if (event.altKey || event.metaKey) return
    const end = { Home: 0, End: this.list.total - 1 }[event.key]
    if (end === undefined) return
    event.preventDefault()
    this.list.scrollTo(end)
  }
}
