/* global setImmediate */
// The child process of isolate-node.js: one job on standard input, messages as lines of JSON on standard output.
//
// Everything of the job happens in one context of its own, this package's modules included, so that a kernel finds the
// language, the globals of isolate-realm.js and nothing of Node. The process refuses code from strings, and what the
// language has in the process's own context is frozen (isolate-node.js): neither is a way out.
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { deserialize } from 'node:v8'
import vm from 'node:vm'
import { Worker } from 'node:worker_threads'

// A kernel that never returns would outlive whoever started this process: a thread ends it then.
new Worker(`const { ppid } = process
  setInterval(() => { if (process.ppid !== ppid) process.kill(process.pid, 'SIGKILL') }, 500)`, { eval: true, env: {} }).unref()

const context = vm.createContext({}, { codeGeneration: { strings: false, wasm: true } })
const modules = new Map()
let realm = null

const refusedImport = specifier => `a kernel cannot import ${JSON.stringify(String(specifier).slice(0, 200))}: it must be self-contained`

const refuse = specifier => {
  throw new Error(refusedImport(specifier))
}

// What a kernel can catch is of its own context.
const refuseLater = specifier => {
  watch?.(`import(${JSON.stringify(String(specifier).slice(0, 200))})`)
  throw realm.refusal(refusedImport(specifier))
}

// A module of this package. They all lie in this folder.
function load(name) {
  const known = modules.get(name)
  if (known !== undefined) return known
  const url = new URL(name, import.meta.url)
  const module = new vm.SourceTextModule(readFileSync(url, 'utf8'), {
    context, identifier: url.href, importModuleDynamically: refuseLater, initializeImportMeta(meta) { meta.url = url.href }
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

async function readJob() {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return deserialize(Buffer.concat(chunks))
}

const { files, wasm, ...rest } = await readJob()
const blobs = [...files.map(([, bytes]) => bytes), wasm ?? readFileSync(new URL('./opspec.wasm', import.meta.url))]
const encoder = new TextEncoder()
const handles = new Map()
let written = 0
let next = 1

const attempt = (act, otherwise) => {
  try {
    return act()
  } catch {
    return otherwise
  }
}

function remember(start, callback) {
  const number = next++
  handles.set(number, start(() => {
    handles.delete(number)
    callback()
  }))
  return number
}

const host = {
  header: () => JSON.stringify({ ...rest, files: files.map(([name]) => name) }),
  size: number => blobs[number].length,
  copy(number, into) { into.set(blobs[number]) },
  now: () => performance.now(),
  later: (callback, ms) => remember(act => setTimeout(act, ms), callback),
  soon: callback => remember(setImmediate, callback),
  cancel(number) {
    clearTimeout(handles.get(number))
    handles.delete(number)
  },
  byteLength: text => Buffer.byteLength(text),
  encode: (text, into) => attempt(() => {
    const done = encoder.encodeInto(text, into)
    written = done.written
    return done.read
  }, -1),
  written: () => written,
  decode: (bytes, fatal, ignoreBOM) => attempt(() => new TextDecoder('utf-8', { fatal, ignoreBOM }).decode(bytes), null),
  post(text) { process.stdout.write(`${text}\n`) },
  // Errors of the process go as text, those of the kernel as they are.
  async evaluate(source, name, done, failed, said) {
    try {
      const module = new vm.SourceTextModule(source, { context, identifier: name, importModuleDynamically: refuseLater })
      await module.link(refuse)
      await module.evaluate()
      done(module.namespace.default)
    } catch (error) {
      if (error instanceof Error) said(error.message)
      else failed(error)
    }
  }
}

const { furnish } = await packageModule('./isolate-realm.js')
realm = furnish(host)
const { createEnvWith } = await packageModule('./env.js')
const { runIsolated } = await packageModule('./isolated.js')
let watch = null
await runIsolated(realm.job, {
  createEnv: options => createEnvWith(realm.wasm, options),
  evaluate: realm.evaluate,
  post: realm.post,
  onWatch(note) { watch = note }
})
