// The page under test, as a person uses it.
import assert from 'node:assert/strict'
import { builtPage, launch, serve } from './browser.js'

export const subPath = '/tools/opspec/'

// One browser and one server for a test file. `open(options)` resolves to a Person in a context of its own.
export async function startPage() {
  const site = await serve({ [subPath]: await builtPage() })
  const browser = await launch()
  const open = async ({ hash = '', ready = true, ...options } = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const person = new Person(await context.newPage(), site)
    await person.visit(hash)
    if (ready) await person.checked()
    return person
  }
  const stop = async () => {
    await browser.close()
    site.close()
  }
  return { site, browser, open, stop }
}

export class Person {
  complaints = [] // of the console, and errors nobody caught
  requests = []

  constructor(page, site) {
    this.page = page
    this.address = site.url(subPath)
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text())
    })
    page.on('pageerror', error => this.complaints.push(String(error)))
    page.on('request', request => this.requests.push(request.url()))
  }

  visit(hash = '') {
    return this.page.goto(this.address + hash)
  }

  checked() {
    return this.page.waitForFunction(() => /^Checked in/.test(document.getElementById('status').textContent), null, { timeout: 60000 })
  }

  // Waits until the evidence was run, or ended.
  async ran() {
    await this.page.waitForSelector('.outcome:not(.running):not(.idle)', { timeout: 60000 })
  }

  async run() {
    await this.page.keyboard.press('Control+Enter')
    await this.page.waitForSelector('.outcome.running', { timeout: 5000 }).catch(() => {})
    await this.ran()
  }

  /** Opens files by the button. */
  async choose(...paths) {
    const chooser = this.page.waitForEvent('filechooser')
    await this.page.click('#open')
    await (await chooser).setFiles(paths)
  }

  show(result) {
    return this.page.click(`#result-tabs [data-id="${result}"]`)
  }

  file(name) {
    return this.page.click(`#file-tabs [data-id="${name}"]`)
  }

  async text() {
    const lines = await this.page.locator('#editor .cm-line').allTextContents()
    return lines.join('\n')
  }

  // Replaces the whole text of the open file, then waits for the check that follows.
  async write(text) {
    await this.page.click('#editor .cm-content')
    await this.page.keyboard.press('Control+a')
    await this.page.keyboard.insertText(text)
    await this.settled()
  }

  // Until what was typed is checked.
  async settled() {
    await this.page.waitForTimeout(250)
    await this.checked()
  }

  // Finds `before` in the open file with the editor's search, and types `after` over it.
  async change(before, after) {
    await this.page.click('#editor .cm-content')
    await this.page.keyboard.press('Control+Home')
    await this.page.keyboard.press('Control+f')
    await this.page.locator('#editor .cm-search input[name=search]').selectText()
    await this.page.keyboard.insertText(before)
    await this.page.keyboard.press('Shift') // the panel reads its field when a key goes up
    await this.page.keyboard.press('Enter')
    await this.page.keyboard.press('Escape')
    await this.page.keyboard.insertText(after)
    await this.settled()
  }

  // Asserts that the page shows so many of them, now or soon: what a click sets off is drawn when the worker has answered.
  async has(count, selector, message) {
    const them = this.page.locator(selector)
    let found = await them.count()
    for (let looks = 0; looks < 600 && found !== count; looks++) {
      await this.page.waitForTimeout(100)
      found = await them.count()
    }
    assert.equal(found, count, message ?? selector)
  }

  textOf(selector) {
    return this.page.locator(selector).first().textContent()
  }

  async drop(name, bytes) {
    const transfer = await this.page.evaluateHandle(([fileName, data]) => {
      const items = new DataTransfer()
      items.items.add(new File([Uint8Array.from(data)], fileName))
      return items
    }, [name, [...bytes]])
    await this.page.dispatchEvent('#panel', 'drop', { dataTransfer: transfer })
  }

  close() {
    return this.page.context().close()
  }
}
