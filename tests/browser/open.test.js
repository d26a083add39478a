// Models that are opened in Chromium: the cases of Node, in a page and through a worker; and files of several GB.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launch, root, serve, skip } from './browser.js'
import { names } from '../support/limit-cases.js'
import { cases } from '../support/open-cases.js'
import { writeHole, writeLargeModel } from '../support/large.js'

const MB = 2 ** 20
const pageOf = script => `<!doctype html><meta charset="utf-8"><title>open</title><input type="file" multiple><script type="module" src="${script}"></script>`
const script = `
import * as entry from '/pkg/index.js'
import { Env } from '/pkg/env.js'
import { cases, fromBlob } from '/support/open-cases.js'
import { tryHostile } from '/support/limit-cases.js'
window.runHostile = name => tryHostile(name, entry.createEnv, env => Env.memoryUsed(env).memory, 1000 * 2 ** 20)
const makers = { page: entry.createEnv, worker: entry.createWorkerEnv }
window.runCase = async (name, where) => {
  const env = await makers[where]()
  try {
    await cases[name](env, entry, fromBlob, makers[where])
  } finally {
    await env.dispose()
  }
}
window.openFiles = async where => {
  const files = new Map([...document.querySelector('input').files].map(file => [file.name, file]))
  const env = await makers[where]()
  const model = await env.open(files.get('large.onnx'), { files })
  const { inputs } = model
  const report = await model.check()
  const blob = await model.toBlob()
  const head = [...new Uint8Array(await blob.slice(0, 16).arrayBuffer())]
  let cancelled
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 20)
  try {
    await model.load({ signal: controller.signal })
  } catch (error) {
    cancelled = error.code
  }
  await model.edit([{ setMetadata: 'author', value: 'tests' }, { renameInput: 'x', to: 'image' }, { renameValue: 'w0', to: 'first weights' }])
  const edited = await env.open(await model.toBlob(), { files })
  const again = [edited.inputs[0].name, (await edited.nodes())[Symbol.iterator]().next().value.inputs, (await edited.check()).ok]
  const { memory } = where === 'page' ? Env.memoryUsed(env) : await env.status()
  const answer = { report, inputs, size: blob.size, head, memory, heap: performance.memory.usedJSHeapSize, cancelled, again }
  await env.dispose()
  return answer
}`

describe('env.open in Chromium', { skip }, () => {
  let browser, site, page, folder, size
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-open-'))
    size = writeLargeModel(join(folder, 'large.onnx'), { inside: 24, beside: 7, elements: 32 * MB })
    writeHole(join(folder, 'weights.bin'), 3072 * MB)
    site = await serve({ '/pkg/': join(root, 'wasm/js'), '/support/': join(root, 'tests/support') }, { '/open.html': pageOf('/open.js'), '/open.js': script })
    browser = await launch()
    page = await browser.newPage()
    await page.goto(site.url('/open.html'))
    await page.waitForFunction(() => window.runCase !== undefined)
  })
  after(async () => {
    await browser?.close()
    site?.close()
    rmSync(folder, { recursive: true })
  })
  for (const name of names) {
    it(`hostile: ${name}`, async () => {
      const error = await page.evaluate(name => window.runHostile(name).catch(error => `${error.code}: ${error.message}`), name)
      assert.equal(error, undefined)
    })
  }
  for (const where of ['page', 'worker']) {
    for (const name of Object.keys(cases)) {
      it(`${name}: in a ${where}`, async () => {
        const error = await page.evaluate(([name, where]) => window.runCase(name, where).catch(error => `${error.code}: ${error.message}`), [name, where])
        assert.equal(error, undefined)
      })
    }
    it(`3 GB in a File and data beside it, read and edited, in a ${where}, within 300 MB`, async () => {
      await page.setInputFiles('input', [join(folder, 'large.onnx'), join(folder, 'weights.bin')])
      const { report, inputs, memory, heap, cancelled, again, ...written } = await page.evaluate(where => window.openFiles(where), where)
      assert.deepEqual([report.ok, report.complete, report.findings], [true, true, []])
      assert.deepEqual(inputs, [{ name: 'x', type: 'tensor(float)', shape: [32 * MB] }])
      assert.deepEqual([written.size, written.head.slice(0, 4)], [size, [8, 10, 18, 12]])
      assert.equal(cancelled, 'aborted')
      assert.deepEqual(again, ['image', ['image', 'first weights'], true])
      assert.ok(memory + heap < 300 * MB, `${memory} + ${heap} bytes`)
    })
  }
})
