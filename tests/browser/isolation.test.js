// Kernels that mean harm: they are stopped or refused, it is said, and the page's text is safe.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { skip } from './browser.js'
import { zip } from '../support/zip.js'
import { startPage } from './page.js'

const kernel = (body, top = '') => `${top}
export default {
  inferShapes: ([x]) => [{ type: x.type, shape: x.shape }],
  ${body}
}
`

const only = tests => `"tests": ["${tests}"]`

describe('a hostile kernel', { skip }, () => {
  let pages
  before(async () => { pages = await startPage() })
  after(() => pages?.stop())

  // A page whose bundle has one test and this kernel.
  async function open(source) {
    const person = await pages.open()
    await person.ran()
    await person.change('"tests": ["default-alpha.json", "swish.json", "edges.json", "double.json"]', only('default-alpha.json'))
    await person.file('kernel.js')
    await person.write(source)
    return person
  }

  async function message(person) {
    const texts = await person.page.locator('.test[data-test="default-alpha.json"] .verdict, #panel .note.error').allTextContents()
    return texts.join('\n')
  }

  it('that loops is ended at the time limit while the page goes on answering', async () => {
    const person = await open(kernel('compute() { for (;;); }'))
    await person.page.keyboard.press('Control+Enter')
    await person.page.waitForSelector('.outcome.running')
    await person.change('for (;;);', 'for (;;) ;')
    await person.ran()
    assert.match(await message(person), /time limit/)
    assert.match(await person.text(), /for \(;;\) ;/)
    await person.close()
  })

  it('that loops can be stopped by hand', async () => {
    const person = await open(kernel('compute() { for (;;); }'))
    await person.page.keyboard.press('Control+Enter')
    await person.page.click('#run-bar button:has-text("Stop")')
    await person.page.waitForSelector('.outcome.ended')
    assert.match(await person.textOf('.outcome'), /Stopped\. Your text is safe\./)
    await person.close()
  })

  it('that loops while it loads is ended', async () => {
    const person = await open(kernel('compute: () => []', 'for (;;);'))
    await person.run()
    assert.match(await message(person), /kernel\.js was still loading after/)
    assert.match(await person.textOf('.outcome'), /0 of 1 test passed/)
    await person.close()
  })

  it('finds no storage, no network, no page', async () => {
    const person = await open(kernel(`async compute() {
    const attempts = {
      indexedDB: () => new Promise((resolve, reject) => { const asked = indexedDB.open('opspec'); asked.onsuccess = resolve; asked.onerror = reject }),
      fetch: () => fetch('${pages.site.url('/secret')}'),
      socket: () => new Promise((resolve, reject) => { const socket = new WebSocket('${pages.site.url('/').replace('http', 'ws')}'); socket.onopen = resolve; socket.onerror = reject }),
      script: async () => importScripts('${pages.site.url('/secret.js')}'),
      worker: () => new Promise((resolve, reject) => {
        const worker = new Worker(URL.createObjectURL(new Blob(["importScripts('${pages.site.url('/secret-worker.js')}'); postMessage(1)"])))
        worker.onmessage = resolve
        worker.onerror = event => { event.preventDefault(); reject(event) }
      }),
      module: () => import('${pages.site.url('/secret.js')}'),
      storage: async () => localStorage.length,
      page: async () => document.title,
      code: async () => new Function('return 1')()
    }
    const reached = []
    for (const [name, attempt] of Object.entries(attempts)) await attempt().then(() => reached.push(name), () => {})
    throw new Error('reached: ' + (reached.join() || 'nothing'))
  }`))
    await person.run()
    assert.match(await message(person), /reached: nothing/)
    const refused = await person.textOf('.test[data-test="default-alpha.json"] .refused')
    for (const what of ['indexedDB', 'fetch', 'WebSocket', 'importScripts', 'Worker', 'localStorage', 'document', 'Function']) assert.ok(refused.includes(what), `${what} in: ${refused}`)
    assert.deepEqual(pages.site.asked.filter(path => /secret/.test(path)), [])
    assert.match(await person.text(), /reached/)
    await person.close()
  })

  it('is told of when it reaches for something and passes', async () => {
    const person = await open(kernel("compute: ([x], { alpha }) => { try { fetch('/secret') } catch {} return [{ type: x.type, dims: x.dims, data: x.data.map(v => v / (1 + Math.exp(-alpha * v))) }] }"))
    await person.run()
    await person.has(1, '.test.passed[data-test="default-alpha.json"]')
    assert.match(await person.textOf('.test[data-test="default-alpha.json"] .row'), /reached outside/)
    assert.match(await person.textOf('.test[data-test="default-alpha.json"] .refused'), /fetch/)
    await person.close()
  })

  it('cannot put markup into the page', async () => {
    const person = await open(kernel("compute(inputs, attributes, ctx) { ctx.fail('<img src=x onerror=alert(1)><b id=injected>bold</b>') }"))
    await person.run()
    assert.match(await message(person), /<b id=injected>/)
    await person.has(0, '#injected')
    await person.close()
  })

  it('that answers nonsense makes a failed test, not a broken page', async () => {
    const person = await open(kernel("compute() { postMessage({ type: 'test', index: 0, test: 5 }); postMessage({ type: 'done' }); postMessage(null); return 7 }"))
    await person.run()
    await person.show('findings')
    await person.page.waitForSelector('#panel .fine, .finding')
    await person.close()
  })

  it('in an archive that holds what a bundle cannot is not opened, and it is said', async () => {
    const person = await open(kernel('compute: () => []'))
    const cases = [
      [zip({ '../x.json': '{}' }), /"\.\.\/x\.json" is no path inside the archive/],
      [zip([['a.json', '{}'], ['a.json', '{}']]), /"a\.json" is in it twice/],
      [zip({ 'a.opspec.json': '/etc/passwd' }, { mode: 0o120777 }), /"a\.opspec\.json" is a link/],
      [zip(Array.from({ length: 1001 }, (_, i) => [`${i}.json`, '{}'])), /too many files/],
      [zip({ 'a.json': '{}' }, { crc: 1 }), /"a\.json" is not what was packed/]
    ]
    for (const [bytes, why] of cases) {
      await person.drop('evil.zip', bytes)
      await person.page.waitForSelector('.notice.error')
      assert.match(await person.textOf('.notice.error'), why)
      await person.page.click('.notice.error button.icon')
    }
    assert.match(await person.text(), /compute: \(\) => \[\]/)
    await person.close()
  })

  it('in a shared link runs only when asked', async () => {
    const author = await open(kernel("compute() { throw new Error('I ran') }"))
    await author.page.click('#share')
    const link = await author.page.inputValue('dialog input')
    await author.close()
    const reader = await pages.open({ hash: link.slice(link.indexOf('#')) })
    await reader.page.waitForSelector('.notice:has-text("shared")')
    await reader.page.waitForTimeout(500)
    await reader.has(1, '.outcome.idle')
    await reader.file('kernel.js')
    assert.match(await reader.text(), /I ran/)
    await reader.run()
    assert.match(await message(reader), /I ran/)
    await reader.close()
  })
})
