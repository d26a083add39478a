// The tabs of the bundle's files: choosing, adding, renaming, removing.
import { documentName, nameProblem, roleOf, templates, withTests } from './bundle.js'
import { ask, confirm, openMenu } from './dialogs.js'
import { byId, bytesText, h, plural, whenReleased } from './dom.js'

export function startFileTabs({ workspace, editor, findings }, { fillTabs }) {
  const tabs = byId('file-tabs')

  // Keeps the document's list of tests in step with the files.
  function changeTests(change) {
    const document = documentName(workspace.files)
    const before = workspace.text(document)
    const after = before && withTests(before, change)
    if (after && after !== before) workspace.replace(document, after)
  }

  async function rename(name = workspace.active) {
    const to = await ask({ title: `Rename ${name}`, label: 'Name', value: name, yes: 'Rename', problem: text => text === name ? null : nameProblem(text, workspace.files) })
    if (to !== null && to !== name) {
      changeTests(names => names.map(test => test === name || `${test}.json` === name ? to : test))
      workspace.rename(name, to)
      workspace.show(to)
    }
    editor.focus()
  }

  async function remove(name = workspace.active) {
    if (await confirm({ title: `Remove ${name}?`, text: 'The file leaves the bundle, and its undo history with it.', yes: 'Remove', danger: true })) {
      if (name !== documentName(workspace.files)) changeTests(names => names.filter(test => test !== name && `${test}.json` !== name))
      workspace.remove(name)
    }
  }

  async function add(kind) {
    const free = stem => [stem, ...Array.from({ length: 99 }, (_, index) => stem.replace('.', `-${index + 2}.`))].find(name => !workspace.names.includes(name))
    const value = { evidence: free('case.json'), kernel: 'kernel.js', other: free('notes.md') }[kind]
    const name = await ask({ title: kind === 'evidence' ? 'New evidence' : 'New file', label: 'Name', value, yes: 'Add', problem: text => nameProblem(text, workspace.files) })
    if (name === null) return
    if (kind === 'evidence') changeTests(names => [...names, name])
    workspace.add(name, templates[kind] ?? '')
    editor.focus()
  }

  function addMenu() {
    const kernel = workspace.names.some(name => /^kernel\.m?js$/.test(name))
    openMenu(byId('add-file'), [
      { label: 'Evidence', note: 'inputs and the outputs they must give', act: () => add('evidence') },
      ...kernel ? [] : [{ label: 'Kernel', note: 'kernel.js, what the operator computes', act: () => add('kernel') }],
      { label: 'Another file', act: () => add('other') }
    ])
  }

  function draw() {
    const counts = Map.groupBy?.(findings.list, ({ file }) => file) ?? new Map()
    fillTabs(tabs, workspace.names.map(name => {
      const here = counts.get(name) ?? []
      const worst = ['error', 'warning'].find(severity => here.some(finding => finding.severity === severity))
      return { id: name, label: name.replace(/\.opspec\.json$/, ''), title: `${name} (${roleOf(name, workspace.text(name))})`, badge: worst ? here.filter(({ severity }) => severity === worst).length : null, state: worst }
    }), workspace.active, name => {
      workspace.show(name)
    })
    showBinary()
  }

  // A file that is not text has no editor, only a line that says what it is.
  function showBinary() {
    const bytes = workspace.active === null ? null : workspace.bytes(workspace.active)
    const host = byId('editor')
    host.parentElement.querySelector('.empty')?.remove()
    host.hidden = bytes !== null || workspace.active === null
    if (bytes) host.after(h('p', { class: 'empty' }, `${workspace.active} is not text: ${bytesText(bytes.length)}. It goes along with the bundle as it is.`))
    if (workspace.active === null) host.after(h('p', { class: 'empty' }, `The bundle has ${plural(0, 'file')}. Add one with +, open a sample, or drop files here.`))
  }

  tabs.addEventListener('dblclick', event => {
    const name = event.target.closest('[role="tab"]')?.dataset.id
    if (name) rename(name)
  })
  tabs.addEventListener('keydown', event => {
    const name = event.target.closest('[role="tab"]')?.dataset.id
    if (event.key === 'F2' && name) rename(name)
    else if (event.key === 'Delete' && name) remove(name)
    else if (event.key === 'Enter' || event.key === 'ArrowDown') editor.focus()
    else return
    event.preventDefault()
  })
  tabs.addEventListener('contextmenu', event => {
    const tab = event.target.closest('[role="tab"]')
    if (!tab) return
    event.preventDefault()
    const { id } = tab.dataset
    openMenu(tab, [{ label: 'Rename', note: 'F2', act: () => rename(id) }, { label: 'Remove', note: 'Delete', act: () => remove(id) }])
  })
  byId('add-file').addEventListener('click', addMenu)
  for (const type of ['open', 'files', 'active']) workspace.addEventListener(type, draw)
  findings.addEventListener('checked', () => whenReleased(draw))
  return { rename, remove, addMenu }
}
