// A document's text that a person changes: an editor in place of the lines, until it is applied or given up.
import { Editor } from '../editor.js'
import { h, icon, prose } from '../dom.js'

export class TextEditor {
  #editor = null
  #form = null
  #host = h('div', { class: 'edited' })
  #trouble = h('ol', { class: 'findings', 'aria-label': 'What is wrong with the text' })

  // apply(form, text) -> promise, rejected with findings where the text is wrong; done(): it was given up.
  constructor({ apply, done }) {
    const attempt = async () => {
      try {
        await apply(this.#form, this.#editor.state.doc.toString()) // what shows the document shows it anew
      } catch (error) {
        this.#tell(error)
      }
    }
    this.element = h('div', { class: 'text-editor' },
      h('div', { class: 'note' }, h('span', { class: 'grow' }, 'What you change takes the document’s place once it is applied.'),
        h('button', { type: 'button', class: 'primary', onclick: attempt }, 'Apply'), h('button', { type: 'button', onclick: done }, 'Cancel')),
      this.#host, this.#trouble)
  }

  open(form, text) {
    this.#form = form
    this.#editor ??= new Editor(this.#host, { changed: () => {}, moved: () => {}, extensions: () => [] })
    const name = `document.${form}`
    this.#editor.show(name, { state: this.#editor.create(name, text) })
    this.#trouble.replaceChildren()
    this.#editor.focus()
  }

  refuse(findings) {
    this.#tell({ message: '', findings })
  }

  #tell({ message, findings }) {
    const list = findings?.length > 0 ? findings : [{ message, severity: 'error' }]
    this.#editor.diagnose(list.filter(({ range }) => range).map(({ range, message: text, rule }) => {
      const { length } = this.#editor.state.doc
      const from = Math.min(range.start.utf16, length)
      return { from, to: Math.min(Math.max(from, range.end.utf16), length), severity: 'error', message: text, source: rule }
    }))
    this.#trouble.replaceChildren(...list.map(({ message: text, range, rule = '' }) => h('li', { class: 'finding error' },
      h('button', { type: 'button', class: 'row', disabled: !range, onclick: () => this.#editor.jump(range.start.utf16, range.end.utf16) },
        icon('error'), h('span', { class: 'message' }, prose(text)), h('span', { class: 'meta' }, h('span', { class: 'rule' }, rule), range && h('span', {}, `${range.start.line}:${range.start.column}`))))))
  }
}
