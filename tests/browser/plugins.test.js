// Operators written in several ways, in a page: what tests/js/plugins.test.js runs in Node.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEnv } from '../../wasm/js/index.js'
import { pickDocument, pickKernel, runPick, runTilt, tiltDocument, tiltKernel } from '../operators/ways.js'
import { buildPlugin, plug, skip as noCompiler } from '../support/plugin.js'
import { launch, root, serve, skip as noBrowser } from './browser.js'

const rows = join(process.env.OPSPEC_WASM_BUILD ?? join(root, 'build/wasm-tests'), 'tests/opspec_rows.wasm')

const script = `
import { createEnv } from '/wasm/js/index.js'
import * as ways from '/tests/operators/ways.js'
window.ask = async ({ way, plugin, rows, roles }) => {
  const env = await createEnv(rows ? { wasm: '/rows/opspec_rows.wasm' } : {})
  try {
    const bytes = plugin && Uint8Array.from(plugin)
    if (roles) await env.loadPlugin(bytes)
    else if (plugin || rows) env.registerOperator(ways[way + 'Document'], bytes)
    else if (way === 'line') env.registerOperator(ways.tiltDocument, ways.tiltLine)
    else if (way === 'registered') env.registerOperator(ways.tiltDocument, ways.tiltFunction)
    else if (way !== 'function') env.registerOperator(ways[way + 'Document'], ways[way + 'Kernel'])
    return way === 'pick' ? await ways.runPick(env) : await ways.runTilt(env, way === 'function')
  } catch (error) {
    return error.code + ': ' + error.message
  } finally {
    env.dispose()
  }
}`

describe('operators in a page', { skip: noBrowser || noCompiler }, () => {
  let browser, site, page
  const expected = {}
  before(async () => {
    for (const [way, document, kernel, run] of [['tilt', tiltDocument, tiltKernel, runTilt], ['pick', pickDocument, pickKernel, runPick]]) {
      const env = await createEnv()
      env.registerOperator(document, kernel)
      expected[way] = await run(env)
      env.dispose()
    }
    browser = await launch()
    const folders = { '/wasm/js/': join(root, 'wasm/js'), '/tests/': join(root, 'tests'), '/rows/': dirname(rows) }
    site = await serve(folders, { '/page.html': '<!doctype html><meta charset="utf-8"><title>ways</title><script type="module" src="/page.js"></script>', '/page.js': script })
    page = await browser.newPage()
    await page.goto(site.url('/page.html'))
    await page.waitForFunction('window.ask !== undefined')
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })
  const ask = question => page.evaluate(given => window.ask(given), question)

  const tilt = { 'JavaScript': { way: 'tilt' }, 'one element': { way: 'line' }, 'a function': { way: 'registered' }, 'a function of the model': { way: 'function' } }
  for (const [name, question] of Object.entries(tilt)) it(name, async () => assert.deepEqual(await ask(question), expected.tilt))
  it('a plug-in', async () => assert.deepEqual(await ask({ way: 'tilt', plugin: [...buildPlugin('tilt_plugin.c')] }), expected.tilt))
  it('the roles of MLOperatorAuthor', async () => assert.deepEqual(await ask({ way: 'tilt', roles: true, plugin: [...buildPlugin('tilt_roles.c')] }), expected.tilt))
  it('strings and sequences in a plug-in', async () => assert.deepEqual(await ask({ way: 'pick', plugin: [...buildPlugin('pick_plugin.c')] }), expected.pick))
  it('rows linked into the build', { skip: !existsSync(rows) && 'the module with linked rows is not built: npm test makes it' }, async () => {
    assert.deepEqual(await ask({ way: 'tilt', rows: true }), expected.tilt)
    assert.deepEqual(await ask({ way: 'pick', rows: true }), expected.pick)
  })
  it('one that traps leaves the page alive', async () => {
    assert.match(await ask({ way: 'tilt', plugin: [...buildPlugin(plug('', { register: 'row.op_type = "Tilt"; row.compute = NULL; __builtin_trap();' }))] }), /^unsupported: .*unreachable/)
    assert.deepEqual(await ask({ way: 'tilt' }), expected.tilt)
  })
})
