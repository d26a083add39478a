import { dirname } from 'node:path'
import { exitCode, openEnv, packageVersion } from './engine.js'
import { CommandError } from './options.js'
import { joinPath, plural } from './output.js'
import { bundleFiles, jsonRole, pathKind, readPath, walk } from './paths.js'

// opspec test: evidence of bundles and data sets in ONNX's layout.

// What a path means: [{ path, bundle() -> files or bytes }].
function unitsOf(path) {
  if (pathKind(path) === 'folder') {
    return walk(path).found.flatMap(({ path: inner, kind, data }) => {
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

function printTest(output, test) {
  const [color, word] = marks[test.status]
  output.line(paint => `${paint(color, word.padEnd(8))}${test.path}${test.message === undefined ? '' : `: ${test.message}`}`)
  for (const finding of test.findings ?? []) {
    if (finding.message === test.message) continue
    output.line(paint => `        ${paint(finding.severity, finding.severity)}: ${finding.message} ${paint('dim', `[${finding.rule}]`)}`)
  }
}

const inside = (unit, path) => path === '' || path === unit ? unit : joinPath(unit, path.replace(/\/$/, ''))

async function runUnit(env, unit, options) {
  const { tests } = await env.test(unit.read(), { ...options.timeout !== undefined && { timeoutMs: options.timeout } })
  return tests.map(test => ({
    ...test,
    path: inside(unit.path, test.path),
    ...test.findings !== undefined && { findings: test.findings.map(finding => finding.file ? { ...finding, file: inside(unit.path, finding.file) } : finding) }
  }))
}

export async function test({ options, positionals, output }) {
  if (positionals.length === 0) throw new CommandError('test: which bundles or folders?')
  const env = await openEnv(options)
  const tests = []
  let impossible = false
  const cannot = message => {
    impossible = true
    output.problem(message)
  }
  for (const path of positionals) {
    try {
      const units = unitsOf(path)
      if (units.length === 0 && options['allow-empty'] !== true) cannot(`${path}: no bundle and no data set is in there; --allow-empty accepts that`)
      for (const unit of units) {
        output.progress(unit.path)
        const results = await runUnit(env, unit, options)
        if (results.length === 0 && unit.optional !== true && options['allow-empty'] !== true) cannot(`${unit.path}: there is no evidence to run`)
        for (const result of results) {
          printTest(output, result)
          tests.push(result)
        }
      }
    } catch (error) {
      if (!(error instanceof CommandError) && error.code === undefined) throw error
      cannot(error instanceof CommandError ? error.message : `${path}: ${error.message}`)
    }
  }
  env.dispose()
  return finish(tests, impossible, options, output)
}

function finish(tests, impossible, options, output) {
  const summary = { passed: 0, failed: 0, skipped: 0, errors: 0 }
  for (const { status } of tests) summary[status === 'error' ? 'errors' : status]++
  const executed = summary.passed + summary.failed + summary.errors > 0
  if (!executed && !impossible && options['allow-empty'] !== true) {
    impossible = true
    output.problem('nothing was executed')
  }
  output.json({ version: packageVersion(), tests, summary })
  const bad = summary.failed > 0 || summary.errors > 0
  output.summary(paint => paint(bad || impossible ? 'error' : 'good',
    `${plural(tests.length, 'test')}: ${summary.passed} passed, ${summary.failed} failed${summary.errors > 0 ? `, ${plural(summary.errors, 'error')}` : ''}${summary.skipped > 0 ? `, ${summary.skipped} skipped` : ''}`))
  return exitCode({ impossible, bad })
}
