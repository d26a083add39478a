// applyFixes: edits of texts and binaries, overlaps, what is left.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { applyFixes, createEnv, OpspecError } from '../../wasm/js/index.js'

const finding = (...edits) => ({ rule: 'x', fix: { title: 't', safe: true, edits } })
const edit = (byteStart, byteEnd, text) => ({ byteStart, byteEnd, text })

describe('applyFixes', () => {
  it('replaces, inserts and removes in UTF-8 bytes', () => {
    const { content, applied, left } = applyFixes('aö€z', [finding(edit(1, 3, 'oe')), finding(edit(6, 6, '!')), finding(edit(6, 7, ''))])
    assert.equal(content, 'aoe€!')
    assert.deepEqual([applied, left], [3, 0])
  })
  it('takes the first of overlapping fixes', () => {
    const { content, applied, left } = applyFixes('abcdef', [finding(edit(1, 4, 'X')), finding(edit(0, 2, 'Y')), finding(edit(4, 5, 'Z'))])
    assert.equal(content, 'aXZf')
    assert.deepEqual([applied, left], [2, 1])
  })
  it('applies a fix as a whole or not at all', () => {
    const { content, left } = applyFixes('abcdef', [finding(edit(2, 3, '-')), finding(edit(0, 1, 'A'), edit(2, 4, 'B'))])
    assert.equal(content, 'ab-def')
    assert.equal(left, 1)
  })
  it('keeps the order of two insertions at one place: the first only', () => {
    assert.equal(applyFixes('ab', [finding(edit(1, 1, '1')), finding(edit(1, 1, '2'))]).content, 'a1b')
  })
  it('works on bytes', () => {
    const source = Uint8Array.of(1, 2, 3, 4)
    const { content } = applyFixes(source, [{ fix: { title: '', safe: true, edits: [{ byteStart: 1, byteEnd: 3, bytes: Uint8Array.of(9, 9, 9) }] } }])
    assert.deepEqual(content, Uint8Array.of(1, 9, 9, 9, 4))
    assert.deepEqual(source, Uint8Array.of(1, 2, 3, 4))
  })
  it('leaves alone what is for another file or lies outside', () => {
    const { content, left } = applyFixes('ab', [finding({ ...edit(0, 1, 'x'), file: 'other.json' }), finding(edit(1, 9, 'x'))])
    assert.equal(content, 'ab')
    assert.equal(left, 2)
  })
  it('ignores findings without a fix', () => {
    assert.deepEqual(applyFixes('ab', [{ rule: 'x' }]), { content: 'ab', applied: 0, left: 0 })
  })
  it('keeps a byte-order mark', () => {
    assert.equal(applyFixes('\uFEFFab', [finding(edit(3, 4, 'x'))]).content, '\uFEFFxb')
  })
  it('names the argument that is wrong', () => {
    assert.throws(() => applyFixes(5, []), error => error instanceof OpspecError && error.message.startsWith('content'))
    assert.throws(() => applyFixes('', null), error => error instanceof OpspecError && error.message.startsWith('findings'))
  })
})

describe('fixes of the validator', () => {
  let env
  before(async () => { env = await createEnv() })
  after(() => env.dispose())
  it('a trailing comma goes away', () => {
    const text = '{ "a": [1, 2,] }'
    const report = env.check(text, { as: 'json' })
    assert.equal(report.ok, false)
    const { content, applied } = applyFixes(text, report.findings)
    assert.equal(applied, 1)
    assert.deepEqual(JSON.parse(content), { a: [1, 2] })
    assert.equal(env.check(content, { as: 'json' }).ok, true)
  })
})
