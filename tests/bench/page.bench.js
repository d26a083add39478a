// How long the page's own thread is held while large documents are opened, searched and scrolled: npm run bench -- page
// The bar: no task above 100 ms. Of the machine's own noise the row "nothing" tells.
/* global document, requestAnimationFrame, window */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { builtPage, launch, serve, skip } from '../browser/browser.js'
import { writeLargeModel } from '../support/large.js'
import { chain } from './chain.js'
import { machine, ms, table } from './timing.js'

if (skip) {
  console.log(`page.bench.js takes no part: ${skip}`)
  process.exit(0)
}

const folder = mkdtempSync(join(tmpdir(), 'opspec-bench-'))
const wanted = process.argv[2] ?? ''
const files = {
  'weights of 100 MB': path => writeLargeModel(path, { inside: 25, elements: 1_000_000 }),
  '100,000 nodes': path => writeFileSync(path, chain(100_000)),
  'weights of 100 MB, 5 kB each': path => writeLargeModel(path, { inside: 20_000, elements: 1250 })
}

const site = await serve({ '/': await builtPage() })
const browser = await launch()
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await page.goto(site.url('/'))
await page.waitForFunction(() => /^Checked in/.test(document.getElementById('status').textContent))
await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name, initiatorType }) => initiatorType === 'fetch' && /worker/.test(name)))
// The longest task since the last question, and the longest time between two frames.
await page.evaluate(() => {
  let longest = 0, frame = 0, last = performance.now()
  new PerformanceObserver(list => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) }).observe({ type: 'longtask' })
  const tick = now => {
    frame = Math.max(frame, now - last)
    last = now
    requestAnimationFrame(tick)
  }
  requestAnimationFrame(tick)
  window.held = () => {
    const told = { longest, frame }
    longest = frame = 0
    return told
  }
})
const rows = []
async function measure (name, job) {
  await page.evaluate(() => window.held())
  const start = performance.now()
  await job()
  const time = performance.now() - start
  await page.waitForTimeout(100)
  const { longest, frame } = await page.evaluate(() => window.held())
  rows.push([name, ms(time), longest === 0 ? 'below 50 ms' : ms(longest), ms(frame)])
}
const found = text => page.waitForFunction(wanted => document.querySelector('.finder output').textContent === wanted, text)

machine()
await measure('nothing', () => page.waitForTimeout(1000))
for (const [name, write] of Object.entries(files)) {
  if (!name.includes(wanted)) continue
  const path = join(folder, `${name.replace(/\W+/g, '-')}.onnx`)
  write(path)
  const title = `${name} (${(statSync(path).size / 1e6).toFixed(1)} MB)`
  const chooser = page.waitForEvent('filechooser')
  await page.click('#open')
  await measure(`${title}: until the tree is there`, async () => {
    await (await chooser).setFiles(path)
    await page.waitForFunction(name => document.querySelector('.document h2')?.textContent === name && document.querySelectorAll('.tree .line').length > 5, basename(path), { timeout: 120_000 })
  })
  await measure('  until it is checked', () => page.waitForSelector('.overview .fine, .overview .finding', { timeout: 120_000 }))
  await measure('  scrolled through', async () => {
    for (let part = 0; part <= 10; part++) {
      await page.evaluate(share => { const tree = document.querySelector('.tree'); tree.scrollTop = tree.scrollHeight * share }, part / 10)
      await page.waitForTimeout(50)
    }
  })
  await measure('  a search', async () => {
    await page.fill('.finder input', 'no such thing')
    await found('no hits')
  })
  for (const [label, start] of [['JSON', '{'], ['Text', 'ir_version'], ['ONNX syntax', '<']]) {
    await measure(`  ${label}`, async () => {
      await page.click(`.document .tabs [role=tab]:has-text("${label}")`)
      await page.waitForFunction(wanted => document.querySelector('.text .line code')?.textContent.startsWith(wanted), start, { timeout: 120_000 })
    })
  }
  await page.click('.document .tabs [role=tab]:has-text("Tree")')
  await page.fill('.finder input', '')
}
table(['', 'time', 'longest task', 'longest frame'], rows)
await browser.close()
site.close()
rmSync(folder, { recursive: true })
