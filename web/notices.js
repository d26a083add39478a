// Lines between the header and the panes: one a subject, until they are answered or closed.
import { byId, h, icon } from './dom.js'

// `actions`: [{ label, act }]; pressing one closes the notice.
export function notice(subject, text, { kind = 'info', actions = [] } = {}) {
  dismiss(subject)
  const line = h('div', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : 'status', data: { subject } },
    icon(kind === 'info' ? 'info' : kind), h('span', {}, text),
    actions.map(({ label, act }) => h('button', { type: 'button', class: 'small', onclick: () => { line.remove(); act() } }, label)),
    h('button', { type: 'button', class: 'icon', 'aria-label': 'Close this notice', onclick: () => line.remove() }, icon('close')))
  byId('notices').append(line)
}

export function dismiss(subject) {
  byId('notices').querySelector(`[data-subject="${subject}"]`)?.remove()
}
