// A model at a glance: what it is, what goes in and comes out, its operators, its findings, a run.
import { bytesText, h, icon, plural } from '../dom.js'
import { valueText } from '../values.js'
import { pluginList } from './plugin-list.js'

const mostOperators = 40

const mostNodes = 100

function shareBar(share) {
  const bar = h('span', { class: 'share', 'aria-hidden': 'true' })
  bar.style.setProperty('--share', `${share * 100}%`)
  return bar
}

const shapeText = shape => shape === null || shape === undefined ? 'unknown rank' : `[${shape.map(dim => dim === null ? '?' : String(dim)).join(', ')}]`

function valueTable(title, values) {
  return h('section', {}, h('h3', {}, title), values.length === 0 ? h('p', { class: 'quiet' }, 'none') : h('table', {},
    h('thead', {}, h('tr', {}, ['Name', 'Type', 'Shape'].map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, values.map(({ name, type, shape }) => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, h('code', {}, type)), h('td', {}, h('code', {}, shapeText(shape))))))))
}

function operatorList(operators) {
  const most = operators[0]?.[1] ?? 1
  return h('section', {}, h('h3', {}, 'Operators'), h('ul', { class: 'operators' }, operators.slice(0, mostOperators).map(([name, count]) => h('li', {},
    h('code', {}, name), shareBar(count / most), h('span', {}, count.toLocaleString('en'))))),
  operators.length > mostOperators && h('p', { class: 'quiet' }, `and ${plural(operators.length - mostOperators, 'more kind')}`))
}

function valueSection(value) {
  const { type, text } = valueText(value, 64)
  return h('section', {}, h('h3', {}, 'Value'), h('p', {}, h('code', {}, type)), h('p', { class: 'data' }, h('code', {}, text)))
}

function nodeTable(nodes, shown, more) {
  return h('section', {}, h('h3', {}, 'Nodes'), h('div', { class: 'nodes' }, h('table', {},
    h('thead', {}, h('tr', {}, ['#', 'Operator', 'Inputs', 'Outputs', 'Name'].map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, nodes.slice(0, shown).map(({ operator, name, inputs, outputs }, index) => h('tr', {},
      h('th', { scope: 'row' }, String(index)), h('td', {}, h('code', {}, operator)), [inputs, outputs].map(list => h('td', {}, h('code', {}, list.join(', ')))), h('td', {}, name)))))),
  nodes.length > shown && h('button', { type: 'button', class: 'small', data: { key: 'more nodes' }, onclick: more }, `Show ${plural(Math.min(mostNodes, nodes.length - shown), 'more node')}`))
}

// context: { model, plugins, open(), findingsList(findings, options) }
export function modelPane(context) {
  const { model, plugins } = context
  const sizes = {}
  let shownNodes = mostNodes
  model.addEventListener('changed', () => { if (model.state === 'loading') shownNodes = mostNodes })

  function runSection(again) {
    const { run, symbols } = model
    const fields = symbols.map(symbol => h('label', {}, symbol.startsWith('#') ? `axis ${symbol.slice(1)} ` : `${symbol} `,
      h('input', { type: 'number', min: 0, max: 65536, value: sizes[symbol] ??= model.likelySize(symbol), data: { key: `size ${symbol}` }, oninput: ({ target }) => { sizes[symbol] = Math.max(0, Math.trunc(Number(target.value)) || 0) } })))
    return h('section', {}, h('h3', {}, 'Run'),
      h('form', { class: 'run-model', onsubmit: event => { event.preventDefault(); model.runRandom(sizes); again() } }, fields,
        h('button', { type: 'submit', data: { key: 'run model' }, disabled: run.state === 'running' }, icon('run'), run.state === 'running' ? 'Running …' : 'Run on random inputs'),
        run.state === 'running' && h('button', { type: 'button', data: { key: 'stop model' }, onclick: () => model.stop() }, 'Stop')),
      run.state === 'failed' && h('p', { class: 'note error' }, icon('error'), run.message),
      run.state === 'done' && h('table', {}, h('caption', {}, `${Math.round(run.ms)} ms`),
        h('tbody', {}, Object.entries(run.outputs).map(([name, value]) => {
          const { type, text } = valueText(value)
          return h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, h('code', {}, type)), h('td', { class: 'data' }, h('code', {}, text)))
        }))))
  }

  return function render({ again }) {
    if (model.state === 'none') {
      return [plugins.list.length > 0 && h('article', { class: 'model' }, pluginList(plugins)),
        h('div', { class: 'empty' }, h('p', {}, 'Drop an ', h('code', {}, '.onnx'), ' file anywhere on this page to look into it, or a plug-in ', h('code', {}, '.wasm'), ' with operators for it.'),
          h('p', { class: 'quiet' }, 'It is read here, in the browser, and goes nowhere.'), h('button', { type: 'button', onclick: context.open }, 'Open a model or plug-in'))]
    }
    const { summary, report } = model
    const facts = [bytesText(model.size), ...report && report.kind !== 'model' ? [report.kind] : [], ...summary ? [plural(summary.nodes, 'node'), plural(summary.initializers, 'initializer'), `IR ${summary.irVersion}`, ...summary.imports] : []]
    return h('article', { class: 'model' },
      h('header', {}, h('h2', {}, model.name), h('p', { class: 'quiet' }, facts.join(' · ')),
        summary?.producer && h('p', { class: 'quiet' }, `made by ${summary.producer}`)),
      model.state === 'loading' && h('p', { class: 'note' }, 'Reading …', h('button', { type: 'button', class: 'small', onclick: () => model.stop() }, 'Cancel')),
      model.problem && h('p', { class: 'note error' }, icon('error'), model.problem.message),
      pluginList(plugins),
      report && h('section', {}, h('h3', {}, 'Findings'), report.findings.length === 0
        ? h('p', { class: 'fine' }, icon('passed'), report.complete ? `Nothing is wrong with this ${report.kind}.` : 'Nothing was found so far.')
        : null, context.findingsList(report.findings, { incomplete: report.complete ? [] : report.incomplete, again })),
      model.value && valueSection(model.value),
      report && report.kind !== 'model' ? null : [valueTable('Inputs', model.inputs), valueTable('Outputs', model.outputs)],
      model.inputs.length + model.outputs.length > 0 && runSection(again),
      summary && operatorList(summary.operators),
      summary && nodeTable(summary.list, shownNodes, () => { shownNodes += mostNodes; again() }))
  }
}
