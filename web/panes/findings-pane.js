// The list of findings: where, what, and what can be done about it.
import { h, icon, plural, prose } from '../dom.js'

const most = 300

// context: { findings, explain(rule) -> promise, go(finding), fix(...findings) }
export function findingsPane(context) {
  const opened = new Map() // key of a finding -> its rule's text, or null while that is fetched
  let shown = most

  const keyOf = finding => finding.fingerprint || `${finding.file}:${finding.rule}:${finding.range?.start.utf16}`

  function why(finding, render) {
    const key = keyOf(finding)
    if (opened.has(key)) opened.delete(key)
    else {
      opened.set(key, null)
      context.explain(finding.rule).then(text => opened.set(key, text), error => opened.set(key, { title: error.message })).then(render)
    }
    render()
  }

  function row(finding, render) {
    const key = keyOf(finding)
    const place = finding.range ? `${finding.range.start.line}:${finding.range.start.column}` : finding.path ?? finding.pointer ?? ''
    return h('li', { class: `finding ${finding.severity}` },
      h('button', { type: 'button', class: 'row', data: { key }, onclick: () => context.go(finding), disabled: !finding.range && !context.always },
        icon(finding.severity), h('span', { class: 'sr' }, `${finding.severity}: `),
        h('span', { class: 'message' }, prose(finding.message)),
        h('span', { class: 'meta' }, h('span', { class: 'rule' }, finding.rule), h('span', {}, `${finding.file ?? ''} ${place}`.trim()))),
      h('span', { class: 'actions' },
        finding.fix && context.fix && h('button', { type: 'button', class: 'small', title: `${finding.fix.title} (Ctrl+.)`, data: { key: `${key} fix` }, onclick: () => context.fix(finding) }, 'Fix'),
        h('button', { type: 'button', class: 'small', 'aria-expanded': String(opened.has(key)), data: { key: `${key} why` }, onclick: () => why(finding, render) }, 'Why')),
      opened.has(key) && explanation(opened.get(key), finding))
  }

  return function render(list, { incomplete = [], again }) {
    const rows = list.slice(0, shown).map(finding => row(finding, again))
    const rest = list.length - rows.length
    return [
      incomplete.length > 0 && h('p', { class: 'note warning' }, icon('warning'), `Not everything could be looked at: ${incomplete.join('; ')}`),
      h('ol', { class: 'findings', onkeydown: arrows }, rows),
      rest > 0 && h('button', { type: 'button', class: 'small more', onclick: () => { shown += most; again() } }, `Show ${plural(Math.min(rest, most), 'more finding')}`)
    ]
  }
}

function explanation(text, finding) {
  if (text === null) return h('div', { class: 'why' }, h('p', { class: 'quiet' }, 'Looking the rule up …'))
  const example = (title, code) => code && h('figure', { class: title.toLowerCase() }, h('figcaption', {}, title), h('pre', {}, h('code', {}, code)))
  return h('div', { class: 'why' },
    h('h4', {}, text.title),
    text.why && h('p', {}, prose(text.why)),
    finding.related?.map(({ message, file, range }) => h('p', { class: 'quiet' }, prose(message), range && ` (${file ?? finding.file} ${range.start.line}:${range.start.column})`)),
    h('div', { class: 'examples' }, example('Good', text.good), example('Bad', text.bad)),
    h('p', { class: 'quiet' }, text.source && `${text.source} · `, h('a', { href: `./rules.html#${finding.rule}`, target: '_blank', rel: 'noopener' }, 'All rules')))
}

// Up and down move among the rows, whatever in them has the focus.
function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const here = event.target.closest('li')
  if (!step || !here) return
  const next = step > 0 ? here.nextElementSibling : here.previousElementSibling
  if (!next) return
  event.preventDefault()
  next.querySelector('button.row').focus()
}
