// Dark and light, phone and desk, keyboard, offline, and what is said when there is no engine.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { skip } from './browser.js'
import { lowContrast } from './contrast.js'
import { startPage } from './page.js'
import { readZip } from '../../wasm/src/node-zip.js'
import { model, node, tensor, value } from '../support/onnx.js'
import { customSpec } from '../support/spec.js'
import { zip } from '../support/zip.js'

describe('the look of the page', { skip }, () => {
  let pages
  before(async () => { pages = await startPage() })
  after(() => pages?.stop())

  for (const colorScheme of ['light', 'dark']) {
    it(`has readable text when the system is ${colorScheme}`, async () => {
      const person = await pages.open({ colorScheme })
      await person.ran()
      await person.change('tensor(double)', 'tensor(float64)')
      for (const pane of ['evidence', 'signature', 'model', 'findings']) {
        await person.show(pane)
        if (pane === 'findings') await person.page.click('.finding button:text-is("Why")')
        await person.page.waitForTimeout(200)
        assert.deepEqual(await person.page.evaluate(lowContrast), [], pane)
      }
      await person.close()
    })
  }

  it('switches between dark and light, and remembers it', async () => {
    const person = await pages.open({ colorScheme: 'light' })
    const background = () => person.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await person.page.click('#theme')
    const dark = await background()
    assert.notEqual(light, dark)
    await person.page.reload()
    await person.checked()
    assert.equal(await background(), dark)
    await person.close()
  })

  it('fits a phone: one column, nothing wider than the screen', async () => {
    const person = await pages.open({ viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true })
    await person.ran()
    assert.equal(await person.page.isVisible('#source'), false)
    for (const pane of ['source', 'findings', 'evidence', 'signature', 'model']) {
      await person.show(pane)
      assert.equal(await person.page.evaluate(() => document.documentElement.scrollWidth), 375, pane)
      assert.equal(await person.page.isVisible('#source'), pane === 'source')
    }
    await person.close()
  })

  for (const width of [320, 375]) {
    it(`shows each tab of the results as a whole at ${width} pixels`, async () => {
      const person = await pages.open({ viewport: { width, height: 700 }, isMobile: true, hasTouch: true })
      await person.ran()
      assert.doesNotMatch(await person.page.textContent('#notices'), /\b(left|right)\b/)
      await person.show('source')
      await person.change('tensor(double)', 'tensor(float64)') // findings give a tab a number more
      const outside = await person.page.evaluate(() => [...document.querySelectorAll('#result-tabs [role="tab"]')].filter(tab => {
        const { left, right, width } = tab.getBoundingClientRect()
        return width === 0 || left < 0 || right > innerWidth
      }).map(tab => tab.textContent))
      assert.deepEqual(outside, [])
      assert.equal(await person.page.evaluate(() => document.documentElement.scrollWidth), width)
      await person.close()
    })
  }

  it('takes what is typed over a selection as CodeMirror does, and without styles that the policy refuses', async () => {
    const person = await pages.open()
    await person.file('kernel.js')
    const { keyboard } = person.page
    await person.page.click('#editor .cm-content')
    await keyboard.press('Control+a')
    await keyboard.type('x')
    assert.equal(await person.text(), 'x')
    await keyboard.press('Control+a')
    await keyboard.type('(')
    assert.equal(await person.text(), '(x)')
    await keyboard.press('Control+a')
    await keyboard.type('const y = 1')
    assert.equal(await person.text(), 'const y = 1')
    await keyboard.press('Control+z')
    assert.equal(await person.text(), '(x)')
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('is used with the keyboard alone', async () => {
    const person = await pages.open()
    const { keyboard } = person.page
    const focus = () => person.page.evaluate(() => document.activeElement.id || document.activeElement.dataset.id || document.activeElement.className)
    const reached = []
    for (let presses = 0; presses < 14; presses++) {
      await keyboard.press('Tab')
      reached.push(await focus())
      if (reached.at(-1) === 'editor') {
        await keyboard.press('Control+m')
        reached.push('editor')
      }
    }
    for (const id of ['samples', 'open', 'save', 'share', 'theme', 'about', 'quick-gelu.opspec.json', 'editor', 'divider', 'evidence']) assert.ok(reached.includes(id), `${id} in ${reached}`)
    await person.page.locator('#result-tabs [aria-selected=true]').focus()
    await keyboard.press('ArrowRight')
    assert.equal(await focus(), 'signature')
    await keyboard.press('Control+k')
    await keyboard.type('sample string')
    await keyboard.press('Enter')
    await person.page.waitForSelector('#file-tabs [data-id="string-split.opspec.json"]')
    await person.close()
  })

  it('goes on without a network and asks for nothing', async () => {
    const person = await pages.open()
    await person.ran()
    await person.page.context().setOffline(true)
    const before = person.requests.length
    await person.change('tensor(double)', 'tensor(float64)')
    await person.show('findings')
    await person.has(1, '.finding')
    await person.page.click('.finding button:text-is("Fix")')
    await person.page.waitForSelector('#panel .fine')
    assert.deepEqual(person.requests.slice(before), [])
    await person.close()
  })

  it('says so when the engine cannot be loaded, keeps the text, and tries again', async () => {
    const context = await pages.browser.newContext()
    const page = await context.newPage()
    let refuse = true
    await page.route('**/*.wasm', route => refuse ? route.fulfill({ status: 200, contentType: 'text/html', body: '<!doctype html>' }) : route.continue())
    await page.goto(pages.site.url('/tools/opspec/'))
    await page.waitForSelector('.notice.error')
    assert.match(await page.textContent('.notice.error'), /engine did not start.*HTML.*Your text is safe/)
    refuse = false
    await page.click('.notice.error button:text-is("Try again")')
    await page.waitForFunction(() => /^Checked in/.test(document.getElementById('status').textContent))
    await context.close()
  })

  it('shows a dropped model, and runs it', async () => {
    const person = await pages.open()
    const bytes = model({
      opsets: { '': 18 }, nodes: [node('Relu', ['x'], ['y']), node('Neg', ['y'], ['z'])],
      inputs: [value('x', 'float32', ['N', 3])], outputs: [value('z', 'float32', ['N', 3])]
    })
    await person.drop('small.onnx', bytes)
    await person.page.waitForSelector('.model .operators li')
    assert.deepEqual(await person.page.locator('.operators code').allTextContents(), ['Neg', 'Relu'])
    assert.match(await person.textOf('.model section:has(h3:text-is("Inputs")) tbody'), /x.*tensor\(float\).*\[N, 3\]/)
    await person.page.fill('.run-model input', '2')
    await person.page.click('.run-model button')
    await person.page.waitForSelector('.model .data')
    assert.match(await person.textOf('.model tr:has(.data)'), /float32\[2, 3\]/)
    await person.close()
  })

  it('shows a dropped tensor', async () => {
    const person = await pages.open()
    await person.drop('input_0.pb', tensor('x', 'float32', [2, 2], Float32Array.of(1.5, -2, 0, 4)))
    await person.page.waitForSelector('.model .data')
    assert.equal(await person.textOf('.model .data'), '1.5, -2, 0, 4')
    assert.match(await person.textOf('.model header'), /tensor/)
    await person.close()
  })

  it('saves a bundle that opens again', async () => {
    const person = await pages.open()
    await person.change('Activations, of any shape.', 'Anything at all.')
    const [download] = await Promise.all([person.page.waitForEvent('download'), person.page.keyboard.press('Control+s')])
    assert.equal(download.suggestedFilename(), 'quick-gelu.zip')
    const bytes = readFileSync(await download.path())
    await person.close()
    const other = await pages.open()
    await other.drop('bundle.zip', bytes)
    await other.page.waitForFunction(() => document.getElementById('editor').shadowRoot.textContent.includes('Anything at all'))
    await other.has(1, '.outcome.idle', 'a kernel from a file does not run by itself')
    await other.close()
  })

  it('saves line ends as they came, and of a changed file the one that most lines had', async () => {
    const person = await pages.open()
    const document = JSON.stringify(JSON.parse(customSpec({ domain: 'org.test', opType: 'Twice' })), null, 2)
    const mixed = document.replaceAll('\n', '\r\n').replace('\r\n', '\n')
    await person.drop('ends.zip', zip({ 'a.opspec.json': mixed, 'b.json': mixed, 'c.md': 'one\rtwo\r\n' }))
    await person.page.waitForSelector('#file-tabs [data-id="c.md"]')
    await person.file('a.opspec.json')
    await person.change('org.test', 'org.best')
    const [download] = await Promise.all([person.page.waitForEvent('download'), person.page.keyboard.press('Control+s')])
    const files = readZip(new Uint8Array(readFileSync(await download.path())))
    const text = name => new TextDecoder().decode(files.get(name))
    assert.equal(text('a.opspec.json'), document.replace('org.test', 'org.best').replaceAll('\n', '\r\n'))
    assert.equal(text('b.json'), mixed)
    assert.equal(text('c.md'), 'one\rtwo\r\n')
    await person.close()
  })
})
