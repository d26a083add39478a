// The sandboxed frame in which kernels run. It has an origin of its own, no network and no storage. It takes one job,
// starts a worker for it, and hands on what the worker says by the port that it was given, which a kernel in the worker cannot
// reach; the page ends both by removing the frame.

// Now that this script is here, no other is let in: not even one of this site, whose address could carry data away.
// Workers that are made from here on inherit the rule.
const rule = document.createElement('meta')
rule.httpEquiv = 'Content-Security-Policy'
rule.content = "script-src blob: 'wasm-unsafe-eval'"
document.head.append(rule)

function take({ source, data }) {
  if (source !== parent || data?.type !== 'job') return
  removeEventListener('message', take)
  const worker = new Worker(URL.createObjectURL(new Blob([data.program], { type: 'text/javascript' })))
  const say = message => parent.postMessage(message, '*')
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = event => say(event.data)
  worker.onerror = event => {
    event.preventDefault()
    say({ type: 'broken', message: event.message || 'the worker ended' })
  }
  worker.postMessage(data.job, [port2])
}

addEventListener('message', take)
parent.postMessage({ type: 'ready' }, '*')
