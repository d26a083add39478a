import { createHash } from 'node:crypto'
import { closeSync, openSync, realpathSync, renameSync, statSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { plainInteger } from '../evidence-form.js'
import { reportFormats } from './formats.js'
import { CommandError } from './options.js'

const colors = { error: 31, warning: 33, info: 36, good: 32, dim: 2, bold: 1 }

/** Where results go: each --format in turn, text on standard output when none is given. */
export class Output {
  /** `reports`: the command has a report in the other formats. */
  constructor(options, reports = false) {
    const formats = options.format ?? [{ name: 'text', file: null }]
    this.quiet = options.quiet === true
    this.texts = formats.filter(({ name }) => name === 'text').map(({ file }) => ({ file, lines: [] }))
    this.jsons = formats.filter(({ name }) => name === 'json')
    this.reports = formats.filter(({ name }) => Object.hasOwn(reportFormats, name))
    if (this.reports.length > 0 && !reports) throw new CommandError(`--format ${this.reports[0].name}: only check, test and diff have it`)
    if (formats.filter(({ file }) => file === null).length > 1) throw new CommandError('--format: only one format can go to standard output')
    this.terminal = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === ''
    this.progressShown = false
  }

  get wantsText() {
    return this.texts.length > 0
  }

  /** Lines are functions of `paint(color, text)`, as only a terminal gets colours. */
  line(make) {
    this.#clearProgress()
    for (const text of this.texts) {
      const paint = text.file === null && this.terminal ? (color, content) => `\x1b[${colors[color]}m${content}\x1b[0m` : (_, content) => content
      const content = typeof make === 'string' ? make : make(paint)
      if (text.file === null) process.stdout.write(`${content}\n`)
      else text.lines.push(content)
    }
  }

  summary(make) {
    if (!this.quiet) this.line(make)
  }

  json(value) {
    const text = `${JSON.stringify(value, (_, item) => typeof item === 'bigint' ? plainInteger(item) : item, 2)}\n`
    for (const { file } of this.jsons) writeTo(file, text)
  }

  get wantsJson() {
    return this.jsons.some(({ file }) => file === null)
  }

  get wantsReport() {
    return this.reports.length > 0
  }

  /** The report in every other format that was asked for (formats.js says what it is). */
  report(report) {
    for (const { name, file } of this.reports) writeTo(file, reportFormats[name](report))
  }

  problem(message) {
    this.#clearProgress()
    process.stderr.write(`opspec: ${message}\n`)
  }

  progress(text) {
    if (this.quiet || process.stderr.isTTY !== true) return
    process.stderr.write(`\r\x1b[K${text}`)
    this.progressShown = true
  }

  #clearProgress() {
    if (!this.progressShown) return
    process.stderr.write('\r\x1b[K')
    this.progressShown = false
  }

  flush() {
    this.#clearProgress()
    for (const { file, lines } of this.texts) {
      if (file !== null) writeFile(file, lines.length === 0 ? '' : `${lines.join('\n')}\n`)
    }
  }
}

function writeTo(file, text) {
  if (file === null) process.stdout.write(text)
  else writeFile(file, text)
}

/** Writes a file, or throws a CommandError. */
export function writeFile(file, text) {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${error.message}`)
  }
}

const statOf = path => statSync(path, { throwIfNoEntry: false })
const wait = new Int32Array(new SharedArrayBuffer(4))

/** What is written piece by piece: standard output for '-', or a file, which takes its name when all of it is there. */
export class Target {
  bytes = 0
  #path
  #part = null
  #descriptor = 1
  #hash = createHash('sha256')

  constructor(path) {
    this.#path = path
    if (path === '-') return
    this.#try(() => {
      const stat = statOf(path)
      if (stat !== undefined) this.#path = realpathSync(path)
      // A device or a pipe cannot be put in place.
      if (stat === undefined || stat.isFile()) this.#part = `${this.#path}.${process.pid}.part`
      this.#descriptor = openSync(this.#part ?? this.#path, 'w')
    })
  }

  #try(job) {
    try {
      return job()
    } catch (error) {
      throw new CommandError(`${this.#path === '-' ? 'standard output' : this.#path} cannot be written: ${error.message}`)
    }
  }

  write(bytes) {
    this.#hash.update(bytes)
    this.bytes += bytes.length
    this.#try(() => {
      for (let at = 0; at < bytes.length;) {
        try {
          at += writeSync(this.#descriptor, bytes, at)
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error
          Atomics.wait(wait, 0, 0, 2) // a pipe that is full
        }
      }
    })
  }

  /** Answers the digest of what was written. */
  end() {
    this.#try(() => {
      if (this.#path !== '-') closeSync(this.#descriptor)
      this.#descriptor = null
      if (this.#part !== null) renameSync(this.#part, this.#path)
    })
    return this.#hash.digest('hex')
  }

  /** Leaves nothing behind of what has not come to its end. */
  drop() {
    if (this.#descriptor === null || this.#path === '-') return
    closeSync(this.#descriptor)
    if (this.#part !== null) unlinkSync(this.#part)
  }
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`

// ---- Findings -----------------------------------------------------------------------------------------------------

const MOST_COLUMNS = 100

// The line around a column, cut to what a terminal shows, and where the column then is.
function excerpt(text, { line, column }) {
  const source = text.split(/\r\n|\n|\r/)[line - 1]
  if (source === undefined) return null
  const points = [...source.replaceAll('\t', ' ')]
  const start = Math.max(0, column - 1 - MOST_COLUMNS / 2)
  const shown = points.slice(start, start + MOST_COLUMNS).join('').trimEnd()
  return { shown: `${start > 0 ? '...' : ''}${shown}${start + MOST_COLUMNS < points.length ? '...' : ''}`, at: column - 1 - start + (start > 0 ? 3 : 0) }
}

function caretLength({ start, end }, room) {
  return start.line === end.line ? Math.max(1, Math.min(end.column - start.column, room)) : 1
}

function placeOf(finding, path) {
  const file = finding.file ? joinPath(path, finding.file) : path
  if (finding.range !== undefined) return `${file}:${finding.range.start.line}:${finding.range.start.column}`
  if (finding.path) return `${file}: ${finding.path}`
  return finding.bytes !== undefined ? `${file}: byte ${finding.bytes[0]}` : file
}

export const joinPath = (folder, name) => folder.endsWith('/') ? folder + name : `${folder}/${name}`

/** place severity message [rule], the line with a caret, related places, the fix. `textOf(file)` answers a file's text. */
export function printFinding(output, finding, path, textOf) {
  output.line(paint => `${paint('bold', placeOf(finding, path))}: ${paint(finding.severity, finding.severity)}: ${finding.message} ${paint('dim', `[${finding.rule}]`)}`)
  const text = finding.range === undefined ? null : textOf(finding.file ?? '')
  const found = text === null ? null : excerpt(text, finding.range.start)
  if (found !== null) {
    output.line(paint => `  ${paint('dim', '|')} ${found.shown}`)
    output.line(paint => `  ${paint('dim', '|')} ${' '.repeat(found.at)}${paint(finding.severity, '^'.repeat(caretLength(finding.range, Math.max(1, found.shown.length - found.at))))}`)
  }
  for (const related of finding.related) output.line(paint => `  ${paint('dim', 'see')} ${placeOf(related, path)}: ${related.message}`)
  if (finding.fix !== undefined) output.line(paint => `  ${paint('good', 'fix')}: ${finding.fix.title}`)
}
