// Building elements. Text is always set as text, never as markup.

const svg = 'http://www.w3.org/2000/svg'

// h('button', { class: 'primary', onclick: f, 'aria-label': '…' }, 'text', element, …); null and false children are left out.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name === 'data') Object.assign(element.dataset, value)
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.flat(Infinity).filter(child => child != null && child !== false))
  return element
}

export const byId = id => document.getElementById(id)

const paths = {
  error: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5.5 5.5l5 5m0-5-5 5',
  warning: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3.2M8 11.6v.3',
  info: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 7.3v4M8 4.7v.3',
  passed: 'm3 8.5 3.3 3.3L13 4.6',
  failed: 'm4 4 8 8m0-8-8 8',
  skipped: 'M4 8h8',
  idle: 'M8 8h.01',
  run: 'M5 3.2v9.6L13 8 5 3.2Z',
  add: 'M8 3v10M3 8h10',
  close: 'm4.5 4.5 7 7m0-7-7 7',
  chevron: 'm6 4 4 4-4 4',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z',
  stop: 'M4 4h8v8H4Z'
}

export function icon(name) {
  const image = document.createElementNS(svg, 'svg')
  image.setAttribute('viewBox', '0 0 16 16')
  image.setAttribute('aria-hidden', 'true')
  image.classList.add('glyph', name)
  const path = document.createElementNS(svg, 'path')
  path.setAttribute('d', paths[name])
  image.append(path)
  return image
}

// Prose with `names` in back-ticks, which become code.
export function prose(text) {
  return String(text).split(/`([^`\n]+)`/).map((part, index) => index % 2 === 1 ? h('code', {}, part) : part)
}

export function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

export function bytesText(count) {
  if (count < 1024) return plural(count, 'byte')
  const units = ['kB', 'MB', 'GB']
  const power = Math.min(Math.floor(Math.log2(count) / 10), units.length)
  return `${(count / 1024 ** power).toFixed(1)} ${units[power - 1]}`
}

// Runs f now, or when the pointer that is down is up again: what is pressed must not be replaced before it is a click.
let pressed = false
const waiting = new Set()
addEventListener('pointerdown', () => { pressed = true }, true)
for (const type of ['pointerup', 'pointercancel', 'dragend']) {
  addEventListener(type, () => {
    pressed = false
    setTimeout(() => {
      for (const f of waiting) f()
      waiting.clear()
    })
  }, true)
}

export function whenReleased(f) {
  if (pressed) waiting.add(f)
  else f()
}

// A row of tabs: arrow keys move, one is in the tab order. items: { id, label, badge?, title?, state? }. A tab that stays is
// the same element, so that presses, double clicks and the focus survive.
export function fillTabs(list, items, active, choose) {
  const present = new Map([...list.children].map(tab => [tab.dataset.id, tab]))
  const tabs = items.map(({ id, label, badge, title, state }) => {
    const tab = present.get(id) ?? h('button', { type: 'button', role: 'tab', data: { id } })
    tab.onclick = () => choose(id)
    tab.title = title ?? ''
    tab.tabIndex = id === active ? 0 : -1
    tab.dataset.state = state ?? ''
    tab.setAttribute('aria-selected', String(id === active))
    if (tab.textContent !== `${label}${badge ?? ''}`) tab.replaceChildren(h('span', {}, label), ...badge == null ? [] : [h('span', { class: 'badge' }, String(badge))])
    return tab
  })
  const focused = list.contains(document.activeElement)
  if (tabs.length !== list.children.length || tabs.some((tab, index) => tab !== list.children[index])) list.replaceChildren(...tabs)
  const current = list.querySelector('[aria-selected="true"]')
  if (focused) current?.focus()
  const { left, right } = list.getBoundingClientRect()
  const place = current?.getBoundingClientRect()
  if (place && (place.left < left || place.right > right)) list.scrollLeft += place.left - left
}

export function tabKeys(list) {
  list.addEventListener('wheel', event => {
    list.scrollLeft += event.deltaY
  }, { passive: true })
  list.addEventListener('keydown', event => {
    const tabs = [...list.querySelectorAll('[role="tab"]')].filter(tab => tab.offsetParent !== null)
    const at = tabs.indexOf(document.activeElement)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (at < 0 || next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    tabs.at(next % tabs.length)?.click()
  })
}
