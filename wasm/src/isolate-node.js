/* global process */
import { OpspecError } from './errors.js'
import { collectTests } from './isolated.js'
import { nodeFile, nodeModule } from './platform.js'

// The isolation of Node: a child process with the least rights that this Node can give. It may read this folder and
// nothing else, write nothing, start nothing; its environment is empty and only pipes lead to it.

const MEMORY_MB = 1024
const LONGEST_LINE = 2 ** 26

// Read access to this package's scripts and a thread of its own, where this Node has a permission model.
function permissionFlags(folder, manifest) {
  const known = process.allowedNodeEnvironmentFlags
  const name = ['--permission', '--experimental-permission'].find(flag => known.has(flag))
  return name === undefined ? [] : [name, `--allow-fs-read=${folder}`, `--allow-fs-read=${manifest}`, '--allow-worker']
}

async function childOptions(memory) {
  const { fileURLToPath } = await nodeModule('url')
  const folder = fileURLToPath(nodeFile('./'))
  const manifest = fileURLToPath(nodeFile('../../package.json'))
  const megabytes = Math.max(64, Math.min(MEMORY_MB, Math.ceil((memory ?? Infinity) / 2 ** 20)))
  const flags = [
    ...permissionFlags(folder, manifest),
    '--no-warnings', '--frozen-intrinsics', '--disallow-code-generation-from-strings', '--experimental-vm-modules',
    `--max-old-space-size=${megabytes}`, '--disable-proto=delete'
  ]
  return { args: [...flags, fileURLToPath(nodeFile('./isolate-child.js'))], megabytes }
}

// Ends a process whose memory outside of the JavaScript heap has grown too large. Linux only; elsewhere best effort.
function watchMemory(readFileSync, pid, megabytes, kill) {
  const timer = setInterval(() => {
    try {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1])
      if (pages * 4096 > (megabytes + 512) * 2 ** 20) kill()
    } catch {
      clearInterval(timer)
    }
  }, 50)
  timer.unref()
  return () => clearInterval(timer)
}

export async function isolateInChild(job, limits) {
  const [{ spawn }, { serialize }, { readFileSync }] = await Promise.all([nodeModule('child_process'), nodeModule('v8'), nodeModule('fs')])
  const { args, megabytes } = await childOptions(job.limits?.memory)
  return collectTests(await withModule(job), limits, (part, onMessage, onEnd) => {
    const child = spawn(process.execPath, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
    let reason = null
    let rest = ''
    let errors = ''
    let closed = false
    const kill = why => {
      reason = why
      child.kill('SIGKILL')
    }
    const unwatch = watchMemory(readFileSync, child.pid, megabytes, () => kill('the memory limit was reached'))
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', chunk => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      if (rest.length > LONGEST_LINE) kill('the isolated process answered without end')
      for (const line of lines) if (!closed) onMessage(readLine(line))
    })
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', chunk => { errors = (errors + chunk).slice(-4000) })
    child.on('error', error => { if (!closed) onEnd(error.message) })
    child.on('close', (code, signal) => {
      unwatch()
      if (!closed) onEnd(reason ?? endReason(code, signal, errors))
    })
    // A child that dies early closes the pipe under the writer.
    child.stdin.on('error', () => {})
    child.stdin.end(serialize(part))
    return () => {
      closed = true
      child.kill('SIGKILL')
    }
  })
}

function endReason(code, signal, errors) {
  if (/heap out of memory|Allocation failed/.test(errors)) return 'the memory limit was reached'
  // Node's ways to end when nothing is left to do.
  if (code === 0 || code === 13) return 'the kernel waits for something that never comes'
  // Node shows the kind of a frozen realm's objects as well: Error <Object ...>: message
  const line = errors.split('\n').find(text => /^\w*(Error|Exception)\b/.test(text))?.replace(/^(\w+) <.*?>+(?=: |$)/, '$1')
  return `the isolated process ended (${signal ?? `exit ${code}`})${line === undefined ? '' : `: ${line.trim()}`}`
}

function readLine(line) {
  try {
    return JSON.parse(line)
  } catch {
    return { type: 'error', error: { code: 'crashed', message: 'the isolated process gave an answer that cannot be read' } }
  }
}

// The child may read this folder only, so a module from elsewhere goes along as bytes.
async function withModule(job) {
  const own = nodeFile('./opspec.wasm').href
  const { wasm } = job
  if (wasm === undefined || wasm === own) return { ...job, wasm: undefined }
  if (wasm instanceof WebAssembly.Module) throw new OpspecError('unsupported', 'a bundle with a kernel.js needs an Env made from a file or bytes: a compiled module cannot go to another process')
  if (typeof wasm !== 'string') return job
  if (!wasm.startsWith('file:')) throw new OpspecError('unsupported', `a bundle with a kernel.js needs an Env made from a file or bytes, not from ${wasm}`)
  const { readFile } = await nodeModule('fs/promises')
  return { ...job, wasm: new Uint8Array(await readFile(new URL(wasm))) }
}
