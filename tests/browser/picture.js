// Takes web/playground.png, the picture of the page in README: node tests/browser/picture.js
import { join } from 'node:path'
import { root } from './browser.js'
import { startPage } from './page.js'

const pages = await startPage()
const person = await pages.open({ colorScheme: 'light' })
await person.ran()
await person.change('tensor(double)', 'tensor(float64)')
await person.change('"shape_rules": ["`Y` has the shape of `X`."]', '"shape_rules": ["Element-wise."]')
await person.show('findings')
await person.page.locator('.finding button:text-is("Why")').first().click()
await person.page.waitForSelector('.why h4')
await person.page.click('#editor .cm-content')
await person.page.keyboard.press('Control+Home')
await person.page.keyboard.press('F8')
await person.page.waitForTimeout(300)
await person.page.screenshot({ path: join(root, 'web/playground.png') })
await pages.stop()
