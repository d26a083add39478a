// The sandboxed frame in which kernels run. It has an origin of its own, no network and no storage. It takes one job,
// starts a worker for it, and hands on what the worker says; the page ends both by removing the frame.
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.type !== 'job') return
  const worker = new Worker(URL.createObjectURL(new Blob([data.program], { type: 'text/javascript' })))
  const say = message => parent.postMessage(message, '*')
  worker.onmessage = event => say(event.data)
  worker.onerror = event => {
    event.preventDefault()
    say({ type: 'broken', message: event.message || 'the worker ended' })
  }
  worker.postMessage(data.job)
})
parent.postMessage({ type: 'ready' }, '*')
