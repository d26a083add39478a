// env.format of JSON documents against JavaScript's own numbers, strings and order of keys; digests against Node's.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createEnv, createWorkerEnv, OpspecError } from '../../wasm/js/index.js'
import { sha256 } from '../../wasm/src/sha256.js'
import { customSpec } from '../support/spec.js'

// RFC 8785 by its definition: JSON.stringify of each scalar, keys in Array.prototype.sort's order.
function canonical (value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.keys(value).sort().map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

// Numbers from a seed, so that a failure comes again.
function generator (seed) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const below = n => Math.floor(next() * n)
  const view = new DataView(new ArrayBuffer(8))
  const number = () => {
    view.setUint32(0, below(2 ** 32))
    view.setUint32(4, below(2 ** 32))
    const value = [view.getFloat64(0), below(2000) - 1000, below(1e6) / 1000, 10 ** (below(600) - 300), 2 ** (below(2000) - 1000), (below(2 ** 30) + 1) * 2 ** 23][below(6)]
    return Number.isFinite(value) ? value : 0
  }
  const points = [0, 8, 9, 10, 13, 31, 34, 47, 92, 127, 0x80, 0xe9, 0x2028, 0xd7ff, 0xe000, 0xfb33, 0xffff, 0x10000, 0x1f602, 0x10ffff]
  const string = () => Array.from({ length: below(6) }, () => String.fromCodePoint(below(2) ? points[below(points.length)] : 97 + below(4))).join('')
  const value = depth => {
    const kind = below(depth > 3 ? 4 : 6)
    if (kind < 2) return number()
    if (kind === 2) return string()
    if (kind === 3) return [true, false, null][below(3)]
    if (kind === 4) return Array.from({ length: below(6) }, () => value(depth + 1))
    return Object.fromEntries(Array.from({ length: below(20) }, () => [`k${string()}`, value(depth + 1)]))
  }
  return value
}

describe('format', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  const refusal = (document, as, form) => {
    try {
      env.format(document, as, form)
    } catch (error) {
      assert.ok(error instanceof OpspecError)
      return error
    }
    return assert.fail('was taken')
  }

  it('canonical: as the definition has it', () => {
    const value = generator(5)
    for (let i = 0; i < 400; i++) {
      const document = value(0)
      const text = env.format(JSON.stringify(document, null, i % 3), 'json', 'canonical')
      assert.equal(text, canonical(document))
      assert.equal(env.format(text, 'json', 'canonical'), text)
    }
  })
  it('canonical: numbers however they are written', () => {
    for (const text of ['-0', '1.0', '1e3', '100e-2', '0.1', '1e21', '123456789012345680000', '1e-6', '1e-7', '9007199254740993', '5e-324', '2.4703282292062328e-324', '1.7976931348623157e308', '1e-400', '0.30000000000000004', '4.35', '333333333.33333329']) {
      assert.equal(env.format(text, 'json', 'canonical'), JSON.stringify(JSON.parse(text)), text)
    }
  })
  it('canonical: a byte-order mark is skipped', () => assert.equal(env.format('\ufeff [ 1 ]', 'json', 'canonical'), '[1]'))
  it('canonical: what has no such form is a finding', () => {
    const table = [
      ['{ "a": 1, "b": { "a": 1, "a": 1 } }', 'json.duplicate-key'], ['["\\ud83d"]', 'json.surrogate'], ['[1, 1e400]', 'json.number-range'], ['[-1e309]', 'json.number-range'],
      ['[1,]', 'json.syntax'], [Uint8Array.of(0x22, 0xff, 0x22), 'json.encoding'], ['\ufeff{ "a": 1, "a": 2 }', 'json.duplicate-key'], [`${'['.repeat(1001)}${']'.repeat(1001)}`, 'json.depth']
    ]
    for (const [document, rule] of table) {
      const { code, findings, message } = refusal(document, 'json', 'canonical')
      assert.equal(code, 'malformed')
      const finding = findings.find(({ severity }) => severity === 'error')
      assert.deepEqual([finding.rule, finding.message], [rule, message])
      assert.ok(finding.range.start.line === 1)
    }
    const [{ range, pointer }] = refusal('["\u{1f600}",\n 1e400]', 'json', 'canonical').findings
    assert.deepEqual([range.start.line, range.start.column, pointer], [2, 2, '/1'])
  })
  it('json: indented, numbers and order as written', () => {
    assert.equal(env.format('{"b":[9007199254740993,1e400,-0],"a":{},"c":[]}', 'json', 'json'), '{\n  "b": [\n    9007199254740993,\n    1e400,\n    -0\n  ],\n  "a": {},\n  "c": []\n}')
  })
  it('summary: a spec in a few lines, with the digest of its canonical form', () => {
    const spec = customSpec({ domain: 'org.test', opType: 'Mine', inputs: ['a', 'b'], tests: ['x.json'] })
    const digest = createHash('sha256').update(canonical(JSON.parse(spec))).digest('hex')
    assert.equal(env.format(spec, 'spec', 'summary'), `org.test.Mine: mine 1\n(a, b) -> (Y)\n0 attributes, 1 tests\ncanonical sha256 ${digest}`)
    assert.equal(env.format(JSON.stringify(JSON.parse(spec), null, 4), 'spec', 'summary').slice(-64), digest)
  })
  it('refuses what is no kind or form', () => {
    assert.equal(refusal('{}', 'json', 'yaml').code, 'invalid_argument')
    assert.equal(refusal(5, 'json', 'json').code, 'invalid_argument')
    assert.equal(refusal('{}', 'json', 'textproto').code, 'unsupported')
    assert.equal(refusal(new Uint8Array(0), 'TensorProto', 'canonical').code, 'unsupported')
  })
  it('in a worker', async () => {
    const worker = await createWorkerEnv()
    try {
      assert.equal(await worker.format('{ "b": 1, "a": 2.0 }', 'json', 'canonical'), '{"a":2,"b":1}')
    } finally {
      await worker.dispose()
    }
  })
})

describe('sha256', () => {
  it('is that of Node at every length of the last block', () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = randomBytes(length)
      assert.equal(sha256(bytes), createHash('sha256').update(bytes).digest('hex'), String(length))
    }
    assert.equal(sha256('\u00e4\u{1f600}'), createHash('sha256').update('\u00e4\u{1f600}').digest('hex'))
  })
})
