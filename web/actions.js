// What a person can do, once: buttons, keys and the command list all come from here.
import { writeZip } from './archive.js'
import { aboutDialog, confirm, openMenu, palette, shareLink } from './dialogs.js'
import { byId } from './dom.js'
import { download, droppedFiles, pickFiles } from './files.js'
import { notice } from './notices.js'
import { samples } from './samples.js'
import { packLink } from './share.js'

export function startActions({ workspace, editor, findings, evidence }, { results, files, session, toggleTheme }) {
  const fileName = () => `${(workspace.label || 'bundle').replace(/[^\w.-]+/g, '-')}.zip`

  // What the person is at: the document, or the bundle.
  function save() {
    if (document.activeElement?.closest('.document') != null) return results.document.save()
    saveBundle()
  }

  function saveBundle() {
    download(fileName(), writeZip(workspace.saved), 'application/zip')
  }

  async function open() {
    const picked = await pickFiles('.json,.zip,.onnx,.js,.mjs,.wasm,.pb,.onnxtxt,.textproto,.pbtxt,.prototxt')
    await session.openEntries(picked.map(file => [file.name, file]))
  }

  async function openPlugin() {
    const [file] = await pickFiles('.wasm')
    if (file) await session.openEntries([[file.name, file]])
  }

  async function share() {
    const fragment = await packLink({ files: workspace.saved, active: workspace.active, rules: findings.rules })
    if (fragment !== null) return shareLink(`${location.href.split('#')[0]}#${fragment}`)
    const yes = await confirm({ title: 'Too large for a link', text: 'The bundle does not fit into a link that all programs pass on whole. Save it as a file and send that?', yes: 'Save the file' })
    if (yes) saveBundle()
  }

  async function reset() {
    if (await confirm({ title: 'Start over?', text: 'What is open, and what was put aside, is thrown away. The first sample takes its place.', yes: 'Throw away', danger: true })) session.reset()
  }

  const place = () => {
    const { head } = editor.state.selection.main
    return { head, line: editor.state.doc.lineAt(head).number }
  }
  const step = by => {
    const next = findings.next(workspace.active, place().head, by)
    if (next) results.go(next)
  }

  function fixHere() {
    const row = document.activeElement?.closest?.('li.finding')?.querySelector('[data-key$=" fix"]')
    if (row) return row.click()
    const { head, line } = place()
    const finding = findings.at(workspace.active, head, line)
    if (finding?.fix) findings.fix(finding)
  }

  const fixAll = () => findings.fix(...findings.list.filter(({ fix }) => fix?.safe))

  const commands = [
    { label: 'Run the evidence', key: 'Ctrl+Enter', act: () => { results.show('evidence'); results.run() } },
    { label: 'Stop the run', act: () => evidence.stop() },
    { label: 'Check now', key: 'Ctrl+Shift+Enter', act: () => findings.check() },
    { label: 'Next finding', key: 'F8', act: () => step(1) },
    { label: 'Previous finding', key: 'Shift+F8', act: () => step(-1) },
    { label: 'Fix the finding here', key: 'Ctrl+.', act: fixHere },
    { label: 'Apply all safe fixes', act: fixAll },
    { label: 'Save the bundle as a zip (in a document: the document)', key: 'Ctrl+S', act: save },
    { label: 'Download the document', act: () => { results.show('model'); results.document.save() } },
    { label: 'Find in the document', act: () => { results.show('model'); results.document.finder.input.focus() } },
    { label: 'Open a spec, bundle or model', key: 'Ctrl+O', act: open },
    { label: 'Load a plug-in', act: openPlugin },
    { label: 'Share as a link', act: share },
    { label: 'Find a command', key: 'Ctrl+K', act: () => palette(commands.filter(({ key }) => key !== 'Ctrl+K')) },
    ...['findings', 'evidence', 'signature', 'model'].map((name, index) => ({ label: `Show ${name}`, key: `Alt+${index + 1}`, act: () => results.show(name) })),
    { label: 'Go to the editor', key: 'Alt+0', act: () => { if (byId('source').offsetParent === null) results.show('source'); editor.focus() } },
    { label: 'Add a file', act: files.addMenu },
    { label: 'Rename the file', key: 'F2', local: true, act: () => files.rename() },
    { label: 'Remove the file', act: () => files.remove() },
    ...samples.map(sample => ({ label: `Open sample ${sample.name}`, act: () => session.openSample(sample) })),
    { label: 'Start over', act: reset },
    { label: 'Read about all rules', act: () => window.open('./rules.html', '_blank', 'noopener') },
    { label: 'Dark or light', act: toggleTheme },
    { label: 'About, and keys', act: () => aboutDialog(commands, facts()) }
  ]
  const facts = () => `Rules ${findings.rules || 'not loaded'} · operator documents 1.0 · ONNX 1.23, IR 14, opset 28`
  const act = label => commands.find(command => command.label === label).act

  byId('open').addEventListener('click', open)
  byId('save').addEventListener('click', saveBundle)
  byId('share').addEventListener('click', share)
  byId('commands').addEventListener('click', act('Find a command'))
  byId('about').addEventListener('click', act('About, and keys'))
  byId('samples').addEventListener('click', () => openMenu(byId('samples'), [
    ...samples.map(sample => ({ label: sample.name, note: sample.about, act: () => session.openSample(sample) })),
    { label: 'Start over', note: 'throws away what is open', act: reset }
  ]))

  const byKey = new Map(commands.filter(({ key, local }) => key && !local).map(command => [command.key, command.act]))
  addEventListener('keydown', event => {
    if (document.querySelector('dialog[open]')) return
    const control = event.ctrlKey || event.metaKey
    const name = [control && 'Ctrl', event.altKey && 'Alt', event.shiftKey && 'Shift', event.key.length === 1 ? event.key.toUpperCase() : event.key].filter(Boolean).join('+')
    const found = byKey.get(name)
    if (!found) return
    event.preventDefault()
    event.stopPropagation()
    found()
  }, true)

  addEventListener('dragover', event => {
    if (![...event.dataTransfer.types].includes('Files')) return
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  addEventListener('dragleave', event => {
    if (event.relatedTarget === null) document.body.classList.remove('dropping')
  })
  addEventListener('drop', async event => {
    document.body.classList.remove('dropping')
    if (![...event.dataTransfer.types].includes('Files')) return
    event.preventDefault()
    const entries = await droppedFiles(event.dataTransfer).catch(error => notice('open', `The drop could not be read: ${error.message}`, { kind: 'error' }))
    if (entries) await session.openEntries(entries)
  }, true)
}
