// A document at a glance: its findings, and of a model what goes in and comes out, its operators, a run. Beside it stand its parts.
import { ask, openMenu } from '../dialogs.js'
import { DocumentView } from '../document-view/view.js'
import { h, icon, plural, whenReleased } from '../dom.js'
import { pickFiles } from '../files.js'
import { wrongText } from '../inputs.js'
import { notice } from '../notices.js'
import { redraw } from '../redraw.js'
import { valueText } from '../values.js'
import { pluginList } from './plugin-list.js'

const mostOperators = 40

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

// context: { model, plugins, open(), findingsList(go, fix) -> a list of findings }
export function modelPane(context) {
  const { model, plugins } = context
  const sizes = {}
  const overview = h('aside', { class: 'overview', 'aria-label': 'Overview' })
  const view = new DocumentView(model, overview)
  const findingsList = context.findingsList(finding => view.reveal(finding.path ?? ''), finding => model.fix(finding).catch(error => { model.problem = error; draw() }))
  const later = () => whenReleased(draw)
  model.addEventListener('changed', later)
  plugins.addEventListener('changed', later)

  async function give(act) {
    try {
      await act()
    } catch (error) {
      notice('input', `That is no value for this input: ${error.message}`, { kind: 'error' })
    }
  }

  const typed = input => give(async () => {
    const text = await ask({ title: `Values of ${input.name}`, label: `${input.type}, as a list: [[1, 2], [3, 4]]`, yes: 'Take them', value: '', problem: text => wrongText(input, text) })
    if (text !== null) await model.giveText(input, text)
  })
  const fromFile = input => give(async () => {
    const [file] = await pickFiles('.npy,.pb,.json,.textproto,.txt')
    if (file !== undefined) await model.giveFile(input, file)
  })
  const chooseValues = (button, input) => openMenu(button, [
    { label: 'Random numbers', note: 'the same at each run', act: () => model.giveRandom(input) },
    { label: 'From a file', note: '.npy, .pb, or JSON as in evidence', act: () => fromFile(input) },
    { label: 'As text', note: 'a list, or a value as in evidence', act: () => typed(input) }
  ])

  const feeds = () => h('table', { class: 'feeds' }, h('tbody', {}, model.inputs.map(input => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, input.name)),
    h('td', {}, model.given.has(input.name) ? h('code', {}, model.given.get(input.name).label) : h('span', { class: 'quiet' }, 'random numbers')),
    h('td', {}, h('button', { type: 'button', class: 'small', 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-label': `Values of ${input.name}`, data: { key: `values ${input.name}` }, onclick: ({ currentTarget }) => chooseValues(currentTarget, input) }, 'Change'))))))

  function runSection() {
    const { run, symbols } = model
    const fields = symbols.map(symbol => h('label', {}, symbol.startsWith('#') ? `axis ${symbol.slice(1)} ` : `${symbol} `,
      h('input', { type: 'number', min: 0, max: 65536, value: sizes[symbol] ??= model.likelySize(symbol), data: { key: `size ${symbol}` }, oninput: ({ target }) => { sizes[symbol] = Math.max(0, Math.trunc(Number(target.value)) || 0) } })))
    return h('section', {}, h('h3', {}, 'Run'), feeds(),
      h('form', { class: 'run-model', onsubmit: event => { event.preventDefault(); model.runOn(sizes) } }, fields,
        h('button', { type: 'submit', data: { key: 'run model' }, disabled: run.state === 'running' }, icon('run'), run.state === 'running' ? 'Running …' : model.given.size === 0 ? 'Run on random inputs' : 'Run'),
        run.state === 'running' && h('button', { type: 'button', data: { key: 'stop model' }, onclick: () => model.stop() }, 'Stop')),
      run.state === 'failed' && h('p', { class: 'note error' }, icon('error'), run.message),
      run.state === 'done' && h('table', {}, h('caption', {}, `${Math.round(run.ms)} ms`),
        h('tbody', {}, Object.entries(run.outputs).map(([name, value]) => {
          const { type, text } = valueText(value)
          return h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, h('code', {}, type)), h('td', { class: 'data' }, h('code', {}, text)))
        }))))
  }

  function draw() {
    const { summary, report } = model
    const whole = report !== null && report.kind !== 'model'
    redraw(overview, [
      model.state === 'loading' && h('p', { class: 'note' }, `${model.identity === null ? 'Reading' : 'Checking'} …${model.progress > 0 ? ` ${Math.floor(model.progress * 100)} %` : ''}`, h('button', { type: 'button', class: 'small', data: { key: 'cancel' }, onclick: () => model.stop() }, 'Cancel')),
      model.problem && h('p', { class: 'note error' }, icon('error'), model.problem.message),
      pluginList(plugins),
      report && h('section', {}, h('h3', {}, 'Findings'), report.findings.length === 0
        ? h('p', { class: 'fine' }, icon('passed'), report.complete ? `Nothing is wrong with this ${report.kind}.` : 'Nothing was found so far.')
        : null, findingsList(report.findings, { incomplete: report.complete ? [] : report.incomplete, again: draw })),
      model.value && valueSection(model.value),
      whole ? null : [valueTable('Inputs', model.inputs), valueTable('Outputs', model.outputs)],
      model.inputs.length + model.outputs.length > 0 && runSection(),
      summary?.operators.length > 0 && operatorList(summary.operators)
    ])
  }

  function render() {
    if (model.state !== 'none') return view.element
    return [plugins.list.length > 0 && h('article', { class: 'model' }, pluginList(plugins)),
      h('div', { class: 'empty' }, h('p', {}, 'Drop an ', h('code', {}, '.onnx'), ' file anywhere on this page to look into it (or a tensor, an operator set, any document of ONNX, also as text), or a plug-in ', h('code', {}, '.wasm'), ' with operators for it.'),
        h('p', { class: 'quiet' }, 'It is read here, in the browser, and goes nowhere.'), h('button', { type: 'button', onclick: context.open }, 'Open a model or plug-in'))]
  }
  return { render, view }
}
