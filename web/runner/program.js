// Inside the sandbox's worker: one job, one report.
import { createEnv } from 'opspec'

addEventListener('message', async ({ data: { wasm, files } }) => {
  try {
    const env = await createEnv({ wasm })
    const report = await env.test(files, {})
    postMessage({ type: 'report', report })
  } catch (error) {
    postMessage({ type: 'broken', message: String(error?.message ?? error) })
  }
}, { once: true })
