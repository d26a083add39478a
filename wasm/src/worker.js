import { serveEnv } from './worker-server.js'

// The worker of createWorkerEnv, a module worker in browsers and a worker thread in Node.
serveEnv()
