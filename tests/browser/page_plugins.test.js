// Plug-ins in the page: brought by drop or file chooser, run when asked, listed with what they bring, refused with the reason.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { tiltDocument } from '../operators/ways.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, plug, skip as noCompiler } from '../support/plugin.js'
import { skip as noBrowser } from './browser.js'
import { startPage } from './page.js'

const domain = 'org.test'
const modelOf = (opType, inputs) => onnx.model({
  opsets: { '': 21, [domain]: 1 }, inputs: inputs.map(name => onnx.value(name, 'float32', [3])), outputs: [onnx.value('y', 'float32', [3])], nodes: [onnx.node(opType, inputs, ['y'], {}, { domain })]
})

describe('a plug-in in the page', { skip: noBrowser || noCompiler }, () => {
  let pages
  before(async () => { pages = await startPage() })
  after(() => pages?.stop())

  const row = name => `.plugin[data-plugin="${name}"]`
  const run = (person, name) => person.page.click(`${row(name)} button.primary`)
  const state = (person, name, wanted) => person.page.waitForSelector(`${row(name)}.${wanted}`, { timeout: 60000 })

  it('runs only when the person presses Run, and is refused with the reason', async () => {
    const person = await pages.open()
    await person.drop('traps.wasm', buildPlugin(plug('', { register: '__builtin_trap();' })))
    await state(person, 'traps.wasm', 'waiting')
    await person.page.waitForTimeout(500)
    assert.match(await person.textOf(row('traps.wasm')), /has not run: it runs when you press Run/)
    await run(person, 'traps.wasm')
    await state(person, 'traps.wasm', 'refused')
    assert.match(await person.textOf(`${row('traps.wasm')} .note.error`), /the plug-in cannot be used: .*unreachable/)
    await person.drop('text.wasm', new TextEncoder().encode('no module'))
    await run(person, 'text.wasm')
    await state(person, 'text.wasm', 'refused')
    assert.match(await person.textOf(`${row('text.wasm')} .note.error`), /plug-in/)
    // What it was is gone with it; the document on the left is as before.
    await person.page.click(`${row('traps.wasm')} button:text-is("Remove")`)
    await person.has(0, row('traps.wasm'))
    assert.match(await person.text(), /QuickGelu/)
    await person.close()
  })

  it('that loops while it is loaded is ended, and the page goes on', async () => {
    const person = await pages.open()
    await person.drop('loops.wasm', buildPlugin(plug('', { register: 'for (volatile int i = 0;; i++) {}' })))
    await run(person, 'loops.wasm')
    await state(person, 'loops.wasm', 'loading')
    await state(person, 'loops.wasm', 'refused')
    assert.match(await person.textOf(`${row('loops.wasm')} .note.error`), /time limit/)
    await person.change('"op_type": "QuickGelu"', '"op_type": "SlowGelu"')
    assert.match(await person.page.title(), /opspec/)
    await person.close()
  })

  it('serves the model that is open, and is taken back', async () => {
    const person = await pages.open()
    await person.drop('tilted.onnx', modelOf('Tilt', ['x', 's']))
    await person.page.waitForSelector('.model h2:text-is("tilted.onnx")')
    await person.page.waitForSelector('.model:has-text("Tilt")')
    await person.drop('tilt.wasm', buildPlugin('tilt_roles.c'))
    await run(person, 'tilt.wasm')
    await state(person, 'tilt.wasm', 'loaded')
    assert.deepEqual(await person.page.locator(`${row('tilt.wasm')} tbody tr`).evaluateAll(rows => rows.map(line => [...line.cells].map(cell => cell.textContent).join('\t'))), ['org.test.Tilt\ttilt.wasm\tthe plug-in or the standard'])
    await person.page.waitForSelector('.model .fine')
    await person.page.click('button:has-text("Run on random inputs")')
    await person.page.waitForSelector('.model caption:has-text("ms")')
    await person.page.click(`${row('tilt.wasm')} button:text-is("Take it back")`)
    await person.page.waitForSelector(row('tilt.wasm'), { state: 'detached' })
    await person.page.waitForFunction(() => document.querySelector('.model .fine') === null || /so far/.test(document.querySelector('.model .fine').textContent))
    await person.page.click('button:has-text("Run on random inputs")')
    await person.page.waitForSelector('.run-model ~ .note.error')
    await person.close()
  })

  it('is matched to the open document, and what has no document is said', async () => {
    const person = await pages.open()
    const without = buildPlugin(plug(''))
    await person.drop('plug.wasm', without)
    await run(person, 'plug.wasm')
    await state(person, 'plug.wasm', 'loaded')
    assert.match(await person.textOf(`${row('plug.wasm')} .unmatched`), /1 operator without a document: org\.test\.Plug \(version 1\)/)
    assert.match(await person.textOf(row('plug.wasm')), /no operator that can be used/)
    await person.write(tiltDocument)
    await person.drop('tilt.wasm', buildPlugin('tilt_plugin.c'))
    await run(person, 'tilt.wasm')
    await state(person, 'tilt.wasm', 'loaded')
    assert.match(await person.textOf(`${row('tilt.wasm')} tbody`), /org\.test\.Tilt.*the open document/)
    await person.close()
  })

  it('is brought and run by keyboard alone', async () => {
    const person = await pages.open()
    const chooser = person.page.waitForEvent('filechooser')
    await person.page.keyboard.press('Control+k')
    await person.page.keyboard.type('load a plug')
    await person.page.keyboard.press('Enter')
    await (await chooser).setFiles({ name: 'tilt.wasm', mimeType: 'application/wasm', buffer: Buffer.from(buildPlugin('tilt_roles.c')) })
    await state(person, 'tilt.wasm', 'waiting')
    await person.page.waitForFunction(() => document.activeElement?.closest('.plugin') != null && document.activeElement.textContent === 'Run')
    await person.page.keyboard.press('Enter')
    await state(person, 'tilt.wasm', 'loaded')
    await person.close()
  })

  it('as the kernel.wasm of a bundle is shut in with it', async () => {
    const person = await pages.open()
    await person.drop('kernel.wasm', buildPlugin(plug('')))
    await person.page.waitForSelector('#file-tabs [data-id="kernel.wasm"]')
    await person.has(0, '.plugin')
    await person.close()
  })
})
