// The page marks the characters that the package names, its fixes are those of applyFixes byte for byte, and it lists the same
// findings in the same order.
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { applyFixes, createEnv } from '../../wasm/js/index.js'
import { readBundle } from '../../wasm/js/node.js'
import { spec } from '../rules/cases.js'
import { writings } from '../rules/writings.js'
import { corpus, filesBelow } from '../support/corpora.js'
import { skip } from './browser.js'
import { startPage } from './page.js'

const faults = [['[0, 1, 2]', '[2, 1, 16, 128]'], ['"tensor(bool)"', '"tensor( bool )"'], ['"op_type": "SoftGate"', '"op_type": "Soft-Gate"'], ['["one.json", "two.json"]', '["one.json", "one.json"]'], ['Slope.', 'Slope of `aplha`.'], ['"2.0.1"', '"2.0.1.dev3"']]
const faulty = faults.reduce((text, [from, to]) => text.replace(from, () => to), spec)
const { folder, skip: noCorpus } = corpus('spec-documents')

describe('places on the page', { skip }, () => {
  let env, pages, person
  before(async () => {
    env = await createEnv()
    pages = await startPage()
    person = await pages.open()
  })
  after(async () => {
    await pages?.stop()
    env?.dispose()
  })

  async function open(name, bytes) {
    await person.drop(name, bytes)
    await person.page.waitForSelector(`#file-tabs [data-id="${name}"]`)
    await person.settled()
  }

  // Texts under the squiggles of a severity; one that runs over several lines has a piece on each.
  const squiggles = severity => person.page.locator(`#editor .cm-lintRange-${severity}`).allTextContents()

  const listed = () => person.page.locator('.finding').evaluateAll(rows => rows.map(row => [row.querySelector('.rule').textContent, row.querySelector('.rule').nextElementSibling.textContent]))

  async function saved(name) {
    const download = person.page.waitForEvent('download')
    await person.page.keyboard.press('Control+s')
    const files = await readBundle(await (await download).path())
    return Buffer.from(files.get(name))
  }

  for (const [title, writing] of Object.entries(writings)) {
    it(`are the package's, ${title}`, async () => {
      const name = `${title.replaceAll(' ', '-')}.opspec.json`
      const bytes = new Uint8Array(Buffer.from(writing(faulty)))
      const text = writing(faulty)
      await open(name, bytes)
      await person.show('findings')
      const { findings } = env.validateSpec(bytes, { files: {} })
      assert.ok(findings.length >= 6)
      assert.deepEqual(await listed(), findings.map(({ rule, range }) => [rule, `${name} ${range.start.line}:${range.start.column}`]))

      const wanted = severity => findings.filter(finding => finding.severity === severity && finding.range.start.utf16 < finding.range.end.utf16)
        .flatMap(({ range }) => text.slice(range.start.utf16, range.end.utf16).split(/\r?\n/)).sort()
      // Each finding in turn, so that all of the text has been on the screen.
      for (const severity of ['error', 'warning', 'info']) {
        const seen = new Set()
        for (const finding of findings.filter(item => item.severity === severity)) {
          await person.page.locator('.finding .row', { hasText: finding.rule }).first().click()
          for (const piece of await squiggles(severity)) seen.add(piece)
          const target = (await person.page.locator('#editor .cm-target').allTextContents()).join('\n')
          assert.ok(findings.filter(({ rule }) => rule === finding.rule).some(({ range }) => text.slice(range.start.utf16, range.end.utf16).replace(/\r\n/g, '\n') === target), `${finding.rule}: ${target}`)
        }
        for (const piece of wanted(severity)) assert.ok(seen.has(piece), `${severity}: ${piece} is not among ${[...seen].join(' | ')}`)
      }

      await person.page.keyboard.press('Control+k')
      await person.page.keyboard.insertText('Apply all safe fixes')
      await person.page.keyboard.press('Enter')
      await person.settled()
      const expected = applyFixes(bytes, findings.filter(({ fix }) => fix?.safe)).content
      assert.deepEqual(await saved(name), Buffer.from(expected))
      assert.notDeepEqual(Buffer.from(expected), Buffer.from(bytes))
    })
  }

  it('findings of the corpus are those of the package, in its order', { skip: noCorpus }, async () => {
    const names = filesBelow(join(folder, 'invalid')).filter(path => path.endsWith('.json') && !path.includes('/') && statSync(join(folder, 'invalid', path)).size < 100_000 && !path.includes('latin1'))
    assert.ok(names.length > 60)
    await person.show('findings')
    for (const path of names) {
      const bytes = new Uint8Array(readFileSync(join(folder, 'invalid', path)))
      const name = path.replace('.json', '.opspec.json')
      await open(name, bytes)
      const { findings } = env.validateSpec(bytes, { files: { [name]: bytes } })
      assert.deepEqual(await listed(), findings.map(({ rule, file, range, pointer }) => [rule, `${file ?? name} ${range ? `${range.start.line}:${range.start.column}` : pointer ?? ''}`.trim()]), path)
    }
  })
})
