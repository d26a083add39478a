import { dirname } from 'node:path'
import { checkBackend } from '../evidence.js'
import { readZip } from '../node-zip.js'
import { exitCode, openEnv, packageVersion } from './engine.js'
import { CommandError } from './options.js'
import { joinPath, plural } from './output.js'
import { bundleFiles, jsonRole, pathKind, readPath, walk } from './paths.js'
import { Locator } from './places.js'

// opspec test: evidence of bundles and data sets in ONNX's layout.

/** Reads the value of --backend. */
export function backend(text) {
  try {
    return checkBackend(text)
  } catch (error) {
    throw new CommandError(`--backend ${text}: ${error.message.replace(/^backend: /, '')}`)
  }
}

// What a path means: [{ path, bundle() -> files or bytes }].
function unitsOf(path) {
  if (pathKind(path) === 'folder') {
    return walk(path).found.flatMap(({ path: inner, kind, data, problem }) => {
      if (problem !== undefined) throw problem
      if (kind === 'bundle' || kind === 'data') return [{ path: inner, read: () => bundleFiles(inner) }]
      return inner.endsWith('.zip') && data !== true ? [{ path: inner, read: () => readPath(inner), optional: true }] : []
    })
  }
  const bytes = readPath(path)
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return [{ path, read: () => bytes }]
  if (path !== '-' && jsonRole(path, bytes) === 'spec') return [{ path: dirname(path), read: () => bundleFiles(dirname(path)) }]
  throw new CommandError(`${path} is neither a bundle nor a folder of data sets`)
}

const marks = { passed: ['good', 'ok'], failed: ['error', 'FAILED'], skipped: ['warning', 'skipped'], error: ['error', 'ERROR'] }

function printTest(output, test, backend = 'auto') {
  const by = backend === 'auto' ? '' : ` (${test.backend})`
  const [color, word] = marks[test.status]
  output.line(paint => `${paint(color, word.padEnd(8))}${test.path}${by}${test.message === undefined ? '' : `: ${test.message}`}`)
  if (test.refused !== undefined) output.line(paint => `        ${paint('warning', 'refused')}: the kernel reached for ${test.refused.join(', ')}`)
  for (const finding of test.findings ?? []) {
    if (finding.message === test.message) continue
    output.line(paint => `        ${paint(finding.severity, finding.severity)}: ${finding.message} ${paint('dim', `[${finding.rule}]`)}`)
  }
}

const inside = (unit, path) => path === '' || path === unit ? unit : joinPath(unit, path.replace(/\/$/, ''))

const withFile = (unit, item) => item.file ? { ...item, file: inside(unit.path, item.file) } : item

// Tests with whole paths; `locate`: with the regions that reports in other formats show.
async function runUnit(env, unit, options, locate) {
  const bundle = unit.read()
  const { tests } = await env.test(bundle, { backend: options.backend, ...options.timeout !== undefined && { timeoutMs: options.timeout } })
  const locator = locate ? new Locator(contentOf(bundle)) : null
  return tests.map(test => ({
    test: {
      ...test,
      path: inside(unit.path, test.path),
      ...test.findings !== undefined && { findings: test.findings.map(finding => withFile(unit, finding)) }
    },
    reported: locate ? reportedTest(unit, test, locator) : null
  }))
}

function contentOf(bundle) {
  if (bundle instanceof Map) return file => bundle.get(file) ?? null
  let files = null
  return file => {
    try {
      files ??= readZip(bundle)
    } catch {
      files = new Map() // what is wrong with it the test says
    }
    return files.get(file) ?? null
  }
}

function reportedTest(unit, { path, name, status, message, findings = [], ms }, locator) {
  const whole = inside(unit.path, path)
  const located = findings.map(finding => {
    const { related, ...rest } = locator.locate(finding)
    return { ...withFile(unit, { ...rest, file: rest.file || path }), related: related.map(item => withFile(unit, { ...item, file: item.file || path })), fails: rest.severity === 'error' }
  })
  return { path: whole, name, group: unit.path, status, message, incomplete: [], findings: located, ms }
}

export async function test({ options, positionals, output }) {
  if (positionals.length === 0) throw new CommandError('test: which bundles or folders?')
  const env = await openEnv(options)
  const tests = []
  const reports = []
  const problems = []
  const cannot = message => {
    problems.push(message)
    output.problem(message)
  }
  for (const path of positionals) {
    try {
      const units = unitsOf(path)
      if (units.length === 0 && options['allow-empty'] !== true) cannot(`${path}: no bundle and no data set is in there; --allow-empty accepts that`)
      for (const unit of units) {
        output.progress(unit.path)
        const results = await runUnit(env, unit, options, output.wantsReport)
        if (results.length === 0 && unit.optional !== true && options['allow-empty'] !== true) cannot(`${unit.path}: there is no evidence to run`)
        for (const { test: result, reported } of results) {
          printTest(output, result, options.backend)
          tests.push(result)
          if (reported !== null) reports.push(reported)
        }
      }
    } catch (error) {
      if (!(error instanceof CommandError) && error.code === undefined) throw error
      cannot(error instanceof CommandError ? error.message : `${path}: ${error.message}`)
    }
  }
  const code = finish({ tests, units: reports, problems, options, output, env })
  env.dispose()
  return code
}

function finish({ tests, units, problems, options, output, env }) {
  const summary = { passed: 0, failed: 0, skipped: 0, errors: 0 }
  for (const { status } of tests) summary[status === 'error' ? 'errors' : status]++
  const executed = summary.passed + summary.failed + summary.errors > 0
  if (!executed && problems.length === 0 && options['allow-empty'] !== true) {
    problems.push('nothing was executed')
    output.problem('nothing was executed')
  }
  const impossible = problems.length > 0
  output.json({ version: packageVersion(), tests, summary })
  output.report({ command: 'test', version: packageVersion(), units, problems, possible: !impossible, explain: rule => env.explain(rule) })
  const bad = summary.failed > 0 || summary.errors > 0
  const fails = bad && options['fail-on'] !== 'never'
  output.summary(paint => paint(bad || impossible ? 'error' : 'good',
    `${plural(tests.length, 'test')}: ${summary.passed} passed, ${summary.failed} failed${summary.errors > 0 ? `, ${plural(summary.errors, 'error')}` : ''}${summary.skipped > 0 ? `, ${summary.skipped} skipped` : ''}`))
  return exitCode({ impossible, bad: fails })
}
