// The package as it is published, unbundled: in a plain page, in a module worker, through createWorkerEnv and with the module
// inline. Everywhere the answers are Node's.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launch, root, serve, skip } from './browser.js'
import { answers } from './cases.js'
import { model, node, tensor, value } from '../support/onnx.js'
import * as entry from '../../wasm/js/index.js'

const samples = readdirSync(join(root, 'specs/samples')).map(name => readFileSync(join(root, `specs/samples/${name}/${name}.opspec.json`), 'utf8'))
const [sample] = samples

const documents = [
  ...samples.map((text, index) => [`sample ${index}`, text]),
  ['no JSON', '{ "kind": }'], ['empty', ''], ['a wrong type', sample.replace('tensor(double)', 'tensor(float64)').replace('"single"', '"twice"')],
  ['surrogates and other scripts', sample.replaceAll('description": "', 'description": "𝄞 日本語 \\u00e9 ')], ['a key twice', sample.replace('{', '{ "name": "a",')]
]

const f32 = shape => ['float32', shape]
const models = [
  ['elementwise', model({ nodes: [node('Exp', ['x'], ['a']), node('Tanh', ['x'], ['b']), node('Add', ['a', 'b'], ['y'])], inputs: [value('x', ...f32([2, 3, 4]))], outputs: [value('y', ...f32([2, 3, 4]))] })],
  ['a product', model({ nodes: [node('MatMul', ['x', 'w'], ['p']), node('Softmax', ['p'], ['y'], { axis: -1n })], initializers: [tensor('w', 'float32', [4, 5], Float32Array.from({ length: 20 }, (_, i) => Math.cos(i)))], inputs: [value('x', ...f32([2, 3, 4]))], outputs: [value('y', ...f32([2, 3, 5]))] })],
  ['an unknown operator', model({ nodes: [node('Nonsense', ['x'], ['y'])], inputs: [value('x', ...f32(['N']))], outputs: [value('y', ...f32(['N']))] })],
  ['cut off', model({ nodes: [node('Exp', ['x'], ['y'])], inputs: [value('x', ...f32([1]))], outputs: [value('y', ...f32([1]))] }).slice(0, -7)]
].map(([name, bytes]) => [name, [...bytes]])

const pageOf = script => `<!doctype html><meta charset="utf-8"><title>package</title><script type="module" src="${script}"></script>`

const inPage = make => `
import * as entry from '/pkg/${make.entry ?? 'index.js'}'
import { answers } from '/tests/cases.js'
window.ask = async data => {
  const env = await entry.${make.call}()
  try { return await answers(env, entry, data) } finally { await env.dispose() }
}`

const inWorker = `
import * as entry from '/pkg/index.js'
import { answers } from '/tests/cases.js'
addEventListener('message', async ({ data }) => {
  const env = await entry.createEnv()
  postMessage(await answers(env, entry, data))
})`

const asksWorker = `
window.ask = data => new Promise((resolve, reject) => {
  const worker = new Worker('/worker.js', { type: 'module' })
  worker.onmessage = event => resolve(event.data)
  worker.onerror = event => reject(new Error(event.message))
  worker.postMessage(data)
})`

describe('the package in a browser', { skip }, () => {
  let browser, site, expected
  const texts = {
    '/page.html': pageOf('/page.js'), '/page.js': inPage({ call: 'createEnv' }),
    '/client.html': pageOf('/client.js'), '/client.js': inPage({ call: 'createWorkerEnv' }),
    '/inline.html': pageOf('/inline.js'), '/inline.js': inPage({ call: 'createEnv', entry: 'inline.js' }),
    '/asks-worker.html': pageOf('/asks-worker.js'), '/asks-worker.js': asksWorker, '/worker.js': inWorker
  }
  before(async () => {
    site = await serve({ '/pkg/': join(root, 'wasm/js'), '/tests/': join(root, 'tests/browser') }, texts)
    browser = await launch()
    const env = await entry.createEnv()
    expected = JSON.parse(JSON.stringify(await answers(env, entry, { documents, models })))
    env.dispose()
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })

  async function ask(path) {
    const page = await browser.newPage()
    const complaints = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => { if (message.type() === 'error' && !/favicon/.test(message.location().url)) complaints.push(message.text()) })
    await page.goto(site.url(path))
    await page.waitForFunction(() => window.ask !== undefined)
    const found = JSON.parse(await page.evaluate(async data => JSON.stringify(await window.ask(data)), { documents, models }))
    await page.close()
    assert.deepEqual(complaints, [])
    return found
  }

  function same(found) {
    assert.deepEqual(found.map(([name]) => name), expected.map(([name]) => name))
    found.forEach(([name, answer], index) => assert.deepEqual(answer, expected[index][1], name))
  }

  it('asks questions that have answers', () => {
    assert.ok(expected.length > 30)
    assert.equal(expected.find(([name]) => name === 'run elementwise')[1][0][1].data.length, 24)
    assert.equal(expected.find(([name]) => name === 'validateSpec a wrong type')[1].ok, false)
  })

  it('answers as in Node in a plain page', async () => same(await ask('/page.html')))
  it('answers as in Node in a module worker', async () => same(await ask('/asks-worker.html')))
  it('answers as in Node through createWorkerEnv', async () => same(await ask('/client.html')))

  const inline = existsSync(join(root, 'wasm/js/wasm-bytes.js'))
  it('answers as in Node with the module inline', { skip: inline ? false : 'wasm-bytes.js was not built' }, async () => same(await ask('/inline.html')))
})
