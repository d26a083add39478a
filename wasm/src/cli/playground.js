import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError } from './options.js'

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.ico': 'image/x-icon', '.wasm': 'application/wasm', '.webmanifest': 'application/manifest+json'
}

function fileFor(root, url) {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname))
  const file = join(root, path.endsWith(sep) || path === '/' ? join(path, 'index.html') : path)
  return file.startsWith(root + sep) && existsSync(file) && statSync(file).isFile() ? file : null
}

function serve(root, request, response) {
  let file = null
  try {
    file = fileFor(root, request.url)
  } catch {
    // An address that cannot be decoded names no file.
  }
  if (file === null || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(file === null ? 404 : 405, { 'content-type': 'text/plain' }).end('not here\n')
    return
  }
  response.writeHead(200, {
    'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-length': statSync(file).size, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff'
  })
  if (request.method === 'HEAD') response.end()
  else createReadStream(file).pipe(response)
}

// Serves the page until it is interrupted. Only this machine reaches it.
export async function playground({ options, positionals, output }) {
  if (positionals.length > 0) throw new CommandError('playground: takes no files')
  const root = fileURLToPath(new URL('../../web/dist', import.meta.url))
  if (!existsSync(join(root, 'index.html'))) throw new CommandError('the page is not built; in a checkout run npm run build, or npm start instead')
  const server = createServer((request, response) => serve(root, request, response))
  await new Promise((resolve, reject) => {
    server.once('error', error => reject(new CommandError(`cannot listen: ${error.message}`)))
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  output.line(`http://localhost:${server.address().port}/`)
  output.summary('Ctrl+C ends it')
  await new Promise(resolve => {
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => server.close(resolve).closeAllConnections())
  })
  return 0
}
