// What browser tests share: Chromium, a server with a strict policy under a sub-path, the built page.
import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { build } from 'vite'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const executablePath = process.env.OPSPEC_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => existsSync(path))

// Why no browser test can run here, or false.
export const skip = executablePath ? false : 'no Chromium on this machine (OPSPEC_CHROMIUM may name one)'

export function launch() {
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
}

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json',
  '.wasm': 'application/wasm'
}

const policy = "default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; base-uri 'none'; form-action 'none'"

// Serves folders, { '/prefix/': folder }, and texts, { '/path': text }. Resolves to { url(path), asked, close() }; asked: the
// paths that were requested.
export async function serve(folders, texts = {}) {
  const send = (response, path, body) => {
    response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream', 'Content-Security-Policy': policy, 'Cache-Control': 'no-store' })
    body === undefined ? createReadStream(path).pipe(response) : response.end(body)
  }
  const asked = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname)
    asked.push(path)
    if (path in texts) return send(response, path, texts[path])
    const prefix = Object.keys(folders).find(name => path.startsWith(name))
    const folder = prefix && normalize(folders[prefix] + sep)
    const file = folder && normalize(join(folder, path.slice(prefix.length) || 'index.html'))
    if (!file?.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end()
    send(response, file)
  })
  await new Promise(resolve => server.listen(0, 'localhost', resolve))
  return { url: path => `http://localhost:${server.address().port}${path}`, asked, close: () => server.close() }
}

function newest(folder) {
  return Math.max(0, ...readdirSync(folder, { withFileTypes: true }).map(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'dist' ? 0 : newest(path)
    return statSync(path).mtimeMs
  }))
}

// The folder of the built page: built once for all test files of a run, again when a source is newer.
export async function builtPage() {
  const folder = join(root, 'build/page')
  const stamp = join(folder, '.built')
  const lock = join(root, 'build/page.lock')
  const sources = Math.max(...['web', 'wasm/js', 'specs'].map(name => newest(join(root, name))))
  const fresh = () => existsSync(stamp) && statSync(stamp).mtimeMs >= sources
  mkdirSync(join(root, 'build'), { recursive: true })
  while (!fresh()) {
    try {
      mkdirSync(lock)
    } catch {
      if (Date.now() - statSync(lock, { throwIfNoEntry: false })?.mtimeMs > 180_000) rmSync(lock, { recursive: true, force: true })
      await pause(200)
      continue
    }
    try {
      await build({ configFile: join(root, 'web/vite.config.js'), logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
      writeFileSync(stamp, '')
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return folder
}
