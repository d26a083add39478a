// A list of any length of which only the rows in sight, and some around them, are elements. Rows have one height and come from a promise.
import { h } from './dom.js'

const around = 12
const tallest = 15_000_000 // pixels: browsers have a limit for elements

export class VirtualList {
  #fetch
  #draw
  #state
  #drawn = new Map() // index -> { key, element }
  #space = h('div', { class: 'virtual-space' })
  #window = h('div', { class: 'virtual-window' })
  #asked = false
  #busy = false
  #again = false
  #turn = 0
  total = 0
  first = 0
  rows = []

  // fetch(from, to) -> promise of { total, rows }; draw(row, index) -> element; state(row, index) -> what the element shows beside the
  // row: a row that says the same keeps its element. `attributes` of the element that scrolls.
  constructor({ attributes = {}, rowHeight = 24, fetch, draw, state = () => '' }) {
    this.#fetch = fetch
    this.#draw = draw
    this.#state = state
    this.rowHeight = rowHeight
    this.#space.append(this.#window)
    this.element = h('div', { class: 'virtual', tabindex: '0', ...attributes }, this.#space)
    this.element.addEventListener('scroll', () => this.refresh(), { passive: true })
    new ResizeObserver(() => this.refresh()).observe(this.element)
  }

  // Pixels of the scroll bar's way for one of the rows' way.
  get #scale() {
    const all = this.total * this.rowHeight
    const seen = this.element.clientHeight
    return all <= tallest ? 1 : (tallest - seen) / (all - seen)
  }

  get #top() {
    return this.element.scrollTop / this.#scale
  }

  /** Rows that fit in sight. */
  get page() {
    return Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1)
  }

  // Of another list: begins at its top.
  reset(total = 0) {
    this.#turn++
    this.#busy = false
    this.rows = []
    this.#window.replaceChildren()
    this.#drawn.clear()
    this.#resize(total)
    this.element.scrollTop = 0
    this.refresh()
  }

  #resize(total) {
    this.total = total
    this.#space.style.height = `${Math.min(total * this.rowHeight, tallest)}px`
  }

  /** Fetches what is in sight at once: the list is another one. */
  async update(total) {
    if (total !== this.total) this.#resize(total)
    const turn = ++this.#turn
    this.#busy = false
    const { from, to } = this.#sight
    const answer = await this.#fetch(from, to)
    if (turn === this.#turn) this.#place(from, answer)
  }

  get #sight() {
    const from = Math.max(0, Math.floor(this.#top / this.rowHeight) - around)
    return { from, to: from + Math.ceil(this.element.clientHeight / this.rowHeight) + 2 * around }
  }

  // Fetches and draws what is in sight, once a frame.
  refresh() {
    if (this.#asked) return
    this.#asked = true
    requestAnimationFrame(() => {
      this.#asked = false
      this.#show()
    })
  }

  async #show() {
    if (this.#busy) {
      this.#again = true
      return
    }
    if (this.element.clientHeight === 0) return
    const { from, to } = this.#sight
    const turn = this.#turn
    this.#busy = true
    let answer = null
    try {
      answer = await this.#fetch(from, to)
    } catch {
      // Whoever fetches says what went wrong.
    }
    if (turn !== this.#turn) return
    this.#busy = false
    if (answer !== null) this.#place(from, answer)
    if (!this.#again) return
    this.#again = false
    this.refresh()
  }

  #place(from, { total, rows }) {
    if (total !== this.total) this.#resize(total)
    this.first = from
    this.rows = rows
    this.#window.style.top = `${this.element.scrollTop + from * this.rowHeight - this.#top}px`
    this.redraw()
    this.element.dispatchEvent(new Event('placed'))
  }

  /** Draws those of the present rows anew that show something else than before. */
  redraw() {
    const drawn = new Map()
    for (const [at, row] of this.rows.entries()) {
      const index = this.first + at
      const key = JSON.stringify([row, this.#state(row, index)])
      const before = this.#drawn.get(index)
      drawn.set(index, before?.key === key ? before : { key, element: this.#draw(row, index) })
    }
    this.#drawn = drawn
    const wanted = new Set(Array.from(drawn.values(), ({ element }) => element))
    for (const element of [...this.#window.children]) if (!wanted.has(element)) element.remove()
    let next = this.#window.firstChild
    for (const element of wanted) {
      if (element === next) next = next.nextSibling
      else this.#window.insertBefore(element, next)
    }
  }

  row(index) {
    return this.rows[index - this.first] ?? null
  }

  /** Brings a row into sight: as little as is needed, or to the middle. */
  scrollTo(index, where = 'nearest', total = this.total) {
    if (total !== this.total) this.#resize(total)
    const { rowHeight, element } = this
    const seen = element.clientHeight
    const top = index * rowHeight
    const now = this.#top
    let wanted = now
    if (where === 'center') {
      if (top < now || top + rowHeight > now + seen) wanted = top - (seen - rowHeight) / 2
    } else if (top < now) wanted = top
    else if (top + rowHeight > now + seen) wanted = top + rowHeight - seen
    if (wanted !== now) element.scrollTop = wanted * this.#scale
    this.refresh()
  }
}
