// The right side: its tabs, the pane that is shown, the strip that runs the evidence.
import { byId, fillTabs, h, icon, whenReleased } from './dom.js'
import { evidencePane, runBar } from './panes/evidence-pane.js'
import { findingsPane } from './panes/findings-pane.js'
import { modelPane } from './panes/model-pane.js'
import { signature } from './panes/signature-pane.js'
import { redraw } from './redraw.js'

const small = matchMedia('(max-width: 799px)')

export function startResults(parts) {
  const { workspace, editor, engine, findings, evidence, model, plugins } = parts
  const [panel, bar, tabs] = [byId('panel'), byId('run-bar'), byId('result-tabs')]
  let shown = 'evidence'

  const go = finding => {
    if (!finding?.range) return
    if (small.matches) show('source')
    if (workspace.text(finding.file) === null) return
    if (workspace.active !== finding.file) workspace.show(finding.file)
    editor.jump(finding.range.start.utf16, finding.range.end.utf16)
  }
  const explain = rule => engine.call('explain', rule)
  const run = () => {
    if (evidence.state === 'running') return
    dispatchEvent(new Event('opspec-run'))
    evidence.run()
  }
  const listOfFindings = findingsPane({ explain, go, fix: finding => findings.fix(finding) })
  const listOfModel = (goTo, fix) => findingsPane({ explain, go: goTo, fix, always: true })
  const rowsOfEvidence = evidencePane({ evidence, run, show: name => { if (small.matches) show('source'); workspace.show(name); editor.focus() }, add: () => byId('add-file').click(), first: () => workspace.origin === 'sample' ? workspace.names.find(name => evidence.rows[0]?.name === name) : null })
  const viewOfModel = modelPane({ model, plugins, open: () => byId('open').click(), findingsList: listOfModel })

  const panes = {
    findings() {
      if (findings.problem) return h('p', { class: 'note error' }, icon('error'), `The bundle could not be checked: ${findings.problem.message}`)
      if (findings.list.length === 0 && findings.incomplete.length === 0) {
        return h('div', { class: 'empty' }, h('p', { class: 'fine' }, icon('passed'), 'No findings.'), h('p', { class: 'quiet' }, 'The document follows the format and its rules, and its evidence fits its signature.'))
      }
      return listOfFindings(findings.list, { incomplete: findings.incomplete, again: draw })
    },
    evidence: () => rowsOfEvidence({ again: draw }),
    signature() {
      const { document: present, stale } = workspace.reading
      if (present === null || typeof present !== 'object') return h('div', { class: 'empty' }, h('p', {}, 'No operator document yet.'), h('p', { class: 'quiet' }, 'A document is a JSON file whose kind is ', h('code', {}, 'runlocal.operator-extension'), '.'))
      return signature(present, stale)
    },
    model: () => viewOfModel.render()
  }

  function drawTabs() {
    const { error, warning } = findings.counts
    const { passed, all } = evidence.counts
    const wrong = model.report ? model.report.counts.error + model.report.counts.warning : null
    fillTabs(tabs, [
      { id: 'source', label: 'Source' },
      { id: 'findings', label: 'Findings', badge: findings.list.length || null, state: error > 0 ? 'error' : warning > 0 ? 'warning' : 'info' },
      { id: 'evidence', label: 'Evidence', badge: all > 0 ? `${passed}/${all}` : null, state: passed === all ? 'passed' : 'error' },
      { id: 'signature', label: 'Signature' },
      { id: 'model', label: 'Model', badge: wrong || null, state: model.report?.counts.error ? 'error' : 'warning' }
    ], shown, show)
    panel.setAttribute('aria-label', shown)
  }

  function draw() {
    drawTabs()
    if (shown !== 'source') redraw(panel, panes[shown]())
    redraw(bar, runBar({ evidence, run, open: () => show('evidence') }))
  }

  function show(name) {
    const other = name !== shown
    shown = name
    document.body.dataset.view = name === 'source' ? 'source' : 'results'
    document.body.dataset.shown = name
    draw()
    if (other) panel.scrollTop = 0
    editor.refresh()
  }

  let asked = false
  const later = () => {
    if (asked) return
    asked = true
    requestAnimationFrame(() => {
      asked = false
      whenReleased(draw)
    })
  }
  findings.addEventListener('checked', later)
  evidence.addEventListener('changed', later)
  model.addEventListener('changed', later)
  plugins.addEventListener('changed', later)
  workspace.addEventListener('edit', () => { if (shown === 'signature') later() })
  small.addEventListener('change', () => { if (!small.matches && shown === 'source') show('findings') })

  // Gives the focus to the element with this data-key, once it is drawn.
  const focus = key => requestAnimationFrame(() => requestAnimationFrame(() => [...panel.querySelectorAll('[data-key]')].find(element => element.dataset.key === key)?.focus()))

  // An opened document has the width of the page, beside no bundle, until the person wants both.
  model.addEventListener('changed', () => {
    if (model.state !== 'none') document.body.dataset.document ??= 'wide'
  })

  return { show, go, run, focus, document: viewOfModel.view, get shown() { return shown } }
}
