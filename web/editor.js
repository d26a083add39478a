// The text editor: one CodeMirror view, one state a file, so that each file keeps its own undo, cursor and scroll.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab, toggleTabFocusMode } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState, StateEffect, StateField } from '@codemirror/state'
import {
  crosshairCursor, Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
  rectangularSelection
} from '@codemirror/view'
import { look } from './editor-theme.js'
import { hangingIndent } from './hanging-indent.js'
import { typing } from './typing.js'

// The range that a finding points at, from the jump to it until the next edit.
const target = StateEffect.define()
const targetField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    if (transaction.docChanged) marks = Decoration.none
    for (const effect of transaction.effects) {
      if (!effect.is(target)) continue
      const { from, to } = effect.value
      marks = from < to ? Decoration.set([Decoration.mark({ class: 'cm-target' }).range(from, to)]) : Decoration.none
    }
    return marks
  },
  provide: field => EditorView.decorations.from(field)
})

const wrapped = [EditorView.lineWrapping, hangingIndent]
const languageOf = name => /\.m?js$/.test(name) ? javascript() : /\.json$/.test(name) ? [json(), wrapped] : wrapped

export class Editor {
  #view = null
  #setup
  #name = null

  // `changed(name)` after an edit; `moved(line, column)` with the cursor; `extensions(name)`: more of CodeMirror's for a file.
  constructor(parent, { changed, moved, extensions }) {
    const root = parent.attachShadow({ mode: 'open' }) // there CodeMirror's styles are constructed sheets, which the CSP allows
    this.#setup = name => [
      lineNumbers(), highlightActiveLineGutter(), lintGutter({ hoverTime: 200 }), codeFolding({ placeholderText: '…' }), foldGutter(), history(), drawSelection(),
      EditorState.allowMultipleSelections.of(true), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion({ icons: false }),
      rectangularSelection(), crosshairCursor(), highlightActiveLine(), highlightSelectionMatches(), targetField,
      keymap.of([
        { key: 'Ctrl-m', mac: 'Shift-Alt-m', run: toggleTabFocusMode },
        ...closeBracketsKeymap, ...defaultKeymap.filter(({ key }) => key !== 'Ctrl-m' && key !== 'Mod-Enter'), ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, indentWithTab
      ]),
      languageOf(name), look, typing, extensions(name),
      EditorView.contentAttributes.of({ 'aria-label': `Text of ${name}`, spellcheck: 'false' }),
      EditorView.updateListener.of(update => {
        if (update.docChanged) changed(this.#name)
        if (update.docChanged || update.selectionSet) this.#tellCursor(moved)
      })
    ]
    this.#view = new EditorView({ parent: root, root })
    this.tellCursor = () => this.#tellCursor(moved)
  }

  create(name, text) {
    return EditorState.create({ doc: text, extensions: this.#setup(name) })
  }

  show(name, { state, scroll }) {
    this.#name = name
    this.#view.setState(state)
    if (scroll) this.#view.dispatch({ effects: scroll })
    this.tellCursor()
  }

  get state() {
    return this.#view.state
  }

  get scroll() {
    return this.#view.scrollSnapshot()
  }

  focus() {
    this.#view.focus()
  }

  refresh() {
    this.#view.requestMeasure()
  }

  diagnose(diagnostics) {
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics))
  }

  // Puts the cursor at `from`, shows it in the middle and marks the range. Offsets are UTF-16, as CodeMirror's.
  jump(from, to) {
    const length = this.#view.state.doc.length
    const start = Math.min(from, length)
    const end = Math.min(Math.max(to, start), length)
    this.#view.dispatch({
      selection: { anchor: start },
      effects: [target.of({ from: start, to: end }), EditorView.scrollIntoView(start, { y: 'center', x: 'nearest' })]
    })
    this.#view.focus()
  }

  // Replaces what differs between the present text and `text`, as one step of undo.
  replace(text) {
    const before = this.#view.state.doc.toString()
    const shorter = Math.min(before.length, text.length)
    let start = 0
    while (start < shorter && before[start] === text[start]) start++
    let end = 0
    while (end < shorter - start && before[before.length - 1 - end] === text[text.length - 1 - end]) end++
    this.#view.dispatch({ changes: { from: start, to: before.length - end, insert: text.slice(start, text.length - end) }, userEvent: 'input.fix' })
  }

  #tellCursor(moved) {
    const { head } = this.#view.state.selection.main
    const line = this.#view.state.doc.lineAt(head)
    moved(line.number, Array.from(line.text.slice(0, head - line.from)).length + 1)
  }
}

export const withDiagnostics = (state, diagnostics) => state.update(setDiagnostics(state, diagnostics)).state
