// The child process of isolate-node.js: one job on standard input, messages as lines of JSON on standard output.
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { deserialize } from 'node:v8'
import vm from 'node:vm'
import { createEnv } from './index.js'
import { runIsolated } from './isolated.js'

const silent = () => {}

// A kernel's module in a context of its own, where there is the language and nothing of Node. Imports are refused.
async function evaluate(source, name) {
  const console = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug'].map(key => [key, silent]))
  const context = vm.createContext({ console }, { codeGeneration: { strings: false, wasm: false } })
  const refuse = specifier => {
    throw new Error(`a kernel cannot import "${specifier}": it must be self-contained`)
  }
  const module = new vm.SourceTextModule(source, { context, identifier: name, importModuleDynamically: refuse })
  await module.link(refuse)
  await module.evaluate({ timeout: 5000 })
  return module.namespace.default
}

async function readInput() {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return deserialize(Buffer.concat(chunks))
}

const job = await readInput()
await runIsolated(job, {
  createEnv: options => createEnv({ ...options, wasm: job.wasm }),
  evaluate,
  post: message => process.stdout.write(`${JSON.stringify(message, (_, value) => value instanceof Uint8Array ? undefined : value)}\n`)
})
