// The search box of a document: how many hits there are, and the way from one to the next.
import { h, icon } from '../dom.js'

const delay = 150

// find(words) -> promise of the number of hits; go(number): shows one of them.
export class Finder {
  #find
  #go
  #timer = 0
  #hits = 0
  #at = -1
  #asked = ''
  #turn = 0

  constructor({ find, go }) {
    this.#find = find
    this.#go = go
    this.input = h('input', { type: 'search', 'aria-label': 'Find in the document', spellcheck: 'false', autocomplete: 'off', oninput: () => this.#later() })
    this.count = h('output', { class: 'quiet', role: 'status' })
    const step = (by, label, turned) => h('button', { type: 'button', class: `icon ${turned}`, 'aria-label': label, title: label, onclick: () => this.step(by) }, icon('chevron'))
    this.element = h('form', { class: 'finder', role: 'search', onsubmit: event => event.preventDefault() }, this.input, this.count, step(-1, 'Previous hit', 'up'), step(1, 'Next hit', 'down'))
    this.input.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1)
      else if (event.key === 'Escape' && this.input.value !== '') this.set('')
      else return
      event.preventDefault()
      event.stopPropagation()
    })
  }

  set(words) {
    this.input.value = words
    this.#later()
  }

  hint(text) {
    this.input.placeholder = text
  }

  // The hits are those of another text now.
  again() {
    this.#asked = ''
    this.#at = -1
    if (this.input.value.trim() === '') this.count.textContent = ''
    else this.#later()
  }

  #later() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#search(), delay)
  }

  async #search() {
    clearTimeout(this.#timer)
    const words = this.input.value.trim()
    const turn = ++this.#turn
    this.#asked = words
    this.#at = -1
    if (words === '') this.#hits = 0
    else {
      this.count.textContent = 'Looking …'
      const hits = await this.#find(words).catch(() => 0)
      if (turn !== this.#turn) return
      this.#hits = hits
    }
    if (this.#hits > 0) this.#show(0)
    else this.count.textContent = words === '' ? '' : 'no hits'
  }

  #show(number) {
    this.#at = number
    this.count.textContent = `${(number + 1).toLocaleString('en')} of ${this.#hits.toLocaleString('en')}`
    this.#go(number)
  }

  async step(by) {
    if (this.input.value.trim() !== this.#asked) return this.#search()
    if (this.#hits > 0) this.#show((this.#at + by + this.#hits) % this.#hits)
  }
}
