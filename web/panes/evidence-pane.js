// A row a test; an open row shows what went in, what was expected and what came out.
import { h, icon, plural, prose } from '../dom.js'
import { compareElements, valueText } from '../values.js'
import { heatPicture } from './heat.js'
import { valueGrid } from './value-grid.js'

const statusWords = { passed: 'passed', failed: 'failed', skipped: 'skipped', error: 'could not be run', idle: 'not run' }
const statusIcons = { passed: 'passed', failed: 'failed', skipped: 'skipped', error: 'error', idle: 'idle' }

// Unless a person chose, the first row that went wrong is open, else the one that `first` names.
// context: { evidence, show(name), run(), add(), first() }
export function evidencePane(context) {
  const toggled = new Map() // name -> whether its row is open, where a person decided

  const bad = ({ test }) => test?.status === 'failed' || test?.status === 'error'
  const isOpen = ({ name }) => toggled.get(name) ?? name === (context.evidence.rows.find(bad)?.name ?? context.first())

  function row(item, again) {
    const status = item.missing ? 'error' : item.test?.status ?? 'idle'
    const open = isOpen(item)
    const toggle = () => {
      toggled.set(item.name, !open)
      again()
    }
    const first = item.test?.findings?.[0]?.message ?? item.test?.message
    const about = item.missing ? 'The file is not in the bundle.' : item.document?.description ?? ''
    const line = status === 'passed' || open || !first ? about : first
    return h('li', { class: `test ${status}${open ? ' open' : ''}`, data: { test: item.name } },
      h('button', { type: 'button', class: 'row', 'aria-expanded': String(open), data: { key: item.name }, onclick: toggle },
        icon(statusIcons[status]), h('span', { class: 'name' }, item.name), h('span', { class: 'sr' }, `: ${statusWords[status]}. `),
        h('span', { class: 'message' }, prose(line)),
        item.test?.refused?.length > 0 && h('span', { class: 'meta' }, 'reached outside'),
        item.unnamed && h('span', { class: 'meta' }, 'not in tests'),
        item.test && h('span', { class: 'meta' }, `${item.test.ms < 10 ? item.test.ms.toFixed(1) : Math.round(item.test.ms)} ms`)),
      open && h('div', { class: 'detail' }, detail(item, status), !item.missing && item.document && h('button', { type: 'button', class: 'small', data: { key: `${item.name} edit` }, onclick: () => context.show(item.name) }, `Edit ${item.name}`)))
  }

  return function render({ again }) {
    const { evidence } = context
    const { rows } = evidence
    if (rows.length === 0) {
      return h('div', { class: 'empty' }, h('p', {}, 'This bundle has no evidence yet.'),
        h('p', { class: 'quiet' }, prose('Evidence is inputs with the outputs that a kernel must give for them. Each file is named in the document’s `tests`.')),
        h('button', { type: 'button', onclick: context.add }, 'Add evidence'))
    }
    return [
      evidence.state === 'ended' && h('p', { class: 'note error' }, icon('error'), evidence.message),
      evidence.stale && h('p', { class: 'note' }, 'Something changed since this ran. ', h('button', { type: 'button', class: 'small', onclick: context.run }, 'Run again')),
      evidence.state === 'idle' && !evidence.kernel && h('p', { class: 'note' }, 'There is no kernel to run. Add a kernel.js, or give the operator to a colleague who has it.'),
      h('ol', { class: 'tests' }, rows.map(item => row(item, again)))
    ]
  }
}

function detail({ document, test }, status) {
  const parts = []
  for (const { message, rule } of test?.findings ?? []) parts.push(h('p', { class: 'verdict' }, prose(message), ' ', h('span', { class: 'rule' }, rule)))
  if (test?.message && !test.findings?.length && status !== 'passed') parts.push(h('p', { class: 'verdict' }, test.message))
  if (test?.refused?.length > 0) parts.push(h('p', { class: 'note refused' }, icon('warning'), 'The kernel reached for what it does not have here: ', h('code', {}, test.refused.join(', '))))
  if (document) parts.push(values('Inputs', document.inputs))
  const attributes = Object.entries(document?.attributes ?? {})
  if (attributes.length > 0) parts.push(h('p', { class: 'values' }, h('b', {}, 'Attributes '), h('code', {}, attributes.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', '))))
  if (document?.expect_error !== undefined) {
    const { expect_error: expected } = document
    parts.push(h('p', { class: 'values' }, h('b', {}, 'Expected '), 'an error that says ', h('code', {}, typeof expected === 'string' ? expected : String(expected?.contains))))
  } else if (document) parts.push(comparison(document, test, status))
  return parts
}

function values(title, list) {
  const rows = (Array.isArray(list) ? list : []).map((value, index) => {
    const { type, text } = valueText(value)
    return h('tr', {}, h('th', { scope: 'row' }, `${title.slice(0, -1).toLowerCase()} ${index}`), h('td', {}, h('code', {}, type)), h('td', { class: 'data' }, valueGrid(value) ?? h('code', {}, text)))
  })
  return h('table', { class: 'value-list' }, h('caption', { class: 'sr' }, title), h('tbody', {}, rows))
}

function comparison(document, test, status) {
  const outputs = Array.isArray(document.outputs) ? document.outputs : []
  if (!test?.outputs) return values('Outputs', outputs)
  return outputs.map((expected, index) => {
    const actual = test.outputs[index]
    const tolerance = Array.isArray(document.tolerance) ? document.tolerance[index] : document.tolerance
    const compared = compareElements(expected, actual, tolerance, { all: status === 'passed' })
    const { type } = valueText(expected)
    if (!compared) {
      return h('div', { class: 'compare' }, h('h4', {}, `Output ${index} `, h('code', {}, type)),
        h('table', {}, h('tbody', {}, [['expected', expected], ['actual', actual]].map(([name, value]) => {
          const shown = valueText(value)
          return h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, shown.type)), h('td', { class: 'data' }, h('code', {}, shown.text)))
        }))))
    }
    if (compared.rows.length === 0) return h('p', { class: 'quiet' }, `Output ${index} `, h('code', {}, type), ' agrees.')
    const more = (status === 'passed' ? compared.size : compared.differing) - compared.rows.length
    return h('div', { class: 'compare' },
      h('h4', {}, `Output ${index} `, h('code', {}, type), compared.differing > 0 && h('span', { class: 'quiet' }, ` ${compared.differing} of ${compared.size} differ`)),
      h('table', {},
        h('thead', {}, h('tr', {}, ['Index', 'Expected', 'Actual', 'Difference'].map(name => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, compared.rows.map(item => h('tr', { class: item.differs ? 'differs' : '' },
          h('th', { scope: 'row' }, item.index), h('td', {}, item.expected), h('td', {}, item.actual), h('td', {}, item.difference))))),
      more > 0 && h('p', { class: 'quiet' }, `and ${plural(more, 'more element')}`),
      compared.differing > 0 && heatPicture(expected, actual))
  })
}

// The strip under the results: what ran, and the button that runs it.
export function runBar({ evidence, run, open }) {
  const { state, counts, message, ms } = evidence
  const running = state === 'running'
  const words = {
    idle: evidence.kernel ? 'Not run yet' : 'No kernel to run',
    running: message ? `Running ${message}` : 'Running …',
    ended: message,
    done: counts.all === 0 ? 'Nothing was run' : `${counts.passed} of ${plural(counts.all, 'test')} passed · ${Math.round(ms)} ms`
  }
  const mark = { idle: 'idle', running: 'idle', ended: 'error', done: counts.all > 0 && counts.passed === counts.all ? 'passed' : 'failed' }[state]
  return [
    running
      ? h('button', { type: 'button', class: 'primary', data: { key: 'run' }, onclick: () => evidence.stop() }, icon('stop'), 'Stop')
      : h('button', { type: 'button', class: 'primary', data: { key: 'run' }, title: 'Run the evidence (Ctrl+Enter)', disabled: !evidence.kernel, onclick: run }, icon('run'), 'Run'),
    h('button', { type: 'button', class: `outcome ${state} ${mark}`, data: { key: 'outcome' }, onclick: open }, icon(mark), h('span', {}, words[state]), evidence.stale && h('span', { class: 'quiet' }, ' · changed since')),
    h('span', { class: 'grow' }),
    h('kbd', { class: 'wide' }, 'Ctrl Enter')
  ]
}
