// The plug-ins of the page, each with what it brings, or why it does not.
import { bytesText, h, icon, plural } from '../dom.js'

const states = { waiting: 'came as a file and has not run: it runs when you press Run', loading: 'is being loaded …', loaded: '', refused: 'was refused' }

function operatorTable({ name, operators, unmatched }) {
  return [
    operators.length > 0 && h('table', {},
      h('thead', {}, h('tr', {}, ['Operator', 'Code from', 'Described by'].map(title => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, operators.map(operator => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, operator.name)), h('td', {}, h('code', {}, name)), h('td', {}, operator.described ? 'the open document' : 'the plug-in or the standard'))))),
    operators.length === 0 && h('p', { class: 'note warning' }, icon('warning'), 'It brings no operator that can be used here.'),
    unmatched.length > 0 && h('p', { class: 'note warning unmatched' }, icon('warning'), h('span', {}, `${plural(unmatched.length, 'operator')} without a document: `, h('code', {}, unmatched.join(', ')), '. Open the document, then load the plug-in again.'))
  ]
}

// `plugins`: Plugins; `again`: draws anew.
export function pluginList(plugins) {
  if (plugins.list.length === 0) return null
  return h('section', { class: 'plugins' }, h('h3', {}, 'Plug-ins'), plugins.list.map(plugin => h('div', { class: `plugin ${plugin.state}`, data: { plugin: plugin.name } },
    h('p', {}, h('code', {}, plugin.name), h('span', { class: 'quiet' }, ` ${bytesText(plugin.size)} ${states[plugin.state]}`)),
    plugin.state === 'refused' && h('p', { class: 'note error' }, icon('error'), h('span', {}, plugin.message)),
    plugin.state === 'loaded' && operatorTable(plugin),
    h('div', { class: 'buttons' },
      ['waiting', 'refused'].includes(plugin.state) && h('button', { type: 'button', class: 'primary', data: { key: `load ${plugin.number}` }, onclick: () => plugins.load(plugin) }, icon('run'), plugin.state === 'refused' ? 'Run again' : 'Run'),
      h('button', { type: 'button', data: { key: `remove ${plugin.number}` }, onclick: () => plugins.remove(plugin) }, plugin.state === 'loaded' ? 'Take it back' : 'Remove')))))
}
