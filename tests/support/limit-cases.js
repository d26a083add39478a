// Every hostile document gets an answer, and the Env lives on. Pure JavaScript: pages run it, too.
import { hostileBytes, hostileTexts } from './hostile-documents.js'
import { model, node, value } from './onnx.js'

const codes = ['malformed', 'limit', 'unsupported']
const sound = model({ nodes: [node('Relu', ['x'], ['y'])], inputs: [value('x', 'float32', [2])], outputs: [value('y', 'float32', [2])] })

async function answer (job) {
  try {
    await job()
  } catch (error) {
    if (!codes.includes(error.code)) throw error
  }
}

export const names = [...Object.keys(hostileBytes), ...Object.keys(hostileTexts)]

/** Asks everything about one document. `most`: bytes of memory. */
export async function tryHostile (name, createEnv, memoryOf, most) {
  const env = await createEnv()
  if (name in hostileBytes) {
    const bytes = hostileBytes[name]()
    const report = env.check(bytes, { as: 'model' })
    if (report.ok) throw new Error('it was found good')
    await answer(() => env.decode(bytes, 'ModelProto'))
    await answer(async () => (await env.open(new Blob([bytes]))).check())
    await answer(() => env.format(bytes, 'ModelProto', 'textproto', { lossy: true }))
    await answer(() => env.format(bytes, 'ModelProto', 'onnxtxt', { lossy: true }))
  } else {
    const [form, text] = hostileTexts[name]()
    await answer(() => env.parse(text, 'ModelProto', form))
  }
  const memory = memoryOf(env)
  if (memory > most) throw new Error(`${memory} bytes of memory`)
  if (!env.check(sound).ok) throw new Error('the Env does not answer any more')
  env.dispose()
}
