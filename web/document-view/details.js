// What is known of the chosen part of a document, and what can be done with it.
import { h, icon, prose } from '../dom.js'
import { valueText } from '../values.js'

const mostValues = 64

// details: as the worker tells them; context: { findings, go(path), save(form), fix(finding), edits: [{ label, act }] }
export function detailsPanel(details, { findings, go, save, fix, edits }) {
  const { path, label, message, facts, links, value_: first } = details
  const here = details.findings.map(number => findings[number]).filter(Boolean)
  const shown = first && valueText(first, mostValues)
  return [
    h('header', {}, h('code', { class: 'path' }, path || label), message && message !== 'list' && h('span', { class: 'quiet' }, message)),
    here.length > 0 && h('ul', { class: 'here' }, here.map(finding => h('li', { class: finding.severity }, icon(finding.severity), h('span', {}, prose(finding.message), ' ', h('span', { class: 'quiet' }, finding.rule)),
      finding.fix && h('button', { type: 'button', class: 'small', onclick: () => fix(finding) }, 'Fix')))),
    h('dl', {}, [...facts, ...shown ? [['Values', shown.text]] : []].map(([name, text]) => [h('dt', {}, name), h('dd', {}, h('code', {}, text))]),
      links.map(({ what, list, all }) => [h('dt', {}, what), h('dd', {}, list.map(({ path: to, text }) => h('button', { type: 'button', class: 'small link', onclick: () => go(to) }, text)), all > list.length && h('span', { class: 'quiet' }, ` and ${(all - list.length).toLocaleString('en')} more`))])),
    (edits.length > 0 || details.tensor) && h('div', { class: 'buttons' },
      edits.map(({ label: name, act }) => h('button', { type: 'button', class: 'small', onclick: act }, name)),
      details.tensor && [h('button', { type: 'button', class: 'small', onclick: () => save('npy') }, 'Save as .npy'), h('button', { type: 'button', class: 'small', onclick: () => save('binary') }, 'Save as .pb')])
  ]
}
