// A worker's Env that is started again, in a page. In Node: tests/js/replay.test.js.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launch, root, serve, skip } from './browser.js'
import { cases } from '../support/worker-cases.js'

const script = `
import * as entry from '/pkg/index.js'
import { cases } from '/support/worker-cases.js'
window.ask = index => cases[index][1](entry)`

describe("a worker's Env in a page", { skip }, () => {
  let browser, site, page
  before(async () => {
    site = await serve({ '/pkg/': join(root, 'wasm/js'), '/support/': join(root, 'tests/support') },
      { '/page.html': '<!doctype html><meta charset="utf-8"><title>worker</title><script type="module" src="/page.js"></script>', '/page.js': script })
    browser = await launch()
    page = await browser.newPage()
    await page.goto(site.url('/page.html'))
    await page.waitForFunction(() => window.ask !== undefined)
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })

  for (const [index, [name, , expected]] of cases.entries()) {
    it(name, { timeout: 120_000 }, async () => assert.deepEqual(await page.evaluate(at => window.ask(at), index), expected))
  }
})
