// --format sarif, junit, github: their grammars, and that all of them mark the same characters.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { github } from '../../wasm/src/cli/github.js'
import { junit } from '../../wasm/src/cli/junit.js'
import { sarif } from '../../wasm/src/cli/sarif.js'
import * as onnx from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

const cli = fileURLToPath(new URL('../../wasm/js/cli.js', import.meta.url))
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const levels = { error: 'error', warning: 'warning', info: 'note' }
const words = { error: 'error', warning: 'warning', info: 'notice' }

// Documents whose fault stands behind what readers count differently.
const broken = (before, line) => `${before}{${line}\t"\u00e4\u{1f600}\u20ac": [1, 2],${line}\t"x\u{1f600}": 1, "x\u{1f600}": 2,, "c": 3${line}}${line}`
const documents = {
  'lf.opspec.json': broken('', '\n'),
  'crlf.opspec.json': broken('', '\r\n'),
  'cr.opspec.json': broken('', '\r'),
  'bom.opspec.json': broken('\ufeff', '\r\n'),
  'bom-line.opspec.json': '\ufeff{ "\u{1f600}": 1,, }',
  'long.opspec.json': `{ "a": "${'\u{1f600}\u00e9'.repeat(3000)}",\n${'\n'.repeat(5000)}\t"b\u{1f600}": 1,, }`
}

const floats = (...data) => ({ type: 'tensor(float)', shape: [data.length], data })
const evidence = (input, output) => JSON.stringify({ kind: 'opspec.evidence', version: '1', inputs: [floats(...input)], outputs: [floats(...output)] })
const kernel = 'export default { compute: ([x]) => [{ type: x.type, dims: x.dims, data: x.data.map(v => v > 0 ? v : 0) }] }'
const mine = tests => customSpec({ domain: 'org.test', opType: 'Mine', tests })
const twice = onnx.model({ inputs: [onnx.value('x', 'float32', ['N'])], outputs: [onnx.value('y', 'float32', ['N'])], nodes: [onnx.node('Relu', ['x'], ['y']), onnx.node('Relu', ['x'], ['y'])] })

// ---- Readers of the formats, as strict as their grammars -----------------------------------------------------------

// Elements of a well-formed XML text: { name, attributes, children, text }.
function readXml (text) {
  assert.match(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/)
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/)
  assert.ok(text.isWellFormed?.() ?? true)
  const root = { children: [], text: '' }
  const stack = [root]
  const plain = source => {
    assert.doesNotMatch(source, /&(?!(amp|lt|gt|quot|#\d+);)/)
    return source.replace(/&(amp|lt|gt|quot|#\d+);/g, (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? String.fromCharCode(Number(name.slice(1))))
  }
  for (const [, close, name, list, single, words] of text.slice(text.indexOf('\n') + 1).matchAll(/<(\/)?([\w-]+)((?: [\w-]+="[^"<]*")*)(\/)?>|([^<]+|<)/g)) {
    const top = stack[stack.length - 1]
    if (words !== undefined) {
      assert.notEqual(words, '<', 'an unescaped <')
      top.text += plain(words)
    } else if (close) assert.equal(stack.pop().name, name)
    else {
      const element = { name, attributes: Object.fromEntries([...list.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, plain(value)])), children: [], text: '' }
      top.children.push(element)
      if (!single) stack.push(element)
    }
  }
  assert.equal(stack.length, 1)
  return root.children[0]
}

function readCommands (text) {
  assert.ok(text === '' || text.endsWith('\n'))
  const plain = source => source.replace(/%(25|0D|0A|3A|2C)/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
  return text.split('\n').slice(0, -1).map(line => {
    const match = /^::(error|warning|notice)(?: ([^:]*))?::(.*)$/.exec(line)
    assert.ok(match, line)
    const properties = Object.fromEntries((match[2] ?? '').split(',').filter(Boolean).map(item => [item.slice(0, item.indexOf('=')), plain(item.slice(item.indexOf('=') + 1))]))
    return { word: match[1], ...properties, message: plain(match[3]) }
  })
}

// What SARIF 2.1.0 asks of the parts that are written.
function readSarif (text) {
  const log = JSON.parse(text)
  assert.equal(log.version, '2.1.0')
  assert.equal(log.runs.length, 1)
  const [run] = log.runs
  assert.equal(run.columnKind, 'utf16CodeUnits')
  const { rules } = run.tool.driver
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length)
  for (const { shortDescription, help } of rules) assert.ok(shortDescription.text !== '' && help.text.includes('Good:'))
  const locations = run.results.flatMap(({ locations, relatedLocations = [] }) => [...locations, ...relatedLocations])
  for (const { physicalLocation: { artifactLocation: { uri }, region } } of locations) {
    assert.match(uri, /^[\w.~!*'()%/:-]+$/)
    if (region === undefined) continue
    for (const [key, value] of Object.entries(region)) assert.ok(Number.isSafeInteger(value) && value >= (/Line|Column/.test(key) ? 1 : 0), key)
    if (region.startLine !== undefined) assert.ok(region.endLine > region.startLine || region.endColumn >= region.startColumn)
  }
  for (const result of run.results) {
    assert.equal(rules[result.ruleIndex].id, result.ruleId)
    assert.ok(['error', 'warning', 'note'].includes(result.level) && result.message.text !== '')
  }
  return run
}

// The characters of a region, found by lines and columns alone.
function markedBy (text, { startLine, startColumn, endLine, endColumn }) {
  const lines = text.replace(/^\ufeff/, '').split(/(?<=\r\n|\r(?!\n)|\n)/)
  const before = line => lines.slice(0, line - 1).join('').length
  return lines.join('').slice(before(startLine) + startColumn - 1, before(endLine) + endColumn - 1)
}

describe('reports for other programs', () => {
  let folder
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-formats-'))
    const put = (name, content) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    for (const [name, text] of Object.entries(documents)) put(`places/${name}`, text)
    put('twice.onnx', twice)
    put('odd, 100%: n\u00e4me/twice.onnx', twice)
    const bundle = { 'mine.json': mine(['a.json', 'b.json']), 'a.json': evidence([-1, 2], [0, 2]), 'b.json': evidence([-1, 2], [0, 3]), 'kernel.js': kernel }
    for (const [name, content] of Object.entries(bundle)) put(`failing/${name}`, content)
    put('failing.zip', zip(bundle))
    put('endless/mine.json', mine(['a.json']))
    put('endless/a.json', evidence([-1], [0]))
    put('endless/kernel.js', 'export default { compute () { for (;;); } }')
    put('double.json', '{ "a": 1, "a": 2 }')
  })
  after(() => rmSync(folder, { recursive: true }))

  function opspec (args, env = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: folder, env: { ...process.env, GITHUB_WORKSPACE: '', ...env }, encoding: 'utf8' })
    return { code: status, stdout, stderr }
  }

  it('SARIF, annotations, JUnit and findings mark the same characters', () => {
    const { stdout, code } = opspec(['check', ...Object.keys(documents).map(name => `places/${name}`), '--format', 'json', '--format', 'sarif:o.sarif', '--format', 'github:o.txt', '--format', 'junit:o.xml'])
    assert.equal(code, 1)
    const run = readSarif(readFileSync(join(folder, 'o.sarif'), 'utf8'))
    const annotations = readCommands(readFileSync(join(folder, 'o.txt'), 'utf8'))
    const cases = readXml(readFileSync(join(folder, 'o.xml'), 'utf8')).children[0].children
    const { files } = JSON.parse(stdout)
    assert.equal(files.length, Object.keys(documents).length)
    assert.deepEqual(cases.map(({ attributes }) => attributes.name), files.map(({ path }) => path))
    let at = 0
    for (const { path, findings } of files) {
      const bytes = readFileSync(join(folder, path))
      const text = decoder.decode(bytes)
      assert.ok(findings.some(({ rule }) => rule === 'json.syntax'))
      for (const { rule, severity, range: { start, end } } of findings) {
        const result = run.results[at]
        const annotation = annotations[at++]
        const { artifactLocation, region } = result.locations[0].physicalLocation
        assert.deepEqual([result.ruleId, result.level, artifactLocation.uri], [rule, levels[severity], path])
        assert.deepEqual([annotation.title, annotation.word, annotation.file], [rule, words[severity], path])
        const marked = text.slice(start.utf16, end.utf16)
        assert.equal(decoder.decode(bytes.subarray(region.byteOffset, region.byteOffset + region.byteLength)), marked)
        assert.equal(markedBy(text, region), marked.replace('\ufeff', ''), `${path} ${rule}`)
        assert.deepEqual([annotation.line, annotation.endLine].map(Number), [region.startLine, region.endLine])
        assert.deepEqual([annotation.col, annotation.endColumn].map(Number), [region.startColumn, region.endColumn])
      }
    }
    assert.equal(at, run.results.length)
  })
  it('fixes are replacements at the same bytes', () => {
    const { stdout } = opspec(['check', 'places/bom-line.opspec.json', '--format', 'sarif'])
    const fixes = readSarif(stdout).results.flatMap(({ fixes = [] }) => fixes)
    const [{ artifactChanges: [{ replacements: [{ deletedRegion, insertedContent }] }] }] = fixes
    assert.deepEqual([deletedRegion.byteOffset, deletedRegion.byteLength, insertedContent], [0, 3, { text: '' }])
  })
  it('places in protobufs have a name', () => {
    const { stdout } = opspec(['check', 'twice.onnx', '--format', 'sarif'])
    const [{ locations, relatedLocations }] = readSarif(stdout).results
    assert.equal(locations[0].logicalLocations[0].fullyQualifiedName, 'graph.node[1].output[0]')
    assert.equal(relatedLocations[0].logicalLocations[0].fullyQualifiedName, 'graph.node[0].output[0]')
    assert.match(readCommands(opspec(['check', 'twice.onnx', '--format', 'github']).stdout)[0].message, /^graph\.node\[1\]\.output\[0\]: /)
  })
  it('names of files are escaped', () => {
    const path = 'odd, 100%: n\u00e4me/twice.onnx'
    const [{ locations }] = readSarif(opspec(['check', path, '--format', 'sarif']).stdout).results
    assert.equal(decodeURIComponent(locations[0].physicalLocation.artifactLocation.uri), path)
    assert.equal(readCommands(opspec(['check', path, '--format', 'github']).stdout)[0].file, path)
    assert.equal(readXml(opspec(['check', path, '--format', 'junit']).stdout).children[0].children[0].attributes.name, path)
  })
  it('in a workflow paths are those of the repository', () => {
    const { stdout } = opspec(['check', join(folder, 'twice.onnx'), '--format', 'github'], { GITHUB_WORKSPACE: dirname(folder) })
    assert.equal(readCommands(stdout)[0].file, `${folder.slice(dirname(folder).length + 1)}/twice.onnx`)
  })
  it('what could not be done is told', () => {
    const args = ['check', 'nowhere', 'twice.onnx', '--format']
    const run = readSarif(opspec([...args, 'sarif']).stdout)
    assert.equal(run.invocations[0].executionSuccessful, false)
    assert.match(run.invocations[0].toolExecutionNotifications[0].message.text, /nowhere/)
    assert.match(readCommands(opspec([...args, 'github']).stdout)[0].message, /nowhere/)
    const { attributes, children } = readXml(opspec([...args, 'junit']).stdout)
    assert.deepEqual([attributes.tests, attributes.failures, attributes.errors], ['2', '1', '1'])
    assert.match(children[0].children[0].children[0].attributes.message, /nowhere/)
  })
  it('JUnit fails what --fail-on says', () => {
    for (const [level, failures] of [['error', '0'], ['warning', '1'], ['never', '0']]) {
      const { stdout, code } = opspec(['check', 'double.json', '--as', 'json', '--format', 'junit', '--fail-on', level])
      const { attributes } = readXml(stdout)
      assert.deepEqual([attributes.failures, code], [failures, Number(failures)])
      assert.match(stdout, /json\.duplicate-key/)
    }
  })
  for (const path of ['failing', 'failing.zip']) {
    it(`test: ${path}`, () => {
      const { code, stdout } = opspec(['test', path, '--format', 'junit', '--format', 'sarif:t.sarif', '--format', 'github:t.txt'])
      assert.equal(code, 1)
      const { attributes, children: [{ children: [good, bad] }] } = readXml(stdout)
      assert.deepEqual([attributes.tests, attributes.failures, attributes.errors], ['2', '1', '0'])
      assert.deepEqual([good.attributes.name, good.attributes.classname, good.children], ['a.json', path, []])
      assert.deepEqual([bad.attributes.name, bad.children[0].name, bad.children[0].attributes.type], ['b.json', 'failure', 'evidence.value'])
      const { results } = readSarif(readFileSync(join(folder, 't.sarif'), 'utf8'))
      assert.deepEqual(results.map(({ ruleId, locations }) => [ruleId, locations[0].physicalLocation.artifactLocation.uri]), [['evidence.value', `${path}/b.json`]])
      assert.deepEqual(readCommands(readFileSync(join(folder, 't.txt'), 'utf8')).map(({ word, file, title }) => [word, file, title]), [['error', `${path}/b.json`, 'evidence.value']])
    })
  }
  it('test: a test that ends without a finding', () => {
    const { stdout } = opspec(['test', 'endless', '--timeout', '300ms', '--format', 'sarif', '--format', 'junit:e.xml', '--format', 'github:e.txt'])
    assert.deepEqual(readSarif(stdout).results.map(({ level }) => level), ['error'])
    assert.equal(readXml(readFileSync(join(folder, 'e.xml'), 'utf8')).attributes.errors, '1')
    assert.match(readCommands(readFileSync(join(folder, 'e.txt'), 'utf8'))[0].message, /time limit/)
  })
  it('diff: changes at their places in the second document', () => {
    const before = JSON.stringify(JSON.parse(mine(['one'])), null, 2)
    const after = `\ufeff${before.replaceAll('"description": "', '"description": "\u{1f600}\\"]}\\\\').replace('"op_type": "Mine"', '"op_type": "\u00e4\u{1f600}"').replaceAll('\n', '\r\n')}`
    writeFileSync(join(folder, 'before.opspec.json'), before)
    writeFileSync(join(folder, 'after.opspec.json'), after)
    const { code, stdout, stderr } = opspec(['diff', 'before.opspec.json', 'after.opspec.json', '--format', 'sarif', '--format', 'junit:d.xml', '--format', 'github:d.txt'])
    assert.equal(code, 1, stderr)
    const [{ ruleId, locations }] = readSarif(stdout).results
    const { startLine, startColumn, endColumn, byteOffset, byteLength } = locations[0].physicalLocation.region
    assert.equal(ruleId, 'diff.operator.identity')
    assert.equal(after.slice(1).split('\r\n')[startLine - 1].slice(startColumn - 1, endColumn - 1), '"\u00e4\u{1f600}"')
    assert.equal(Buffer.from(after).subarray(byteOffset, byteOffset + byteLength).toString(), '"\u00e4\u{1f600}"')
    assert.equal(readXml(readFileSync(join(folder, 'd.xml'), 'utf8')).attributes.failures, '1')
    assert.deepEqual(readCommands(readFileSync(join(folder, 'd.txt'), 'utf8')).filter(({ word }) => word === 'error').map(({ line, title }) => [Number(line), title]), [[startLine, ruleId]])
  })
  it('only check, test and diff have them', () => {
    const { code, stderr } = opspec(['ops', '--format', 'sarif'])
    assert.equal(code, 2)
    assert.match(stderr, /only check, test and diff/)
    assert.equal(opspec(['check', 'twice.onnx', '--format', 'xml']).code, 2)
  })
})

describe('escapes', () => {
  const odd = 'a\u0000\u001b[1m"<&>\'%0A\r\n\t, b: \ufffe\ud83d \u{1f600}]]>'
  const finding = { rule: 'x.y', severity: 'error', message: odd, file: odd, related: [], fails: true }
  const report = { command: 'check', version: '1.0.0', problems: [odd], possible: false, explain: rule => ({ rule, severity: 'error', title: odd, why: odd, good: odd, bad: odd, source: odd }), units: [{ path: odd, name: odd, group: 'spec', status: 'failed', incomplete: [odd], findings: [finding] }] }

  it('XML shows what it cannot hold', () => {
    const shown = odd.replace('\u0000', '\\u0000').replace('\u001b', '\\u001b').replace('\ufffe', '\\ufffe').replace('\ud83d ', '\\ud83d ')
    const [{ attributes, children }, problem] = readXml(junit(report)).children[0].children
    assert.equal(attributes.name, shown)
    assert.equal(children[0].attributes.message, shown)
    assert.ok(children[0].text.includes(shown))
    assert.equal(problem.children[0].attributes.message, shown)
  })
  it('workflow commands stay one line each', () => {
    const commands = readCommands(github(report))
    assert.equal(commands.length, 3)
    assert.deepEqual([commands[1].message, commands[1].file, commands[1].title], [odd, odd, 'x.y'])
  })
  it('a SARIF log is JSON in UTF-8', () => {
    const text = sarif(report)
    assert.equal(new TextDecoder().decode(new TextEncoder().encode(text)), text)
    assert.equal(JSON.parse(text).runs[0].results[0].message.text, odd)
  })
})
