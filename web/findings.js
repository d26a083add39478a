// The findings about the open bundle: one list, in the order of the package, kept fresh while a person types.
import { applyFixes } from 'opspec'
import { documentName } from './bundle.js'

const delay = 180
const slow = 1500
const longest = 20000

async function examine(engine, files) {
  const main = documentName(files)
  if (main !== null) {
    const others = new Map([...files].filter(([name]) => name !== main))
    const report = await engine.call('validateSpec', files.get(main), { files: others, timeoutMs: longest })
    return { main, reports: [[main, report]] }
  }
  const reports = []
  for (const [name, content] of files) {
    if (name.endsWith('.json')) reports.push([name, await engine.call('check', content, { timeoutMs: longest })])
  }
  return { main, reports }
}

const startOf = finding => finding.range?.start.utf16 ?? -1

// Events: 'checking', 'checked', 'paused'. `list`: [{ ...finding, file }].
export class Findings extends EventTarget {
  #engine
  #workspace
  #timer = 0
  #turn = 0
  list = []
  counts = { error: 0, warning: 0, info: 0 }
  incomplete = []
  rules = ''
  ms = 0
  paused = false
  problem = null

  constructor(engine, workspace) {
    super()
    this.#engine = engine
    this.#workspace = workspace
    for (const type of ['open', 'files', 'edit']) workspace.addEventListener(type, () => this.#schedule(type))
  }

  #schedule(type) {
    clearTimeout(this.#timer)
    if (type === 'open') this.paused = false
    if (this.paused) return this.dispatchEvent(new Event('paused'))
    this.#timer = setTimeout(() => this.check(), type === 'edit' ? delay : 0)
  }

  async check() {
    clearTimeout(this.#timer)
    const turn = ++this.#turn
    const { names, files } = this.#workspace
    this.dispatchEvent(new Event('checking'))
    let started = performance.now()
    let outcome
    try {
      await this.#engine.start()
      started = performance.now()
      outcome = await examine(this.#engine, files)
      this.problem = null
    } catch (error) {
      if (turn !== this.#turn) return
      this.problem = error
      outcome = { reports: [] }
    }
    if (turn !== this.#turn) return
    this.ms = performance.now() - started
    this.paused = this.ms > slow
    this.#take(outcome.reports, names)
    this.dispatchEvent(new Event('checked'))
  }

  #take(reports, names) {
    this.list = reports.flatMap(([name, report]) => report.findings.map(finding => ({ ...finding, file: finding.file ?? name })))
    this.counts = { error: 0, warning: 0, info: 0 }
    for (const { severity } of this.list) this.counts[severity]++
    this.incomplete = reports.flatMap(([, report]) => report.complete ? [] : report.incomplete)
    this.rules = reports[0]?.[1].rules ?? this.rules
    for (const name of names) this.#workspace.diagnose(name, this.#diagnostics(name))
  }

  #diagnostics(name) {
    const length = this.#workspace.text(name)?.length ?? 0
    return this.list.filter(finding => finding.file === name && finding.range).map(finding => {
      const from = Math.min(finding.range.start.utf16, length)
      const to = Math.min(Math.max(finding.range.end.utf16, from), length)
      const actions = finding.fix ? [{ name: finding.fix.title || 'Fix', apply: () => this.fix(finding) }] : []
      return { from, to, severity: finding.severity, message: finding.message, source: finding.rule, actions }
    })
  }

  // The finding at a place of a file: the one whose range holds it, else the first on the lines around it.
  at(file, offset, line) {
    const here = this.list.filter(finding => finding.file === file && finding.range)
    const holds = ({ range }) => range.start.utf16 <= offset && offset <= range.end.utf16
    return here.filter(finding => finding.fix).find(holds) ?? here.find(({ fix, range }) => fix && range.start.line === line) ?? here.find(holds) ?? null
  }

  // The next one (step 1) or the one before (-1), seen from a place.
  next(file, offset, step) {
    const names = this.#workspace.names
    const key = (name, at) => (names.indexOf(name) + 1 || names.length + 1) * 2 ** 32 + at
    const here = key(file, offset)
    const placed = this.list.filter(finding => finding.range)
    const keys = placed.map(finding => key(finding.file, startOf(finding)))
    if (step > 0) return placed[keys.findIndex(value => value > here)] ?? placed[0] ?? null
    return placed[keys.findLastIndex(value => value < here)] ?? placed.at(-1) ?? null
  }

  // Applies the fixes of findings to their files. Returns how many were applied.
  fix(...findings) {
    const byFile = new Map()
    for (const finding of findings.filter(({ fix }) => fix)) {
      for (const edit of finding.fix.edits) {
        const file = edit.file ?? finding.file
        if (!byFile.has(file)) byFile.set(file, new Map())
        const ofFile = byFile.get(file)
        if (!ofFile.has(finding)) ofFile.set(finding, { ...finding, fix: { ...finding.fix, edits: [] } })
        ofFile.get(finding).fix.edits.push({ ...edit, file: undefined })
      }
    }
    let applied = 0
    for (const [file, ofFile] of byFile) {
      const before = this.#workspace.text(file)
      if (before === null) continue
      const result = applyFixes(before, [...ofFile.values()])
      if (result.content !== before) this.#workspace.replace(file, result.content)
      applied += result.applied
    }
    return applied
  }
}
