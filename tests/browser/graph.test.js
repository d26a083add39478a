// The picture of a graph in the page: what is drawn, how it is walked, what is chosen in it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as onnx from '../support/onnx.js'
import { skip } from './browser.js'
import { lowContrast } from './contrast.js'
import { small, wrongNetwork } from './network.js'
import { startPage } from './page.js'

const { model, node, value } = onnx

const chain = count => model({
  nodes: Array.from({ length: count }, (_, i) => node('LeakyRelu', [`out_${i}`], [`out_${i + 1}`], { alpha: 0.01 }, { name: `node_${i}` })),
  inputs: [value('out_0', 'float32', [8])], outputs: [value(`out_${count}`, 'float32', [8])]
})

const box = text => `.drawing .box:has(text:text-is("${text}"))`
const chosen = text => `.drawing .box[aria-selected=true]:has(text:text-is("${text}"))`
const path = text => `.details .path:text-is("${text}")`

describe('the picture of a graph in the page', { skip }, () => {
  let pages, folder
  before(async () => {
    pages = await startPage()
    folder = mkdtempSync(join(tmpdir(), 'opspec-picture-'))
  })
  after(() => {
    pages?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true })
  })

  async function opened (name, bytes, { first = '.drawing .box >> nth=0', tab = '.document .tabs [data-id=picture]', ...options } = {}) {
    const person = await pages.open(options)
    writeFileSync(join(folder, name), bytes)
    await person.choose(join(folder, name))
    await person.page.click(tab)
    await person.has(1, first)
    return person
  }

  it('draws inputs, nodes and outputs with their lines; a click tells of a node and marks its lines', async () => {
    const person = await opened('network.onnx', small)
    await person.has(6, '.drawing .box')
    await person.has(5, '.drawing .line')
    await person.has(3, '.drawing .box.node')
    await person.has(1, '.drawing .line title:text-is("hidden: tensor(float) [N, 4]")')
    await person.page.click(box('activation'))
    await person.has(1, path('graph.node[2]'))
    await person.has(2, '.drawing .line.own')
    await person.has(1, chosen('activation'))
    await person.page.click(box('x'))
    await person.has(1, path('graph.input[0]'))
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('is walked by keyboard, into the graphs of a node and out again', async () => {
    const person = await opened('network.onnx', small)
    const { keyboard } = person.page
    await person.page.focus('.picture')
    for (const [key, there] of [['Home', 'x'], ['ArrowDown', 'dense'], ['ArrowDown', 'branch'], ['ArrowDown', 'activation'], ['ArrowDown', 'y'], ['ArrowUp', 'activation'], ['ArrowUp', 'branch']]) {
      await keyboard.press(key)
      await person.has(1, chosen(there))
    }
    assert.equal(await person.page.evaluate(() => document.getElementById(document.querySelector('.picture').getAttribute('aria-activedescendant')).getAttribute('aria-label')), 'If, branch')
    await person.page.click('.ways [data-key=then_branch]')
    await person.has(1, box('yes_neg'))
    await person.has(1, '.drawing .box.outer:has(text:text-is("hidden"))')
    await person.page.click('.ways [data-key=Up]')
    await person.has(1, chosen('branch'))
    await person.has(1, path('graph.node[1]'))
    await person.page.dblclick(box('branch'))
    await person.has(1, box('yes_neg'))
    await keyboard.press('Enter')
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('and the tree, the search and the findings show the same part', async () => {
    const person = await opened('wrong.onnx', model(wrongNetwork))
    await person.has(1, '.overview .finding')
    await person.has(1, '.drawing .box.error')
    await person.page.click('.overview .finding .row')
    await person.has(1, chosen('activation'))
    await person.has(1, '.details .here')
    await person.page.fill('.finder input', 'no_neg')
    await person.has(1, chosen('no_neg'))
    await person.page.click('.document .tabs [data-id=tree]')
    await person.has(1, '.tree [aria-selected=true] .title:text-is("Neg")')
    await person.page.fill('.finder input', 'dense')
    await person.has(1, '.tree [aria-selected=true] .name:text-is("dense")')
    await person.page.click('.document .tabs [data-id=picture]')
    await person.has(1, chosen('dense'))
    await person.close()
  })

  it('is drawn anew after an edit and its undo', async () => {
    const person = await opened('network.onnx', small)
    await person.page.click(box('activation'))
    await person.page.click('.details button:has-text("Remove and pass its input on")')
    await person.has(0, box('activation'))
    await person.has(5, '.drawing .box')
    await person.page.click('.document .tools [data-key=undo]')
    await person.has(1, box('activation'))
    await person.close()
  })

  it('shows a window of a graph of 20,000 nodes, of any size', async () => {
    const person = await opened('deep.onnx', chain(20_000))
    await person.has(1, box('node_0'))
    assert.ok(await person.page.locator('.drawing .box').count() < 100)
    await person.page.focus('.picture')
    await person.page.keyboard.press('End')
    await person.has(1, chosen('out_20000'))
    await person.page.keyboard.press('ArrowUp')
    await person.has(1, chosen('node_19999'))
    await person.page.click('[aria-label="Smaller"]')
    await person.has(1, chosen('node_19999'))
    await person.page.click('[aria-label="Whole picture"]')
    await person.has(1, '.picture.far')
    await person.page.evaluate(() => document.querySelector('.picture').scrollTo(0, 0))
    await person.has(1, box('node_0'))
    assert.deepEqual(person.complaints, [])
    await person.close()
  })

  it('fits a phone', async () => {
    const person = await opened('network.onnx', small, { viewport: { width: 360, height: 700 }, isMobile: true, hasTouch: true })
    assert.equal(await person.page.evaluate(() => document.documentElement.scrollWidth), 360)
    await person.page.tap(box('dense'))
    await person.has(1, path('graph.node[0]'))
    await person.close()
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`has readable text when the system is ${colorScheme}`, async () => {
      const person = await opened('network.onnx', small, { colorScheme })
      await person.page.click(box('dense'))
      await person.has(1, chosen('dense'))
      assert.deepEqual(await person.page.evaluate(lowContrast), [])
      // Letters in the picture have the colour that fills them.
      const low = await person.page.evaluate(() => {
        const luminance = colour => colour.match(/[\d.]+/g).slice(0, 3).map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0)
        return [...document.querySelectorAll('.drawing .box')].flatMap(each => [...each.querySelectorAll('text')].map(text => {
          const [light, dark] = [text, each.querySelector('rect')].map(element => luminance(getComputedStyle(element).fill)).sort((a, b) => b - a)
          return [(light + 0.05) / (dark + 0.05), text.textContent]
        })).filter(([ratio]) => ratio < 4.5)
      })
      assert.deepEqual(low, [])
      await person.close()
    })
  }
})
