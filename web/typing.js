// Text that is typed over a selection. Left to the browser, it comes in with the look of what was selected in a `style` attribute,
// which the page's policy refuses with an error in the console.
import { EditorView } from '@codemirror/view'

function typed(event, view) {
  const { data, inputType, isComposing, cancelable } = event
  const { state, composing } = view
  const { main } = state.selection
  if (inputType !== 'insertText' || !data || isComposing || composing || !cancelable || main.empty || state.readOnly) return false
  event.preventDefault()
  const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
  // Extensions that take a part in typing, such as brackets around what is selected, come first.
  if (!state.facet(EditorView.inputHandler).some(handle => handle(view, main.from, main.to, data, insert))) view.dispatch(insert())
  return true
}

export const typing = EditorView.domEventHandlers({ beforeinput: typed })
