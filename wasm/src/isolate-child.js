// The child process of isolate-node.js: one job on standard input, messages as lines of JSON on standard output.
//
// Everything of the job happens in one context of its own, this package's modules included, so that a kernel finds the
// language, the few globals below and nothing of Node; its typed arrays are those that it is given. Functions from outside
// the context lead to no code: the process refuses code from strings.
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { deserialize } from 'node:v8'
import vm from 'node:vm'

const silent = () => {}
const console = Object.fromEntries(['log', 'info', 'warn', 'error', 'debug'].map(name => [name, silent]))
const { AbortController, TextDecoder, TextEncoder, URL, atob, clearTimeout, setImmediate, setTimeout } = globalThis
const context = vm.createContext({
  AbortController, TextDecoder, TextEncoder, URL, atob, clearTimeout, console, performance: { now: () => performance.now() }, setImmediate, setTimeout
}, { codeGeneration: { strings: false, wasm: true } })

const refuse = specifier => {
  throw new Error(`a kernel cannot import "${specifier}": it must be self-contained`)
}

const modules = new Map()

// A module of this package. They all lie in this folder.
function load(name) {
  const known = modules.get(name)
  if (known !== undefined) return known
  const url = new URL(name, import.meta.url)
  const module = new vm.SourceTextModule(readFileSync(url, 'utf8'), {
    context, identifier: url.href, importModuleDynamically: refuse, initializeImportMeta(meta) { meta.url = url.href }
  })
  modules.set(name, module)
  return module
}

async function packageModule(name) {
  const module = load(name)
  if (module.status === 'unlinked') await module.link(specifier => load(specifier))
  await module.evaluate()
  return module.namespace
}

async function evaluate(source, name) {
  const module = new vm.SourceTextModule(source, { context, identifier: name, importModuleDynamically: refuse })
  await module.link(refuse)
  await module.evaluate({ timeout: 5000 })
  return module.namespace.default
}

async function readJob() {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return deserialize(Buffer.concat(chunks))
}

const job = await readJob()
const { createEnvWith } = await packageModule('./env.js')
const { runIsolated } = await packageModule('./isolated.js')
await runIsolated(job, {
  createEnv: options => createEnvWith(job.wasm ?? new Uint8Array(readFileSync(new URL('./opspec.wasm', import.meta.url))), options),
  evaluate,
  post: message => process.stdout.write(`${JSON.stringify(message, (_, value) => ArrayBuffer.isView(value) ? undefined : value)}\n`)
})
