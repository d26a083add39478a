// The worker of opened documents: one Env, one document at a time. A message is [id, method, arguments]; the answer [id, result] or
// [id, undefined, { message, code, findings }].
import { createEnv } from 'opspec'
import { Opened } from './opened.js'

let env = null
let opened = null

async function open(name, blob, files) {
  opened?.dispose()
  opened = new Opened(env, name, files)
  return opened.open(blob)
}

const own = {
  async start(wasm) {
    env = await createEnv({ wasm })
  },
  open
}

function answer(method, values) {
  if (own[method] !== undefined) return own[method](...values)
  if (opened === null) throw new Error('No document is open.')
  return opened[method](...values)
}

addEventListener('message', async ({ data: [id, method, values] }) => {
  try {
    postMessage([id, await answer(method, values)])
  } catch (error) {
    postMessage([id, undefined, { message: error?.message ?? String(error), code: error?.code ?? 'failed', findings: error?.findings ?? null }])
  }
})
