// npm test [-- PART-OF-PATH...]: every tests/**/*.test.js with Node's runner, C programs included (tests/c/native.test.js).
// Ends with the counts of passed, skipped (with reasons) and failed tests; exit 1 when one failed or none ran.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run as runTests } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import { build, npmPackages, packageFiles, page, toolchain } from './prepare.js'
import { main, root, TaskError } from './shell.js'

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return testFiles(path)
    return entry.name.endsWith('.test.js') ? [path] : []
  })
}

function summary({ passed, failed, skipped }) {
  const lines = []
  const reasons = new Map()
  for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  for (const [reason, count] of reasons) lines.push(`skipped ${count}: ${reason}`)
  for (const name of failed) lines.push(`failed: ${name}`)
  lines.push(`tests: ${passed} passed, ${skipped.length} skipped, ${failed.length} failed`)
  return lines.join('\n')
}

async function runAll(files) {
  const results = { passed: 0, failed: [], skipped: [] }
  const title = data => `${data.file ? relative(root, data.file) + ': ' : ''}${data.name}`
  const reasonOf = value => typeof value === 'string' && value !== '' ? value : 'no reason given'
  const note = outcome => data => {
    if (data.skip !== undefined) results.skipped.push({ name: data.name, reason: reasonOf(data.skip) })
    else if (data.todo !== undefined) results.skipped.push({ name: data.name, reason: `unfinished: ${reasonOf(data.todo)}` })
    else if (outcome === 'pass' && files.includes(data.name)) results.failed.push(`${relative(root, data.name)}: ran no test`)
    else if (data.details?.type === 'suite') return
    else if (outcome === 'pass') results.passed++
    else results.failed.push(files.includes(data.name) ? `${relative(root, data.name)}: did not end well` : title(data))
  }
  const stream = runTests({ files, concurrency: availableParallelism() })
  stream.on('test:pass', note('pass'))
  stream.on('test:fail', note('fail'))
  const report = stream.compose(new Spec())
  report.pipe(process.stdout)
  await new Promise((resolve, reject) => report.on('end', resolve).on('error', reject))
  return results
}

main(async args => {
  npmPackages()
  toolchain('wasm', 'sources', 'native', 'browser')
  await packageFiles()
  page()
  build('native-san')
  build('wasm-tests')
  const files = testFiles(join(root, 'tests')).sort()
    .filter(path => args.length === 0 || args.some(part => relative(root, path).includes(part)))
  if (files.length === 0) throw new TaskError(`no test file matches ${args.join(', ')}`, 2)
  const results = await runAll(files)
  console.log(summary(results))
  return results.failed.length > 0 || results.passed === 0 ? 1 : 0
})
