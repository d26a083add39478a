// Texts in another encoding than UTF-8: found as such, at their first place, whoever is asked.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createEnv, Tensor } from '../../wasm/js/index.js'
import * as onnx from '../support/onnx.js'

let env
before(async () => { env = await createEnv() })
after(() => env.dispose())

const errors = report => report.findings.filter(({ severity }) => severity === 'error')

describe('texts that are not UTF-8', () => {
  const text = '{ "kind": "runlocal.operator-extension", "name": "na\u00efve" }'
  const units = (swapped, text) => {
    const bytes = Buffer.from(text, 'utf16le')
    return swapped ? bytes.swap16() : bytes
  }
  const at = text.indexOf('\u00ef')
  for (const [name, bytes, byte, kind] of [
    ['one byte', Buffer.from(text, 'latin1'), at, 'spec'],
    ['0xFF', Buffer.from(text.replace('\u00ef', '\u00ff'), 'latin1'), at, 'spec'],
    ['0xFF behind white space', Buffer.from(`\n\t${text.replace('\u00ef', '\u00ff')}`, 'latin1'), at + 2, 'spec'],
    ['a list', Buffer.from('["\u00ff"]', 'latin1'), 2, 'json'],
    ['UTF-16', units(false, text), 1, 'json'],
    ['UTF-16, the other order', units(true, text), 0, 'json'],
    ['UTF-16 with its mark', units(false, `\ufeff${text}`), 0, 'json'],
    ['UTF-16 with its mark, the other order, behind white space', units(true, `\ufeff\r\n ${text}`), 0, 'json'],
    ['UTF-16 behind white space', units(false, `\n ${text}`), 1, 'json']
  ]) {
    it(name, () => {
      const report = env.check(bytes)
      assert.deepEqual([report.kind, errors(report).map(({ rule, range }) => [rule, range.start.byte])], [kind, [['json.encoding', byte]]])
    })
  }
  it('what begins as a message does is not taken for JSON', () => {
    // The length of a first node may be '{' or '[', behind the tag that is a line feed.
    for (const length of [0x7b, 0x5b]) {
      const node = onnx.node('Relu', ['x'], ['y'], {}, { name: 'n'.repeat(length - 14) })
      assert.equal(node.length, length)
      const graph = onnx.graph({ nodes: [node], inputs: [onnx.value('x', 'float32', [1])], outputs: [onnx.value('y', 'float32', [1])] })
      assert.deepEqual([...graph.subarray(0, 2)], [0x0a, length])
      assert.equal(env.check(graph).kind, 'graph')
    }
  })
  it('half of a surrogate pair in a string', () => {
    for (const [before, half] of [['', '\ud800'], ['\u00e9\u{1f600}', '\udfff'], ['x'.repeat(70_000), '\udbff'], ['\u00e9'.repeat(70_000), '\udc00']]) {
      const json = `{ "a": "${before}${half}" }`
      const start = json.indexOf(half)
      for (const report of [env.check(json), env.validateSpec(json)]) {
        const [{ rule, range, message }] = report.findings
        assert.deepEqual([rule, range.start.utf16], ['json.encoding', start])
        assert.match(message, /half of a surrogate pair/)
      }
      assert.throws(() => env.format(json, 'json', 'json'), ({ code, findings }) => code === 'malformed' && findings[0].rule === 'json.encoding')
    }
    assert.ok(env.check('{ "a": "\u00e9\u{1f600}" }').ok)
  })
  it('half of a surrogate pair as an element of a tensor is U+FFFD', async () => {
    const bytes = onnx.model({ inputs: [onnx.value('x', 'string', [1])], outputs: [onnx.value('y', 'string', [1])], nodes: [onnx.node('Identity', ['x'], ['y'])] })
    const session = await env.createSession(bytes)
    try {
      const { y } = await session.run({ x: new Tensor('string', ['a\ud800b'], [1]) })
      assert.deepEqual([...y.data], ['a\ufffdb'])
    } finally {
      session.dispose()
    }
  })
})
