// What is open when the page starts, autosave, and opening something else without losing what is there.
import { hasDocument, sortFiles } from './files.js'
import { dismiss, notice } from './notices.js'
import { samples } from './samples.js'
import { unpackLink } from './share.js'
import { forget, keep, load } from './storage.js'

const pause = 400

export function startSession({ workspace, findings, evidence, model, plugins }, results) {
  let timer = 0
  let saving = true

  const record = () => ({ files: [...workspace.saved], active: workspace.active, label: workspace.label, origin: workspace.origin })

  async function save() {
    try {
      await keep('bundle', record())
    } catch (error) {
      if (saving) notice('autosave', `Autosave is off: this browser keeps nothing for the page (${error?.name ?? 'no storage'}). Save the bundle before you leave.`, { kind: 'warning' })
      saving = false
    }
  }

  function schedule() {
    clearTimeout(timer)
    timer = setTimeout(save, pause)
  }

  // Another bundle takes the place of the open one, which stays at hand until the next one is opened.
  async function open(files, options) {
    const before = workspace.names.length > 0 && workspace.touched ? record() : null
    workspace.open(files, options)
    if (before) {
      await keep('previous', before).catch(() => {})
      notice('previous', `${before.label || 'What you had open'} was put aside.`, { actions: [{ label: 'Bring it back', act: restorePrevious }] })
    }
    save()
  }

  async function restorePrevious() {
    const previous = await load('previous').catch(() => null)
    if (previous) await open(new Map(previous.files), previous)
  }

  function openSample(sample) {
    const files = new Map(sample.files)
    open(files, { origin: 'sample', label: sample.name })
    results.show('evidence')
    evidence.run()
  }

  async function openEntries(entries) {
    if (entries.length === 0) return
    let sorted
    try {
      sorted = await sortFiles(entries)
    } catch (error) {
      notice('open', `${entries[0][0]} could not be read: ${error.message}`, { kind: 'error' })
      return
    }
    dismiss('open')
    if (sorted.plugin) {
      results.show('model')
      await plugins.bring(sorted.plugin.name, sorted.plugin.bytes)
      results.focus(`load ${plugins.list.at(-1).number}`)
      return
    }
    if (sorted.document) {
      dismiss('intro')
      results.show('model')
      await model.open(sorted.document.name, sorted.document.file, sorted.document.files)
      return
    }
    if (sorted.bundle.size === 0) return notice('open', 'There is no file in it that belongs to a bundle.', { kind: 'warning' })
    if (hasDocument(sorted.bundle) || workspace.names.length === 0) {
      await open(sorted.bundle, { origin: 'file', label: sorted.label.replace(/\.zip$|\.opspec\.json$|\.json$/, '') })
      results.show('findings')
      return
    }
    for (const [name, content] of sorted.bundle) {
      if (workspace.names.includes(name)) workspace.remove(name)
      workspace.add(name, content)
    }
  }

  // Opens the bundle in the address, if there is one; says whether it did.
  async function openShared() {
    try {
      const shared = await unpackLink(location.hash)
      if (shared === null) return false
      history.replaceState(null, '', location.pathname + location.search)
      const kept = workspace.names.length > 0 ? record() : await load('bundle').catch(() => null)
      if (kept) await keep('previous', kept).catch(() => {})
      workspace.open(shared.files, { origin: 'shared', label: 'shared bundle', active: shared.active })
      results.show('findings')
      notice('shared', 'Somebody shared this bundle. Its kernel runs only when you press Run.', kept ? { actions: [{ label: 'Back to my own', act: restorePrevious }] } : {})
      schedule()
      return true
    } catch (error) {
      notice('shared', `The link could not be read: ${error.message}. It may have been cut.`, { kind: 'error' })
      return false
    }
  }

  async function begin() {
    if (await openShared()) return
    const kept = await load('bundle').catch(() => null)
    if (kept?.files?.length > 0) {
      workspace.open(new Map(kept.files), kept)
      results.show('findings')
    } else {
      notice('intro', 'This is a sample: an operator’s document, its kernel and its evidence, with what is wrong with them and whether the kernel does what it says. Change something.')
      openSample(samples[0])
    }
  }

  async function reset() {
    clearTimeout(timer)
    await forget('bundle').catch(() => {})
    await forget('previous').catch(() => {})
    workspace.touched = false
    openSample(samples[0])
  }

  addEventListener('hashchange', openShared)
  workspace.addEventListener('open', () => { workspace.touched = false })
  for (const type of ['edit', 'files']) {
    workspace.addEventListener(type, () => {
      workspace.touched = true
      dismiss('intro')
      schedule()
    })
  }
  workspace.addEventListener('active', schedule)
  addEventListener('pagehide', () => { if (workspace.touched) save() })
  findings.addEventListener('checked', () => { if (findings.problem) results.show('findings') })

  return { begin, openSample, openEntries, reset }
}
