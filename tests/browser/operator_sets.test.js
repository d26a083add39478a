// Operator sets, models and data in Chromium: written, compared, in a page and through a worker.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launch, root, serve, skip } from './browser.js'
import { cases } from '../support/document-cases.js'

const script = `
import * as entry from '/pkg/index.js'
import { cases } from '/support/document-cases.js'
const makers = { page: entry.createEnv, worker: entry.createWorkerEnv }
window.runCase = async (name, where) => {
  const env = await makers[where]()
  try {
    await cases[name](env, entry)
  } finally {
    await env.dispose()
  }
}`

describe('documents in Chromium', { skip }, () => {
  let browser, site, page
  before(async () => {
    const text = '<!doctype html><meta charset="utf-8"><title>documents</title><script type="module" src="/documents.js"></script>'
    site = await serve({ '/pkg/': join(root, 'wasm/js'), '/support/': join(root, 'tests/support') }, { '/documents.html': text, '/documents.js': script })
    browser = await launch()
    page = await browser.newPage()
    await page.goto(site.url('/documents.html'))
    await page.waitForFunction(() => window.runCase !== undefined)
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })
  for (const where of ['page', 'worker']) {
    for (const name of Object.keys(cases)) {
      it(`${name}: in a ${where}`, async () => {
        assert.equal(await page.evaluate(([name, where]) => window.runCase(name, where).catch(error => `${error.code}: ${error.message}`), [name, where]), undefined)
      })
    }
  }
})
