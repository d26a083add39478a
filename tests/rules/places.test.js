// Places mean the same characters however they are counted: code points, UTF-16, bytes, regions of SARIF, columns of GitHub's
// annotations. The command says the same findings in the same order as the package.
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import { Env } from '../../wasm/js/env.js'
import { createEnv } from '../../wasm/js/index.js'
import { corpus, filesBelow } from '../support/corpora.js'
import { cases, evidence, spec } from './cases.js'
import { writings } from './writings.js'

const cli = new URL('../../wasm/js/cli.js', import.meta.url).pathname
const command = args => new Promise(resolve => execFile(process.execPath, [cli, ...args], { maxBuffer: 1 << 28, timeout: 300_000 }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr })))

const decode = bytes => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

// Offset in UTF-16 of a line and column. The package's columns are code points of the text; those of others are UTF-16 units,
// and a byte-order mark is in none of them.
function offsetOf(text, line, column, inCodePoints) {
  let start = !inCodePoints && text.startsWith('\uFEFF') ? 1 : 0
  for (const end = /\r\n|\r|\n/g; line > 1; line--) {
    end.lastIndex = start
    start = end.exec(text).index
    start += text.startsWith('\r\n', start) ? 2 : 1
  }
  if (!inCodePoints) return start + column - 1
  for (; column > 1; column--) start += text.codePointAt(start) > 0xffff ? 2 : 1
  return start
}

const sliceOf = (text, [fromLine, fromColumn], [toLine, toColumn], inCodePoints) => text.slice(offsetOf(text, fromLine, fromColumn, inCodePoints), offsetOf(text, toLine, toColumn, inCodePoints))

describe('places', () => {
  let env, home
  before(async () => {
    env = await createEnv()
    home = mkdtempSync(join(tmpdir(), 'opspec-places-'))
  })
  after(() => {
    env.dispose()
    rmSync(home, { recursive: true, force: true })
  })

  // A text's characters by every count of the package, which have to agree.
  function marked(bytes, text, { start, end }, context) {
    const points = sliceOf(text, [start.line, start.column], [end.line, end.column], true)
    assert.equal(text.slice(start.utf16, end.utf16), points, `${context}: UTF-16`)
    assert.equal(decode(bytes.subarray(start.byte, end.byte)), points, `${context}: bytes`)
    return points
  }

  // Documents with faults, each as a text with its name.
  const { folder, skip } = corpus('spec-documents')
  const own = Object.entries(cases).flatMap(([title, { fires }]) => fires.flatMap(({ text, as }, index) => as === 'spec' ? [[`${title.replace(/\W+/g, '-')}-${index}`, text]] : []))
  const theirs = skip ? [] : filesBelow(join(folder, 'invalid')).filter(name => name.endsWith('.json') && !name.includes('/') && statSync(join(folder, 'invalid', name)).size < 100_000 && !name.includes('latin1'))
    .map(name => [name.replace('.json', ''), decode(readFileSync(join(folder, 'invalid', name)))])
  const documents = [...own, ...theirs, ['evidence', evidence.replace('"shape": [2]', '"description": "😀", "shape": [3]')], ['emoji', spec.replace('"name": "soft-gate",', '"name": "soft-gate", "description": "😀", "more": "é",')]]

  for (const [name, writing] of Object.entries(writings)) {
    it(`are the same characters, ${name}`, async () => {
      const place = join(home, name.replaceAll(' ', '-'))
      mkdirSync(place)
      const wanted = new Map()
      let emoji = 0
      for (const [title, text] of documents) {
        const file = join(place, `${title}.opspec.json`)
        const content = writing(text)
        const bytes = new Uint8Array(Buffer.from(content))
        writeFileSync(file, bytes)
        const { kind } = Env.sniff(env, bytes)
        const { findings } = env.check(bytes, { as: kind })
        const marks = findings.map((finding, index) => {
          const context = `${title}, ${finding.rule}, ${index}`
          if (finding.range !== undefined && /[^\0-\uFFFF]/u.test(content.slice(0, finding.range.start.utf16))) emoji++
          for (const related of finding.related) if (related.range !== undefined && related.file === undefined) marked(bytes, content, related.range, `${context}, related`)
          return finding.range === undefined ? null : marked(bytes, content, finding.range, context)
        })
        wanted.set(file, { findings, marks, content })
      }
      assert.ok(documents.length > 100)
      if (name === 'emoji') assert.ok(emoji > 100, `${emoji} findings behind an emoji`)

      const files = [...wanted.keys()]
      const [sarifFile, githubFile] = [join(home, 'out.sarif'), join(home, 'out.txt')]
      const { stdout } = await command(['check', '--format', 'json', '--format', `sarif:${sarifFile}`, '--format', `github:${githubFile}`, ...files])
      const told = JSON.parse(stdout).files
      assert.deepEqual(told.map(({ path }) => path), files)
      for (const { path, findings } of told) assert.deepEqual(findings, JSON.parse(JSON.stringify(wanted.get(path).findings)), path)

      const all = files.flatMap(file => wanted.get(file).findings.map((finding, index) => ({ file, finding, mark: wanted.get(file).marks[index], text: wanted.get(file).content })))
      const { results } = JSON.parse(readFileSync(sarifFile, 'utf8')).runs[0]
      assert.equal(results.length, all.length)
      results.forEach(({ ruleId, locations }, index) => {
        const { finding, mark, text, file } = all[index]
        assert.equal(ruleId, finding.rule)
        const { region } = locations[0].physicalLocation
        if (mark === null || mark === '\uFEFF') return
        const { startLine, startColumn, endLine, endColumn, byteOffset, byteLength } = region
        assert.equal(sliceOf(text, [startLine, startColumn], [endLine, endColumn], false), mark, `${file}: ${ruleId}`)
        assert.deepEqual([byteOffset, byteLength], [finding.range.start.byte, finding.range.end.byte - finding.range.start.byte])
      })

      const lines = readFileSync(githubFile, 'utf8').trim().split('\n')
      assert.equal(lines.length, all.length)
      lines.forEach((line, index) => {
        const { finding, mark, text, file } = all[index]
        const properties = Object.fromEntries(/^::\w+ (.*?)::/.exec(line)[1].split(',').map(pair => pair.split('=')))
        assert.equal(properties.title, finding.rule)
        if (mark === null || mark === '\uFEFF') return
        assert.equal(Number(properties.line), finding.range.start.line, file)
        if (properties.col !== undefined) assert.equal(sliceOf(text, [properties.line, properties.col].map(Number), [properties.endLine, properties.endColumn].map(Number), false), mark, `${file}: ${finding.rule}`)
        else assert.notEqual(finding.range.start.line, finding.range.end.line)
      })
    })
  }

  it('a registered operator of the same name changes nothing', { skip }, () => {
    const text = decode(readFileSync(join(folder, 'controls', 'standard-celu.json')))
    const registration = env.registerOperator(text)
    assert.deepEqual(env.validateSpec(text).findings, [])
    assert.deepEqual(env.validateSpec(text.replace('"op_type": "Celu"', '"op_type": "Selu"')).findings.map(({ rule }) => rule).filter(rule => rule !== 'spec.operator.standard-mismatch'), [])
    registration.dispose()
  })

  it('the command says of folders what the package says', { skip }, async () => {
    const bundles = ['valid', 'invalid'].flatMap(part => readdirSync(join(folder, part), { withFileTypes: true }).filter(entry => entry.isDirectory()).map(({ name }) => join(folder, part, name)))
    assert.ok(bundles.length >= 22)
    for (const path of bundles) {
      const { stdout } = await command(['check', '--format', 'json', path])
      const { files } = JSON.parse(stdout)
      const wanted = Env.checkFiles(env, new Map(filesBelow(path).map(name => [name, readFileSync(join(path, name))])), {}).findings
      const said = files.flatMap(file => file.findings.map(finding => ({ ...finding, file: join(file.path, finding.file ?? '').slice(path.length + 1) })))
      const inShort = list => JSON.parse(JSON.stringify(list.map(({ rule, file, pointer, range }) => ({ rule, file, pointer, range }))))
      assert.deepEqual(inShort(said), inShort(wanted), path)
    }
  })
})
