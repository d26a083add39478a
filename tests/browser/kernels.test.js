// Bundles without a kernel.js: the page runs their evidence with the kernel.wasm or kernel.onnx that they have. And kernels that
// answer wrongly and would have the page take it for right.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { tiltDocument, tiltEvidence, tiltFunction } from '../operators/ways.js'
import { buildPlugin, skip as noCompiler } from '../support/plugin.js'
import { zip } from '../support/zip.js'
import { skip } from './browser.js'
import { startPage } from './page.js'

const names = tiltEvidence.map((_, i) => `case-${i}.json`)
function bundle (kernels, change = evidence => evidence) {
  const files = { 'tilt.opspec.json': JSON.stringify({ ...JSON.parse(tiltDocument), tests: names }, null, 2), ...kernels }
  tiltEvidence.forEach((evidence, i) => { files[names[i]] = JSON.stringify(change(structuredClone(evidence), i)) })
  return zip(files)
}
const spoil = (evidence, i) => {
  if (i === 1) evidence.outputs[0].data[3] = 6
  return evidence
}

describe('a bundle in the page', { skip }, () => {
  let pages
  before(async () => { pages = await startPage() })
  after(() => pages?.stop())

  // What the page says of each test after a run by hand.
  async function results (archive) {
    const person = await pages.open()
    await person.drop('tilt.zip', archive)
    await person.page.waitForSelector('#file-tabs [data-id="tilt.opspec.json"]')
    await person.settled()
    await person.run()
    const tests = await person.page.locator('.test').evaluateAll(rows => rows.map(row => [row.dataset.test, ['passed', 'failed', 'error', 'skipped', 'idle'].find(name => row.classList.contains(name))]))
    const outcome = await person.textOf('.outcome')
    const messages = (await person.page.locator('.test').allTextContents()).join('\n')
    const { complaints } = person
    await person.close()
    return { tests, outcome, messages, complaints }
  }
  const each = (...states) => names.map((name, i) => [name, states[i] ?? states.at(-1)])

  const ways = { 'kernel.wasm': [() => buildPlugin('tilt_plugin.c'), noCompiler], 'kernel.onnx': [() => tiltFunction, false] }
  for (const [name, [content, cannot]] of Object.entries(ways)) {
    it(`with only a ${name} runs its evidence`, { skip: cannot }, async () => {
      const { tests, outcome, complaints } = await results(bundle({ [name]: content() }))
      assert.deepEqual(tests, each('passed'))
      assert.match(outcome, /4 of 4 tests passed/)
      assert.deepEqual(complaints, [])
    })
    it(`with only a ${name} and wrong evidence fails it`, { skip: cannot }, async () => {
      const { tests, outcome, messages } = await results(bundle({ [name]: content() }, spoil))
      assert.deepEqual(tests, each('passed', 'failed', 'passed'))
      assert.match(outcome, /3 of 4 tests passed/)
      assert.match(messages, /expected 6/)
    })
  }
  it('with a kernel.onnx that is damaged says so at each test', async () => {
    const { tests, messages } = await results(bundle({ 'kernel.onnx': Uint8Array.of(1, 2, 3) }))
    assert.deepEqual(tests, each('error'))
    assert.match(messages, /wire\.tag|tag|field/i)
  })
  it('with a kernel.wasm that is no plug-in says so at each test', { skip: noCompiler }, async () => {
    const { tests, messages } = await results(bundle({ 'kernel.wasm': Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) }))
    assert.deepEqual(tests, each('error'))
    assert.match(messages, /kernel\.wasm: .*plug-in/)
  })

  const forged = "{ type: 'test', index: 0, test: { status: 'passed' } }"
  const lies = {
    'by messages of its own': `for (const say of [() => postMessage(${forged}), () => self.postMessage({ type: 'done' }), () => Object.getPrototypeOf(self).postMessage?.call(self, ${forged})]) seize(say)`,
    'by another way to send messages': "for (const kind of [MessagePort, self.constructor, Worker]) { const { postMessage: send } = kind.prototype; seize(() => { kind.prototype.postMessage = function (message, ...more) { if (message.test) message.test.status = 'passed'; return send.call(this, message, ...more) } }) }",
    'by the language': "for (const { prototype } of [Object, Array]) seize(() => { prototype.toJSON = () => 'passed' }); seize(() => Object.defineProperty(Object.prototype, 'status', { get () { return 'passed' }, set () {} })); const { push } = Array.prototype; seize(() => { Array.prototype.push = function (v) { if (v?.status) v.status = 'passed'; return push.call(this, v) } }); seize(() => { globalThis.JSON = { parse: () => ({ status: 'passed', findings: [] }) } })",
    'by the memory around its input': 'const all = new Uint8Array(x.data.buffer); if (all.length > 64) all.fill(0)',
    'by ending early': 'seize(() => close()); seize(() => self.close())'
  }
  for (const [name, body] of Object.entries(lies)) {
    it(`whose kernel would pass ${name} does not`, async () => {
      const kernel = `const seize = act => { try { act() } catch {} }\nexport default { compute ([x, s]) { ${body}; return [{ type: 'float32', dims: [9], data: new Float32Array(9) }] } }`
      const { tests, outcome } = await results(bundle({ 'kernel.js': kernel }))
      assert.ok(tests.length === names.length && tests.every(([, state]) => state === 'failed' || state === 'error'), JSON.stringify(tests))
      assert.match(outcome, /0 of 4 tests passed/)
    })
  }
})
