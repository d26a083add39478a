// Puts the page together: who listens to whom. What each part does is in its own file.
import { javascriptLanguage } from '@codemirror/lang-javascript'
import { assist } from './assist.js'
import { startActions } from './actions.js'
import { startDivider } from './divider.js'
import { byId, fillTabs, icon, tabKeys } from './dom.js'
import { Editor } from './editor.js'
import { Engine } from './engine.js'
import { Evidence } from './evidence.js'
import { startFileTabs } from './file-tabs.js'
import { Findings } from './findings.js'
import { ModelView } from './model.js'
import { dismiss, notice } from './notices.js'
import { Plugins } from './plugins.js'
import { startResults } from './results.js'
import { startSession } from './session.js'
import { startTheme } from './theme.js'
import { Workspace } from './workspace.js'

const workspace = new Workspace()
const editor = new Editor(byId('editor'), {
  changed: name => workspace.edited(name),
  moved: (line, column) => { byId('cursor').textContent = `Line ${line}, column ${column}` },
  extensions: name => assist(name, workspace, { javascript: javascriptLanguage })
})
workspace.attach(editor)

const engine = new Engine()
const findings = new Findings(engine, workspace)
const evidence = new Evidence(engine, workspace)
const model = new ModelView(engine)
const plugins = new Plugins(engine, workspace)
plugins.addEventListener('loaded', () => model.again())
const parts = { workspace, editor, engine, findings, evidence, model, plugins }

const status = text => { byId('status').textContent = text }
engine.addEventListener('failed', ({ detail }) => {
  status('No engine')
  notice('engine', `The engine did not start: ${detail.message} Your text is safe.`, { kind: 'error', actions: [{ label: 'Try again', act: () => findings.check() }] })
})
engine.addEventListener('ready', () => {
  dismiss('engine')
  model.documents.prepare().catch(() => {}) // tried again when it is needed
})
engine.addEventListener('restarted', () => notice('restarted', 'The engine was restarted; your text is safe.', { kind: 'warning' }))
findings.addEventListener('checking', () => status('Checking …'))
findings.addEventListener('checked', () => {
  const { counts, problem, ms, rules } = findings
  const bad = counts.error + counts.warning
  document.title = bad > 0 ? `(${bad}) ${workspace.label || 'opspec'} · opspec` : workspace.label ? `${workspace.label} · opspec` : 'opspec'
  if (problem) status(`Could not check: ${problem.message}`)
  else if (findings.paused) status(`Checked in ${(ms / 1000).toFixed(1)} s. Checking while you type is paused; Ctrl+Shift+Enter checks.`)
  else status(`Checked in ${Math.max(1, Math.round(ms))} ms${rules ? ` · rules ${rules}` : ''}`)
})
findings.addEventListener('paused', () => status('Not checked since the last change: it took long. Ctrl+Shift+Enter checks.'))
addEventListener('offline', () => status('Offline. Everything goes on working.'))

const toggleTheme = startTheme(byId('theme'))
byId('about').append(icon('info'))
byId('add-file').append(icon('add'))
for (const id of ['file-tabs', 'result-tabs']) tabKeys(byId(id))
startDivider(byId('divider'), byId('panes'), () => editor.refresh())

const results = startResults(parts)
const files = startFileTabs(parts, { fillTabs })
const session = startSession(parts, results)
startActions(parts, { results, files, session, toggleTheme })
session.begin()
