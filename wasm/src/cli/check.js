import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { bytesView } from '../bytes.js'
import { Env } from '../env.js'
import { normalFiles } from '../files.js'
import { readZip } from '../node-zip.js'
import { exitCode, openEnv, packageVersion } from './engine.js'
import { fixOnce } from './fix.js'
import { CommandError } from './options.js'
import { joinPath, plural, printFinding } from './output.js'
import { bundleFiles, filesBeside, isLarge, jsonRole, openPath, pathKind, readPath, sha256, walk } from './paths.js'
import { Locator } from './places.js'
import { checkText, failedReport, textOf } from './text-file.js'

// opspec check: everything that was named or lies in named folders, looked at without running any of it.

const decoder = new TextDecoder()
const ROUNDS = 8 // a fix may uncover what could not be seen before

class Check {
  constructor({ options, output }, env) {
    this.options = options
    this.output = output
    this.env = env
    this.files = []
    this.units = [] // of reports in other formats
    this.problems = []
    this.impossible = false
    this.skipped = 0
    this.ignored = 0
    this.fixed = 0
    this.given = { strict: options.strict === true, full: options['no-infer'] !== true, ...options.timeout !== undefined && { timeoutMs: options.timeout } }
  }

  cannot(path, message) {
    this.impossible = true
    this.output.problem(message)
    if (path === null) this.problems.push(message)
    else {
      this.units.push({ path, name: path, group: 'unknown', status: 'error', message, incomplete: [message], findings: [] })
      this.files.push({ path, kind: 'unknown', sha256: null, bytes: 0, ok: false, complete: false, incomplete: [message], findings: [] })
    }
  }

  problem(message) {
    this.output.problem(message)
    this.problems.push(message)
  }

  // ---- What to look at ------------------------------------------------------------------------------------------

  // Jobs of one argument: { path, read() -> { bytes, hash, size, check() -> report, textOf(file), specs } }
  jobsOf(path) {
    try {
      if (pathKind(path) === 'file') return [{ path, named: true }]
      const { found, skipped } = walk(path)
      this.skipped += skipped
      const jobs = found.filter(({ kind }) => kind !== 'data').map(({ path: inner, kind, problem }) => ({ path: inner, named: false, bundle: kind === 'bundle', root: path, problem }))
      if (jobs.length === 0 && this.options['allow-empty'] !== true) {
        this.cannot(null, `${path}: nothing to check is in there${skipped > 0 ? ` (${plural(skipped, '.json file')} of no kind of ours)` : ''}; --allow-empty accepts that`)
      }
      return jobs
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.cannot(path, error.message)
      return []
    }
  }

  load(job) {
    try {
      if (job.problem !== undefined) throw job.problem
      return job.bundle ? loadBundle(job.path) : loadFile(job.path)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.cannot(job.path, error.message)
      return null
    }
  }

  /** Operators that documents of the same command define are known when models are checked. */
  declare(texts) {
    for (const text of texts) {
      try {
        this.env.registerOperator(text)
      } catch {
        // A faulty document is reported where it stands; of two for one operator the first counts.
      }
    }
  }

  /** Findings of a bundle about another one below the same folder that defines its operator. */
  conflicts(ready) {
    for (const root of new Set(ready.map(({ item }) => item.root))) {
      const bundles = ready.filter(({ item }) => item.bundle && item.root === root)
      if (bundles.length < 2) continue
      const files = new Map()
      const owners = new Map()
      for (const ready of bundles) {
        for (const [name, bytes] of ready.again?.files ?? []) {
          if (!name.endsWith('.json') || jsonRole(name, bytes) !== 'spec') continue
          const path = joinPath(ready.item.path, name)
          files.set(path, bytes)
          owners.set(path, { ready, name })
        }
      }
      for (const finding of Env.checkFiles(this.env, files, { strict: this.given.strict }).findings) {
        if (finding.rule !== 'spec.bundle.conflict') continue
        const { ready, name } = owners.get(finding.file)
        const elsewhere = finding.related.every(({ file }) => owners.get(file).ready !== ready)
        if (elsewhere) (ready.conflicts ??= []).push({ ...finding, file: name, related: finding.related.map(item => ({ ...item, file: relative(ready.item.path, item.file) })) })
      }
    }
  }

  // ---- Looking --------------------------------------------------------------------------------------------------

  async look(job, loaded) {
    try {
      if (loaded.large) return await this.lookOutside(job)
      const text = loaded.files === undefined && loaded.role === undefined ? textOf(this.env, job.path, loaded.bytes, this.options.as) : null
      if (text !== null) return checkText(this.env, loaded.bytes, text, { ...this.given, files: loaded.beside })
      const report = loaded.files !== undefined
        ? Env.checkFiles(this.env, loaded.files, this.given)
        : this.env.check(loaded.bytes, { ...this.given, as: this.options.as ?? loaded.role, files: loaded.beside })
      return loaded.meets?.large ? await this.lookOutside(job) : report
    } catch (error) {
      if (error.code === undefined) throw error
      this.cannot(job.path, `${job.path}: ${error.message}`)
      return null
    }
  }

  // A document that is not read as a whole, or whose data lies in a file that is not.
  async lookOutside(job) {
    const { as = '' } = this.options
    const { file } = openPath(job.path)
    const files = normalFiles(filesBeside(job.path))
    let document = null
    try {
      document = await Env.openDocument(this.env, file, files, as)
      return document.check(this.given)
    } catch (error) {
      const { code, findings = [] } = error
      if (code !== 'malformed' && code !== 'limit') throw error
      return failedReport(error, findings.some(({ rule }) => rule === 'onnx.document.kind') ? 'unknown' : 'model')
    } finally {
      document?.dispose()
      file.close()
    }
  }

  /** Fixes until there is nothing left that is safe to fix. Answers what is there now: { loaded, report, fixed }. */
  async repair(job, loaded, report) {
    let fixed = 0
    if (this.options.fix !== true || report === null) return { loaded, report, fixed }
    const archived = loaded.files === undefined && (loaded.archive || loaded.large)
    if ((archived || job.path === '-') && report.findings.some(({ fix }) => fix?.safe)) this.problem(`${job.path}: not fixed: --fix writes files and folders only`)
    if (archived || job.path === '-') return { loaded, report, fixed }
    for (let round = 0; round < ROUNDS && report !== null; round++) {
      const count = fixOnce(job.path, loaded, report.findings)
      if (count === 0) break
      fixed += count
      loaded = this.load(job)
      report = loaded === null ? null : await this.look(job, loaded)
    }
    this.fixed += fixed
    return { loaded, report, fixed }
  }

  report(job, loaded, report, fixed) {
    if (this.options.as === undefined && isOfNoKind(report)) {
      if (this.options['ignore-unknown'] === true) {
        // What calls itself a model was meant to be looked at.
        if (!/\.onnx$/i.test(job.path)) {
          this.ignored++
          return
        }
      } else if (job.named) {
        this.impossible = true
        this.problem(`${job.path}: of no kind that can be checked; --as says what it is${report.kind === 'json' ? ' (json for the syntax alone)' : ''}, --ignore-unknown skips such files`)
      }
    }
    const { kind, ok, complete, incomplete, findings } = report
    this.files.push({ path: job.path, kind, sha256: loaded.hash, bytes: loaded.size, ok, complete, incomplete, findings, ...this.options.fix === true && { fixed } })
    for (const finding of findings) printFinding(this.output, finding, job.path, loaded.textOf)
    for (const reason of incomplete) this.output.line(paint => `${paint('bold', job.path)}: ${paint('warning', 'incomplete')}: ${reason}`)
    if (this.output.wantsReport) this.units.push(this.unitOf(job.path, loaded, report))
  }

  unitOf(path, { size, hash, bytesOf }, { kind, complete, incomplete, findings }) {
    const locator = new Locator(bytesOf)
    const whole = item => ({ ...item, file: item.file ? joinPath(path, item.file) : path })
    const located = findings.map(finding => {
      const found = whole(locator.locate(finding))
      if (found.fix !== undefined) for (const edit of found.fix.edits) edit.file = edit.file ? joinPath(path, edit.file) : path
      return { ...found, related: found.related.map(whole), fails: this.fails(finding.severity) }
    })
    const cut = !complete && this.options['fail-on'] !== 'never'
    const status = cut || located.some(({ fails }) => fails) ? 'failed' : 'passed'
    return { path, name: path, group: kind, status, incomplete, findings: located, kind, sha256: hash, bytes: size }
  }

  fails(severity) {
    const level = this.options['fail-on'] ?? 'error'
    return level !== 'never' && (severity === 'error' || (level === 'warning' && severity === 'warning'))
  }

  summary() {
    const sum = key => this.files.reduce((total, { findings }) => total + findings.filter(({ severity }) => severity === key).length, 0)
    const { length } = this.files
    const incomplete = this.files.filter(({ complete }) => !complete).length
    return { files: length, errors: sum('error'), warnings: sum('warning'), infos: sum('info'), incomplete }
  }

  bad(summary) {
    const level = this.options['fail-on'] ?? 'error'
    if (level === 'never') return false
    return summary.errors > 0 || summary.incomplete > 0 || (level === 'warning' && summary.warnings > 0)
  }
}

// Nobody can say what it is. A fault that was found in it, or where it ends, is another matter.
function isOfNoKind({ kind, complete, findings }) {
  if (kind === 'json') return !findings.some(({ severity }) => severity === 'error')
  return kind === 'unknown' && complete && findings.some(({ rule }) => rule === 'onnx.document.kind')
}

// A report with findings of another one, in order.
function withMore(report, more) {
  if (report === null || more === undefined) return report
  const key = ({ file = '', range }) => [file, range?.start.byte ?? -1]
  const order = (a, b) => {
    const [[fileA, byteA], [fileB, byteB]] = [key(a), key(b)]
    return fileA === fileB ? byteA - byteB : fileA < fileB ? -1 : 1
  }
  return { ...report, ok: report.ok && !more.some(({ severity }) => severity === 'error'), findings: [...report.findings, ...more].sort(order) }
}

function loadBundle(path) {
  const files = bundleFiles(path)
  const hash = createHash('sha256')
  let size = 0
  for (const [name, bytes] of files) {
    hash.update(`${name}\0${bytes.length}\0`).update(bytes)
    size += bytes.length
  }
  const specs = [...files].filter(([name, bytes]) => name.endsWith('.json') && jsonRole(name, bytes) === 'spec').map(([, bytes]) => decoder.decode(bytes))
  return { files, size, hash: hash.digest('hex'), specs, textOf: file => files.has(file) ? decoder.decode(files.get(file)) : null, bytesOf: file => files.get(file) ?? null }
}

function loadLarge(path) {
  const { file, hash } = openPath(path)
  file.close()
  return { large: true, size: file.size, hash, specs: [], textOf: () => null, bytesOf: () => null }
}

function loadFile(path) {
  if (isLarge(path)) return loadLarge(path)
  const bytes = readPath(path)
  const base = { bytes, size: bytes.length, hash: sha256(bytes) }
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)) {
    const files = zipFiles(bytes)
    const specs = [...files].filter(([name, content]) => name.endsWith('.json') && jsonRole(name, content) === 'spec').map(([, content]) => decoder.decode(content))
    return { ...base, archive: true, specs, textOf: file => files.has(file) ? decoder.decode(files.get(file)) : null, bytesOf: file => files.get(file) ?? null }
  }
  const text = () => decoder.decode(bytes)
  const meets = { large: false }
  const beside = filesBeside(path, () => { meets.large = true })
  const bytesOf = file => file === '' ? bytes : bytesView(beside(file), 'file')
  const textOf = file => {
    const found = bytesOf(file)
    return found === null ? null : decoder.decode(found)
  }
  // A document that is named by itself is looked at by itself; its folder is looked at as a bundle.
  const role = jsonRole(path, bytes)
  // A document by its name or its kind is one, whatever else is wrong with it.
  return { ...base, role: role ?? undefined, specs: role === 'spec' ? [text()] : [], beside: role === null ? beside : undefined, meets, textOf, bytesOf }
}

// For the texts that findings show; what is wrong with the archive the check says.
function zipFiles(bytes) {
  try {
    return readZip(bytes)
  } catch {
    return new Map()
  }
}

export async function check({ options, positionals, output }) {
  if (positionals.length === 0) throw new CommandError('check: which files or folders?')
  const env = await openEnv(options)
  const job = new Check({ options, output }, env)
  const jobs = [...new Map(positionals.flatMap(path => job.jobsOf(path)).map(item => [item.path, item])).values()]
  const ready = []
  for (const item of jobs) {
    const loaded = job.load(item)
    if (loaded === null) continue
    job.declare(loaded.specs)
    // Only what is needed later stays in memory.
    ready.push({ item, again: loaded.specs.length > 0 || loaded.large || item.path === '-' ? loaded : null })
  }
  job.conflicts(ready)
  for (const [index, { item, again, conflicts }] of ready.entries()) {
    output.progress(`${index + 1}/${ready.length} ${item.path}`)
    const loaded = again ?? job.load(item)
    const done = loaded === null ? null : await job.repair(item, loaded, await job.look(item, loaded))
    if (done !== null && done.report !== null) job.report(item, done.loaded, withMore(done.report, conflicts), done.fixed)
  }
  return finish(job, env, output)
}

function finish(job, env, output) {
  const summary = job.summary()
  const { rules } = env.check('null', { as: 'json' })
  output.json({ version: packageVersion(), rules, files: job.files, summary })
  output.report({ command: 'check', version: packageVersion(), units: job.units, problems: job.problems, possible: !job.impossible, explain: rule => env.explain(rule) })
  env.dispose()
  output.summary(paint => {
    const counts = [plural(summary.errors, 'error'), plural(summary.warnings, 'warning'), ...summary.infos > 0 ? [plural(summary.infos, 'hint')] : []]
    const more = [job.fixed > 0 && `${job.fixed} ${job.fixed === 1 ? 'fix' : 'fixes'} applied`, summary.incomplete > 0 && `${summary.incomplete} incomplete`, job.skipped > 0 && `${plural(job.skipped, 'other .json file')} skipped`, job.ignored > 0 && `${job.ignored} of unknown kind ignored`]
    return paint(job.bad(summary) || job.impossible ? 'error' : 'good', `${plural(summary.files, 'file')} checked: ${counts.join(', ')}`) + more.filter(Boolean).map(text => `, ${text}`).join('')
  })
  return exitCode({ impossible: job.impossible, bad: job.bad(summary) })
}
