// The two public networks in Chromium: what native onnxruntime answered, within 1e-4 of the peak (tests/golden).
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { launch, root, serve, skip } from './browser.js'
import { modelCases } from '../golden/models.js'
import { fetchModel } from '../models.js'

const script = `
import { createEnv, Tensor } from '/pkg/index.js'
import { seededFloats } from '/golden/models.js'
window.runModel = async ({ file, input, dims, output, seeds }) => {
  const env = await createEnv()
  const bytes = new Uint8Array(await (await fetch('/models/' + file)).arrayBuffer())
  const session = await env.createSession(bytes)
  const results = []
  for (const seed of seeds) {
    const x = new Tensor('float32', seededFloats(seed, dims.reduce((a, b) => a * b, 1)), dims)
    const { dims: shape, data } = (await session.run({ [input]: x }))[output]
    results.push({ dims: shape, data: [...data] })
  }
  env.dispose()
  return results
}`

describe('public models in Chromium', { skip }, async () => {
  const paths = await Promise.all(modelCases.map(({ name }) => fetchModel(name)))
  const found = paths.find(path => path !== null)
  let browser, site, page
  before(async () => {
    if (found === undefined) return
    site = await serve({ '/pkg/': join(root, 'wasm/js'), '/golden/': join(root, 'tests/golden'), '/models/': dirname(found) },
      { '/models.html': '<!doctype html><meta charset="utf-8"><script type="module" src="/models.js"></script>', '/models.js': script })
    browser = await launch()
    page = await browser.newPage()
    await page.goto(site.url('/models.html'))
    await page.waitForFunction(() => window.runModel !== undefined)
  })
  after(async () => {
    await browser?.close()
    site?.close()
  })
  for (const [index, model] of modelCases.entries()) {
    it(model.name, { skip: paths[index] === null && `the model ${model.name} cannot be had` }, async () => {
      const golden = JSON.parse(readFileSync(join(root, `tests/golden/${model.name}.json`), 'utf8'))
      const results = await page.evaluate(job => window.runModel(job), { ...model, file: `${model.name}.onnx` })
      for (const [i, { dims, data }] of golden.cases.entries()) {
        assert.deepEqual(results[i].dims, dims)
        const peak = data.reduce((most, v) => Math.max(most, Math.abs(v)), 0)
        data.forEach((v, at) => assert.ok(Math.abs(v - results[i].data[at]) <= 1e-4 * peak, `seed ${golden.cases[i].seed}, element ${at}`))
      }
    })
  }
})
