// The worker of opened documents: one Env, one document at a time. A message is [id, method, arguments]; the answer [id, result] or
// [id, undefined, { message, code, findings }]. While a document is opened, [0, part of it that is read].
import { createEnv } from 'opspec'
import { Opened } from './opened.js'

let env = null
let opened = null

async function open(name, blob, files) {
  opened?.dispose()
  opened = new Opened(env, name, files)
  let told = 0
  return opened.open(blob, part => {
    const now = Math.floor(part * 100)
    if (now === told) return
    told = now
    postMessage([0, part])
  })
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
