// Menus and dialogs. Each is made when it is needed and removed when it closes.
import { h } from './dom.js'

// A menu under a button. items: [{ label, note?, act }].
export function openMenu(button, items) {
  const close = () => {
    menu.remove()
    button.setAttribute('aria-expanded', 'false')
    removeEventListener('pointerdown', outside, true)
  }
  const outside = event => {
    if (!menu.contains(event.target) && event.target !== button) close()
  }
  const menu = h('div', { class: 'menu', role: 'menu' }, items.map(({ label, note, act }) => h('button', {
    type: 'button', role: 'menuitem', tabindex: '-1', onclick: () => { close(); button.focus(); act() }
  }, label, note && h('small', {}, note))))
  menu.addEventListener('keydown', event => {
    const buttons = [...menu.children]
    const at = buttons.indexOf(document.activeElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') {
      close()
      button.focus()
    } else if (next !== undefined) buttons.at(next % buttons.length).focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  document.body.append(menu)
  const place = button.getBoundingClientRect()
  menu.style.top = `${place.bottom + 4}px`
  menu.style.left = `${Math.max(8, Math.min(place.left, innerWidth - menu.offsetWidth - 8))}px`
  button.setAttribute('aria-expanded', 'true')
  addEventListener('pointerdown', outside, true)
  menu.firstElementChild?.focus()
}

// Shows a modal dialog; resolves with its returnValue ('' when it was left with Escape).
function modal(content, className = '') {
  const dialog = h('dialog', { class: className }, content)
  document.body.append(dialog)
  dialog.showModal()
  return new Promise(resolve => dialog.addEventListener('close', () => {
    dialog.remove()
    resolve(dialog.returnValue)
  }))
}

export async function confirm({ title, text, yes, danger = false }) {
  const answer = await modal(h('form', { method: 'dialog' }, h('h2', {}, title), h('p', {}, text), h('div', { class: 'buttons' },
    h('button', { value: '' }, 'Cancel'), h('button', { value: 'yes', class: danger ? 'danger' : 'primary' }, yes))))
  return answer === 'yes'
}

// Asks for one line; `problem(text)` says why it will not do, or null. Resolves to the text or null.
export async function ask({ title, label, value = '', yes, problem }) {
  const trouble = h('p', { class: 'problem', role: 'alert' })
  const input = h('input', { value, autofocus: true, spellcheck: 'false', autocomplete: 'off', oninput: () => trouble.replaceChildren() })
  const refuse = event => {
    const found = event.submitter?.value === 'yes' ? problem(input.value.trim()) : null
    if (found === null) return
    event.preventDefault()
    trouble.replaceChildren(found)
    input.focus()
  }
  const answer = await modal(h('form', { method: 'dialog', onsubmit: refuse }, h('h2', {}, title), h('label', {}, label, input), trouble, h('div', { class: 'buttons' },
    h('button', { value: 'yes', class: 'primary' }, yes), h('button', { value: '', formnovalidate: true }, 'Cancel'))))
  return answer === 'yes' ? input.value.trim() : null
}

export function shareLink(url) {
  const field = h('input', { readonly: true, value: url, autofocus: true, onfocus: ({ target }) => target.select(), 'aria-label': 'Link' })
  const copied = h('span', { class: 'quiet', role: 'status' })
  const copy = async () => {
    await navigator.clipboard.writeText(url).then(() => copied.replaceChildren('Copied'), () => field.select())
  }
  return modal(h('form', { method: 'dialog' }, h('h2', {}, 'Share'),
    h('p', {}, 'The link holds the whole bundle after its “#”; browsers do not send that part to any server. Whoever opens it sees the files, and the kernel runs only when they press Run.'),
    field, h('div', { class: 'buttons' }, copied, h('button', { type: 'button', class: 'primary', onclick: copy }, 'Copy'), h('button', { value: '' }, 'Close'))))
}

export function aboutDialog(commands, facts) {
  return modal(h('article', {}, h('h2', {}, 'opspec'),
    h('p', {}, 'Describes an ONNX operator in a document, gives it a kernel and evidence, and says what is wrong with them. Checking happens in this browser, in WebAssembly; no file leaves it.'),
    h('p', { class: 'quiet' }, facts),
    h('table', {}, h('tbody', {}, commands.filter(({ key }) => key).map(({ label, key }) => h('tr', {}, h('td', {}, h('kbd', {}, key)), h('td', {}, label))),
      h('tr', {}, h('td', {}, h('kbd', {}, 'Ctrl+M')), h('td', {}, 'In the editor: Tab moves the focus instead of indenting')))),
    h('form', { method: 'dialog', class: 'buttons' }, h('button', { class: 'primary', autofocus: true }, 'Close'))))
}

// Ctrl+K: type a part of a command's name, Enter runs it. commands: [{ label, key?, act }].
export function palette(commands) {
  let found = commands
  let at = 0
  const list = h('ul', { role: 'listbox', id: 'palette-list', 'aria-label': 'Commands' })
  const input = h('input', { placeholder: 'Find a command', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', autofocus: true, spellcheck: 'false' })
  const dialog = h('dialog', { class: 'palette', 'aria-label': 'Commands' }, input, list)
  const choose = command => {
    dialog.close()
    command?.act()
  }
  const show = () => {
    list.replaceChildren(...found.map((command, index) => h('li', { id: `command-${index}`, role: 'option', 'aria-selected': String(index === at), onclick: () => choose(command) }, command.label, command.key && h('kbd', {}, command.key))))
    if (found.length > 0) input.setAttribute('aria-activedescendant', `command-${at}`)
    list.children[at]?.scrollIntoView({ block: 'nearest' })
  }
  input.addEventListener('input', () => {
    const parts = input.value.toLowerCase().split(/\s+/)
    found = commands.filter(({ label }) => parts.every(part => label.toLowerCase().includes(part)))
    at = 0
    show()
  })
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') choose(found[at])
    else if (event.key === 'ArrowDown') at = (at + 1) % Math.max(1, found.length)
    else if (event.key === 'ArrowUp') at = (at - 1 + found.length) % Math.max(1, found.length)
    else return
    event.preventDefault()
    show()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  show()
  dialog.showModal()
}
