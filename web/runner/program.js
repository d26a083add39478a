// Inside the sandbox's worker: one job. Says each test as it starts and ends, with what the kernel gave for it.
import { createEnv } from 'opspec'
import { runIsolated } from 'opspec/isolated'

const most = 100000 // elements of an output that are shown outside

let tell = () => {} // to the frame, by a port that the kernel cannot reach
let watch = () => {}
let given = null // outputs of the present test, as the kernel returned them

const isTensor = value => value !== null && typeof value === 'object' && typeof value.type === 'string' && Array.isArray(value.dims) && value.data?.length <= most

// Copies: the kernel may have returned a view of memory that changes.
const copy = value => isTensor(value) ? { type: value.type, dims: [...value.dims], data: value.data.slice() } : null

function note(outputs) {
  given ??= Array.isArray(outputs) ? outputs.map(copy) : null
  return outputs
}

// The kernel, overheard. Whether compute is asynchronous must stay visible.
function overheard(kernel) {
  const { compute } = kernel
  const listening = compute.constructor.name === 'AsyncFunction'
    ? async function (...values) { return note(await compute.apply(this, values)) }
    : function (...values) {
      const outputs = compute.apply(this, values)
      return typeof outputs?.then === 'function' ? outputs.then(note) : note(outputs)
    }
  return Object.create(kernel, { compute: { value: listening } })
}

async function evaluate(source) {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))
  try {
    const { default: kernel } = await import(url)
    return typeof kernel?.compute === 'function' ? overheard(kernel) : kernel
  } finally {
    URL.revokeObjectURL(url)
  }
}

function post(message) {
  if (message.type === 'start') given = null
  tell(message.type === 'test' ? { ...message, test: { ...message.test, outputs: given } } : message)
}

// What the frame's policy refused, whichever way it was asked for.
addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => watch(`${effectiveDirective} ${blockedURI}`))

addEventListener('message', ({ data: job, ports: [port] }) => {
  tell = port.postMessage.bind(port)
  runIsolated(job, { createEnv: options => createEnv({ ...options, wasm: job.wasm }), evaluate, post, onWatch(note) { watch = note } })
}, { once: true })
