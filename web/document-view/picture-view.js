// The picture of a graph: boxes and lines of the part in sight, which scrolls and grows, as the worker has laid it out.
import { h, plural } from '../dom.js'

const scales = [0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4]
const unnamed = 0.35 // the scale from which on names are too small to be read
const margin = 24
const keys = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End']
const space = 'http://www.w3.org/2000/svg'

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(space, name)
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(key, value)
  element.append(...children.filter(child => child !== null && child !== false))
  return element
}

const wayOf = ({ x1, y1, straight, x2, y2 }) => {
  const from = straight ?? y1, middle = (from + y2) / 2
  return `M${x1} ${y1}${straight === null ? '' : `V${straight}`}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`
}

// call(method, ...values) -> promise. Events: 'chosen' (detail: the path of a box), 'acted' (Enter).
export class PictureView extends EventTarget {
  #call
  #told = null // of the graph: { path, width, height, … }
  #chosen = -1
  #scale = 1
  #start = margin // pixels left of the picture: it stands in the middle where there is room
  #drawn = null // the rectangle that is drawn
  #asked = false
  #turn = 0

  constructor(call) {
    super()
    this.#call = call
    this.drawing = svg('svg', { class: 'drawing' })
    this.area = h('div', { class: 'area' }, this.drawing)
    this.scroller = h('div', { class: 'picture', tabindex: '0', role: 'listbox', 'aria-label': 'Picture of the graph' }, this.area)
    this.title = h('span', { class: 'grow quiet' })
    this.ways = h('span', { class: 'ways' })
    const button = (label, text, act) => h('button', { type: 'button', class: 'small', 'aria-label': label, title: label, onclick: act }, text)
    this.element = h('div', { class: 'picture-part' }, h('div', { class: 'note' }, this.title, this.ways, button('Smaller', '−', () => this.#zoom(-1)), button('Larger', '+', () => this.#zoom(1)), button('Whole picture', 'Whole', () => this.#fit())), this.scroller)
    this.scroller.addEventListener('scroll', () => this.refresh(), { passive: true })
    this.scroller.addEventListener('keydown', event => this.#key(event))
    this.scroller.addEventListener('click', event => this.#click(event))
    this.scroller.addEventListener('dblclick', () => this.#enter())
    new ResizeObserver(() => {
      this.#resize()
      this.again()
    }).observe(this.scroller)
  }

  /** Shows the graph that a part is in, and in it the part, if it has a box. */
  async show(path) {
    const turn = ++this.#turn
    if (this.#told === null) this.title.textContent = 'Drawing …'
    const told = await this.#call('picture', path)
    if (turn !== this.#turn) return
    const other = told?.path !== this.#told?.path
    this.#told = told
    this.#chosen = told?.box ?? -1
    if (other) this.scroller.scrollTo(0, 0)
    this.#tell()
    this.#resize()
    if (told?.place) this.#bring(told.place, other)
    else if (other && told?.start) this.#bring(told.start, true)
    this.again()
  }

  #tell() {
    const { title = '', boxes = 0, constants = 0, above = null, inside = [] } = this.#told ?? {}
    this.title.textContent = this.#told === null ? 'There is no graph to be drawn.' : `${title}: ${plural(boxes, 'part')}${constants > 0 ? `, without ${plural(constants, 'constant')}` : ''}`
    const way = (label, path) => h('button', { type: 'button', class: 'small', data: { key: label }, onclick: () => this.#goTo(path) }, label)
    this.ways.replaceChildren(...above === null ? [] : [way('Up', above)], ...inside.map(({ name, path }) => way(name, path)))
  }

  async #goTo(path) {
    await this.show(path)
    this.scroller.focus({ preventScroll: true })
    if (this.#told?.boxPath) this.dispatchEvent(new CustomEvent('chosen', { detail: this.#told.boxPath }))
  }

  #resize() {
    const { width = 0, height = 0 } = this.#told ?? {}
    this.#start = Math.max(margin, (this.scroller.clientWidth - width * this.#scale) / 2)
    this.area.style.width = `${width * this.#scale + 2 * this.#start}px`
    this.area.style.height = `${height * this.#scale + 2 * margin}px`
    this.scroller.classList.toggle('far', this.#scale <= unnamed)
  }

  // ---- What is in sight

  get #sight() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller
    const across = pixels => (pixels - this.#start) / this.#scale, down = pixels => (pixels - margin) / this.#scale
    return { left: across(scrollLeft), top: down(scrollTop), right: across(scrollLeft + clientWidth), bottom: down(scrollTop + clientHeight) }
  }

  /** Draws what has come into sight, once a frame. */
  refresh() {
    if (this.#asked) return
    this.#asked = true
    requestAnimationFrame(() => {
      this.#asked = false
      const { left, top, right, bottom } = this.#sight
      if (this.#told === null || right <= left || this.#drawn !== null && left >= this.#drawn.left && right <= this.#drawn.right && top >= this.#drawn.top && bottom <= this.#drawn.bottom) return
      const wide = (right - left) / 2, high = (bottom - top) / 2
      this.#draw({ left: left - wide, top: top - high, right: right + wide, bottom: bottom + high })
    })
  }

  /** Draws all anew: something of it has changed. */
  again() {
    this.#drawn = null
    this.refresh()
  }

  async #draw(rectangle) {
    this.#drawn = rectangle
    const turn = this.#turn
    const { boxes, lines } = await this.#call('pictureWindow', rectangle, this.#chosen)
    if (turn !== this.#turn || rectangle !== this.#drawn) return
    const { left, top, right, bottom } = rectangle
    for (const [name, value] of Object.entries({ viewBox: `${left} ${top} ${right - left} ${bottom - top}`, width: (right - left) * this.#scale, height: (bottom - top) * this.#scale })) this.drawing.setAttribute(name, value)
    this.drawing.style.transform = `translate(${left * this.#scale + this.#start}px, ${top * this.#scale + margin}px)`
    this.drawing.replaceChildren(
      ...lines.map(line => svg('path', { d: wayOf(line), class: line.own ? 'line own' : 'line' }, svg('title', {}, line.text))),
      ...boxes.map(box => this.#box(box)))
    if (boxes.some(({ box }) => box === this.#chosen)) this.scroller.setAttribute('aria-activedescendant', `box-${this.#chosen}`)
    else this.scroller.removeAttribute('aria-activedescendant')
  }

  #box({ box, kind, x, y, width, height, title, name, label, worst, graphs, before, after }) {
    const middle = x + width / 2
    const end = (texts, at) => texts.length > 0 && svg('text', { class: 'end', x: middle, y: at }, texts.join(', '))
    return svg('g', { id: `box-${box}`, class: `box ${kind} ${worst ?? ''} ${graphs ? 'graphs' : ''}`, role: 'option', 'aria-label': worst === null ? label : `${label}, ${worst}`, 'aria-selected': String(box === this.#chosen), 'data-box': box },
      svg('title', {}, label),
      svg('rect', { x, y, width, height, rx: kind === 'node' ? 4 : height / 2 }),
      svg('text', { class: 'title', x: middle, y: y + height / 2 + (name ? -3 : 4) }, title), name !== '' && svg('text', { class: 'name', x: middle, y: y + height / 2 + 12 }, name),
      end(before, y - 6), end(after, y + height + 13))
  }

  // ---- Choosing

  #bring({ x, y, width, height }, centered) {
    const { left, top, right, bottom } = this.#sight
    if (!centered && x >= left && y >= top && x + width <= right && y + height <= bottom) return
    this.#center(x + width / 2, y + height / 2)
  }

  // Scrolls so that a place of the picture is in the middle.
  #center(x, y) {
    const { scroller } = this
    scroller.scrollTo(x * this.#scale + this.#start - scroller.clientWidth / 2, y * this.#scale + margin - scroller.clientHeight / 2)
  }

  #take({ box, boxPath, place, inside }) {
    if (box < 0) return
    this.#chosen = box
    Object.assign(this.#told, { box, boxPath, inside })
    this.#tell()
    this.#bring(place, false)
    this.again()
    if (boxPath !== null) this.dispatchEvent(new CustomEvent('chosen', { detail: boxPath }))
  }

  async #click(event) {
    const box = event.target.closest?.('[data-box]')
    if (box) this.#take(await this.#call('pictureBox', Number(box.dataset.box)))
  }

  #enter() {
    if (this.#told?.inside?.length > 0) this.#goTo(this.#told.inside[0].path)
  }

  async #key(event) {
    const { key } = event
    if (event.ctrlKey || event.metaKey || event.altKey || this.#told === null) return
    const by = { '+': 1, '=': 1, '-': -1 }[key]
    if (by !== undefined) this.#zoom(by)
    else if (key === '0') this.#fit()
    else if (key === 'Enter') this.dispatchEvent(new Event('acted'))
    else if (!keys.includes(key)) return
    event.preventDefault()
    event.stopPropagation()
    if (keys.includes(key)) this.#take(await this.#call('pictureStep', this.#chosen, key))
  }

  // ---- Size

  #zoom(by) {
    const nearest = scales.reduce((best, scale) => Math.abs(scale - this.#scale) < Math.abs(best - this.#scale) ? scale : best)
    this.#setScale(scales[Math.max(0, Math.min(scales.length - 1, scales.indexOf(nearest) + by))])
  }

  #fit() {
    if (this.#told === null) return
    const { clientWidth, clientHeight } = this.scroller
    this.#setScale(Math.max(scales[0], Math.min(1, (clientWidth - 2 * margin) / this.#told.width, (clientHeight - 2 * margin) / this.#told.height)))
  }

  // What is in the middle stays there.
  #setScale(scale) {
    const { left, top, right, bottom } = this.#sight
    this.#scale = scale
    this.#resize()
    this.#center((left + right) / 2, (top + bottom) / 2)
    this.again()
  }
}
