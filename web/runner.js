// Runs a bundle's evidence where its kernel can do no harm: a worker inside a sandboxed frame with an origin of its own,
// no network and no storage. Removing the frame ends whatever runs in it.
import { collectTests } from 'opspec/isolated'
import program from 'virtual:runner'

const frameUrl = new URL('./frame.html', document.baseURI)

// A place for one job, as collectTests wants it: answers what kills it.
function openFrame(job, onMessage, onEnd) {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.title = 'Kernel sandbox'
  frame.hidden = true
  frame.src = frameUrl
  let sent = false
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow || data === null || typeof data !== 'object') return
    if (!sent) {
      if (data.type !== 'ready') return
      sent = true
      source.postMessage({ type: 'job', program, job }, '*')
    } else if (data.type === 'broken') onEnd(`the kernel's worker ended: ${String(data.message).slice(0, 400)}`)
    else onMessage(data)
  }
  addEventListener('message', listen)
  document.body.append(frame)
  return () => {
    removeEventListener('message', listen)
    frame.remove()
  }
}

// files: Map from name to text or bytes. `wasm`: bytes of the module. `started(name)` before each test. `timeoutMs`: of each test.
// Resolves to the list of tests; a test has `outputs` beside what env.test reports.
export function runBundle({ files, wasm, signal, timeoutMs = 5000, started = () => {} }) {
  const encoder = new TextEncoder()
  const contents = [...files].map(([name, content]) => [name, typeof content === 'string' ? encoder.encode(content) : content])
  let names = null // of the plan, by index
  return collectTests({ version: 1, files: contents, wasm }, { signal, timeoutMs }, (job, onMessage, onEnd) => openFrame(job, message => {
    if (message.type === 'plan' && Array.isArray(message.tests)) names ??= new Map(message.tests.map(test => [test?.index, String(test?.name)]))
    if (message.type === 'start' && names?.has(message.index)) started(names.get(message.index))
    onMessage(message)
  }, onEnd))
}
