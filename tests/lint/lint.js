// The project's own rules and the formatters, over every file that git knows or would take.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { functionFindings } from './functions.js'
import { includeFindings } from './includes.js'
import { textFindings } from './text.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

// Files as { path, text }: path relative to the checkout with forward slashes, text null when it is binary.
function listFiles() {
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
  return [...new Set(names.split('\0'))].filter(path => path && existsSync(join(root, path))).sort().map(path => {
    const bytes = readFileSync(join(root, path))
    return { path, text: bytes.includes(0) ? null : bytes.toString('utf8') }
  })
}

// One line a file: the formatter mends it, so the places do not matter.
function formatC(files, fix) {
  const paths = files.filter(({ path }) => /\.[ch]$/.test(path)).map(({ path }) => path)
  const args = fix ? ['-i'] : ['--dry-run', '-Werror']
  const result = spawnSync('clang-format-19', [...args, ...paths], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (result.error) throw result.error
  const places = new Map()
  for (const [, path, line] of result.stderr.matchAll(/^(\S+?):(\d+):\d+: error: /gm)) {
    if (!places.has(path)) places.set(path, line)
  }
  for (const [path, line] of places) console.log(`${path}:${line}: not as clang-format writes it (npm run lint -- --fix)`)
  if (result.status !== 0 && places.size === 0) process.stderr.write(result.stderr)
  return result.status === 0
}

function eslint(fix) {
  const program = join(root, 'node_modules/eslint/bin/eslint.js')
  return spawnSync(process.execPath, [program, ...fix ? ['--fix'] : [], '.'], { cwd: root, stdio: 'inherit' }).status === 0
}

function checkShell(files) {
  return files.filter(({ text }) => text?.startsWith('#!/usr/bin/env bash'))
    .every(({ path }) => spawnSync('bash', ['-n', path], { cwd: root, stdio: 'inherit' }).status === 0)
}

// Resolves to the exit code. `fix` formats in place what the formatters can.
export async function lint({ fix = false } = {}) {
  let files = listFiles()
  const passed = [formatC(files, fix), eslint(fix), checkShell(files)]
  if (fix) files = listFiles()
  const texts = files.filter(({ text }) => text !== null)
  const findings = [...textFindings(texts), ...includeFindings(texts), ...functionFindings(texts)]
  for (const { path, line, message } of findings) console.log(`${path}:${line}: ${message}`)
  console.log(`lint: ${files.length} files, ${findings.length} findings of our own rules`)
  return findings.length > 0 || passed.includes(false) ? 1 : 0
}
