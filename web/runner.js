// Runs a bundle's evidence where its kernel can do no harm: a worker inside a sandboxed frame with an origin of its own,
// no network and no storage. Removing the frame ends whatever runs in it.
import program from 'virtual:runner'

const frameUrl = new URL('./frame.html', document.baseURI)

export class RunError extends Error {
  constructor(reason, message) {
    super(message)
    this.reason = reason // 'time' | 'stopped' | 'broken'
  }
}

// files: Map from name to text or bytes. `wasm`: bytes of the module, transferred. `progress(message)` before each test.
// Resolves to what the worker reports; rejects with RunError.
export function runBundle({ files, wasm, timeoutMs = 10000, signal, progress = () => {} }) {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.title = 'Kernel sandbox'
  frame.hidden = true
  frame.src = frameUrl
  let timer = 0
  let listen
  const answer = new Promise((resolve, reject) => {
    const fail = (reason, message) => reject(new RunError(reason, message))
    const stop = () => fail('stopped', 'Stopped. Your text is safe.')
    if (signal?.aborted) return stop()
    signal?.addEventListener('abort', stop, { once: true })
    timer = setTimeout(() => fail('time', `The kernel was still running after ${timeoutMs / 1000} s and was ended. Your text is safe.`), timeoutMs)
    listen = ({ source, data }) => {
      if (source !== frame.contentWindow) return
      if (data?.type === 'ready') source.postMessage({ type: 'job', program, job: { files: Object.fromEntries(files), wasm } }, '*', [wasm])
      else if (data?.type === 'progress') progress(String(data.name))
      else if (data?.type === 'report') resolve(data.report)
      else fail('broken', `The kernel's sandbox ended: ${String(data?.message ?? 'no reason given').slice(0, 400)}`)
    }
    addEventListener('message', listen)
  })
  document.body.append(frame)
  return answer.finally(() => {
    clearTimeout(timer)
    removeEventListener('message', listen)
    frame.remove()
  })
}
