// The package as others get it: packed, installed into empty projects, used from Node, TypeScript, bundlers and a page.
/* global document */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { model, node as onnxNode, value } from '../support/onnx.js'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const tool = name => join(root, 'node_modules', '.bin', name)
const types = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' }

// Does a little of everything and answers what it found.
const program = `
const { y } = await (async () => {
  const env = await createEnv()
  const report = env.check('{"a": 1,}')
  if (report.ok || report.findings[0].rule !== 'json.syntax') throw new Error('check')
  const bytes = env.writeValue(new Tensor('float32', [1, 2]), 't')
  const value = env.readValue(bytes, 'tensor')
  env.dispose()
  return { y: value.data.length + value.data[1] }
})()
`

describe('package', () => {
  let folder
  let installed
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-package-'))
    const { stdout } = await execute('npm', ['pack', '--pack-destination', folder, '--json', '--ignore-scripts'], { cwd: root })
    const [{ filename, files }] = JSON.parse(stdout)
    installed = { tarball: join(folder, filename), files: files.map(({ path }) => path) }
    installed.project = await project('node')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  // A fresh project with the package installed from the tarball alone.
  async function project (name) {
    const path = join(folder, name)
    mkdirSync(path)
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
    await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', installed.tarball], { cwd: path })
    return path
  }
  const put = (path, name, text) => writeFileSync(join(path, name), text)
  const node = (path, name) => execute(process.execPath, [name], { cwd: path })

  it('holds what it needs and nothing of the tests', () => {
    for (const file of ['package.json', 'LICENSE', 'wasm/js/index.js', 'wasm/js/index.d.ts', 'wasm/js/opspec.wasm', 'wasm/js/wasm-bytes.js', 'wasm/js/cli.js', 'wasm/js/worker.js', 'wasm/js/isolate-child.js']) {
      assert.ok(installed.files.includes(file), `${file} is missing`)
    }
    assert.deepEqual(installed.files.filter(file => /^(tests|core|kernels|proto)\//.test(file)), [])
    const path = join(installed.project, 'node_modules', 'opspec')
    for (const file of installed.files) assert.ok(statSync(join(path, file)).size < 25 * 2 ** 20, `${file} is too large for hosts`)
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).dependencies ?? {}), [])
  })

  it('Node: every entry, with the names of the types', async () => {
    put(installed.project, 'main.js', `
      import * as main from 'opspec'
      import * as inline from 'opspec/inline'
      import { readBundle } from 'opspec/node'
      import * as isolated from 'opspec/isolated'
      import manifest from 'opspec/package.json' with { type: 'json' }
      import { existsSync } from 'node:fs'
      if (!existsSync(new URL(import.meta.resolve('opspec/opspec.wasm')))) throw new Error('opspec.wasm')
      for (const { createEnv, Tensor } of [main, inline]) { ${program} if (y !== 4) throw new Error(String(y)) }
      const worker = await main.createWorkerEnv()
      if ((await worker.check('{}')).kind !== 'json') throw new Error('worker')
      await worker.dispose()
      const other = await inline.createWorkerEnv()
      if ((await other.check('{}')).kind !== 'json') throw new Error('inline worker')
      await other.dispose()
      console.log(JSON.stringify({ main: Object.keys(main).sort(), inline: Object.keys(inline).sort(), readBundle: typeof readBundle, isolated: Object.keys(isolated).sort(), name: manifest.name }))
    `)
    const { stdout } = await execute(process.execPath, ['--no-warnings', 'main.js'], { cwd: installed.project })
    const names = ['OpspecError', 'SparseTensor', 'Tensor', 'applyFixes', 'createEnv', 'createWorkerEnv']
    assert.deepEqual(JSON.parse(stdout), { main: names, inline: names, readBundle: 'function', isolated: ['collectTests', 'runIsolated'], name: 'opspec' })
  })

  it('Node: require(), where it takes ES modules', { skip: !process.features.require_module && 'this Node does not require ES modules' }, async () => {
    put(installed.project, 'main.cjs', "require('opspec').createEnv().then(env => console.log(env.check('{}').kind))")
    const { stdout } = await execute(process.execPath, ['--no-warnings', 'main.cjs'], { cwd: installed.project })
    assert.equal(stdout, 'json\n')
  })

  it('Node: the command, and a bundle with a kernel of its own', async () => {
    const { stdout } = await execute(join(installed.project, 'node_modules', '.bin', 'opspec'), ['--version'])
    assert.match(stdout, /^\d+\.\d+\.\d+/)
    cpSync(join(root, 'specs', 'samples', 'string-split'), join(installed.project, 'bundle'), { recursive: true })
    const result = await execute(join(installed.project, 'node_modules', '.bin', 'opspec'), ['test', 'bundle'], { cwd: installed.project })
    assert.match(result.stdout, /passed, 0 failed/)
  })

  it('TypeScript: strict, nodenext, without the DOM library', async () => {
    const text = `
      import { applyFixes, createEnv, createWorkerEnv, OpspecError, Tensor, type Async, type Env, type Finding, type Kernel, type Model, type Report, type Value } from 'opspec'
      import { createEnv as inline } from 'opspec/inline'
      import { readBundle } from 'opspec/node'
      const kernel: Kernel = {
        inferShapes: inputs => [{ type: inputs[0]!.type, shape: inputs[0]!.shape }],
        compute([x], attributes, context) {
          if (attributes.alpha === undefined) context.fail('no alpha')
          return [x]
        }
      }
      const env = await createEnv({ limits: { memory: 2 ** 30 }, float16: 'bits' })
      const report: Report = env.check(new Uint8Array(4), { as: 'ModelProto', strict: true, files: { 'a.bin': new Uint8Array(1) } })
      const places: number[] = report.findings.map((finding: Finding) => finding.range?.start.line ?? 0)
      const model: Model = env.loadModel(new ArrayBuffer(4), { files: name => name === 'w' ? new Uint8Array(1) : null })
      const session = await env.createSession(model)
      const { y } = await session.run({ x: new Tensor('float32', [1, 2], [2]) }, { timeoutMs: 5, signal: new AbortController().signal })
      const sum: number = y.dims[0] + y.size
      const values: Record<string, Value> = await session.run<Record<string, Value>>({ s: [new Tensor('int64', [1n])], o: null })
      const registration = env.registerOperator({ kind: 'x' }, kernel, { sinceVersion: 2 })
      registration.dispose()
      const { content, applied } = applyFixes('text' as string, report.findings)
      const text: string = content
      const remoteEnv: Async<Env> = await createWorkerEnv()
      const worker = await createWorkerEnv({ onRestart: reason => { const r: 'aborted' | 'timeout' | 'crashed' = reason; void r } })
      const remote = await worker.loadModel(new Uint8Array(1))
      const shapes = remote.inputs.map(input => input.shape)
      const checked: Report = await remote.check()
      const other = await worker.createSession(remote)
      const outputs = await other.run({ x: new Tensor('bool', [true]) })
      await worker.registerOperator('text', 'export default {}', { timeoutMs: 1000 })
      await worker.loadPlugin('plugin.wasm', { documents: ['text'], signal: new AbortController().signal })
      const tests = await env.test(await readBundle('folder'))
      const status: 'passed' | 'failed' | 'skipped' | 'error' = tests.tests[0].status
      const why: string = env.explain('x').why
      const message: Record<string, unknown> = env.decode(new Uint8Array(1), 'ModelProto')
      const names: string[] = env.operators().map(operator => operator.name)
      try { env.dispose() } catch (error) { if (error instanceof OpspecError && error.code === 'limit') throw error }
      using disposed = env.loadModel(new Uint8Array(1))
      const opened: Model = await env.open('model.onnx', { files: { 'w.bin': new Uint8Array(1) } })
      const again = await worker.open(opened.toBlob())
      const size: number = (await again.toBlob()).size
      void [size, remoteEnv, places, sum, values, applied, text, shapes, checked, outputs, status, why, message, names, inline, disposed]
      // @ts-expect-error
      env.check(5)
      // @ts-expect-error
      env.open(5)
      // @ts-expect-error
      session.profile()
    `
    const path = await project('typescript')
    put(path, 'main.ts', text)
    const check = async lib => {
      const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', lib, types: [] }
      put(path, 'tsconfig.json', JSON.stringify({ compilerOptions, files: ['main.ts', 'globals.d.ts'] }))
      await execute(tool('tsc'), ['--pretty', 'false'], { cwd: path }).catch(error => assert.fail(error.stdout))
    }
    put(path, 'globals.d.ts', 'declare class AbortController { readonly signal: { readonly aborted: boolean; addEventListener(type: "abort", listener: () => void, options?: any): void; removeEventListener(type: "abort", listener: () => void): void }; abort(): void }\n')
    await check(['es2022', 'esnext.disposable'])
    put(path, 'main.ts', text.replace('using disposed', 'const disposed'))
    await check(['es2022'])
    put(path, 'globals.d.ts', '')
    await check(['es2022', 'dom', 'dom.iterable'])
  })

  it('esbuild: opspec/inline in one file', async () => {
    const path = await project('esbuild')
    put(path, 'main.js', `import { createEnv, Tensor } from 'opspec/inline'\n${program}\nconsole.log(y)`)
    await execute(tool('esbuild'), ['main.js', '--bundle', '--format=esm', '--platform=browser', '--outfile=out.mjs', '--log-level=warning'], { cwd: path })
    assert.equal((await node(path, 'out.mjs')).stdout, '4\n')
  })

  it('esbuild: says what a bundle lacks', async () => {
    const path = join(folder, 'esbuild')
    const bundle = async (name, format, text) => {
      put(path, `${name}.js`, `${text}\n`)
      await execute(tool('esbuild'), [`${name}.js`, '--bundle', `--format=${format}`, '--platform=node', `--outfile=${name}.${format === 'esm' ? 'mjs' : 'cjs'}`, '--log-level=error'], { cwd: path })
      return (await node(path, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`)).stdout
    }
    const failure = call => `.then(() => console.log('no error'), error => console.log(error instanceof OpspecError, error.code, error.message))`.replace(/^/, call)
    const noWorker = /^true unsupported the worker cannot be started: .*createWorkerEnv\(\{ worker \}\), a Worker of the script opspec\/worker$/m
    for (const format of ['esm', 'cjs', 'iife']) {
      assert.match(await bundle(`worker-${format}`, format, `import { createWorkerEnv, OpspecError } from 'opspec/inline'\n${failure('createWorkerEnv()')}`), noWorker)
      assert.match(await bundle(`main-${format}`, format, `import { createEnv, OpspecError } from 'opspec'\n${failure('createEnv()')}`), /^true unsupported the WebAssembly module cannot be .*createEnv\(\{ wasm \}\)/)
    }
    const wasm = JSON.stringify(join(path, 'node_modules/opspec/wasm/js/opspec.wasm'))
    assert.equal(await bundle('named', 'cjs', `import { createEnv } from 'opspec'\ncreateEnv({ wasm: ${wasm} }).then(env => console.log(env.check('{}').kind))`), 'json\n')
    assert.equal(await bundle('inline', 'cjs', "import { createEnv } from 'opspec/inline'\ncreateEnv().then(env => console.log(env.check('{}').kind))"), 'json\n')
  })

  describe('in a browser', () => {
    let browser
    let skip = !existsSync('/usr/bin/chromium') && 'there is no /usr/bin/chromium'
    before(async () => {
      if (skip) return
      const { chromium } = await import('playwright-core')
      browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    })
    after(() => browser?.close())

    // Serves a folder under a sub-path and a strict policy; answers the page's title once it is set.
    async function titleOf (served, page, base = '/sub/path/') {
      const server = createServer((request, response) => {
        const name = new URL(request.url, 'http://localhost').pathname.replace(base, '')
        const file = join(served, name)
        if (!existsSync(file) || !statSync(file).isFile()) {
          response.writeHead(404).end()
          return
        }
        response.setHeader('content-type', types[extname(file)] ?? 'text/plain')
        response.setHeader('content-security-policy', "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'")
        response.end(readFileSync(file))
      })
      await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
      try {
        return await titleAt(`http://127.0.0.1:${server.address().port}${base}${page}`)
      } finally {
        server.close()
      }
    }

    async function titleAt (address) {
      const tab = await browser.newPage()
      const problems = []
      tab.on('pageerror', error => problems.push(error.message))
      tab.on('console', message => { if (message.type() === 'error') problems.push(message.text()) })
      try {
        await tab.goto(address)
        await tab.waitForFunction(() => document.title !== '', null, { timeout: 60_000 }).catch(error => { throw new Error(`${error.message}\n${problems.join('\n')}`) })
        return await tab.title()
      } finally {
        await tab.close()
      }
    }
    const html = script => `<!doctype html><title></title><script type="module" src="${script}"></script>`
    const inPage = entry => `import { createEnv, createWorkerEnv, Tensor } from '${entry}'
      try {
        ${program}
        const worker = await createWorkerEnv()
        const { kind } = await worker.check('{}')
        await worker.dispose()
        document.title = y + ' ' + kind
      } catch (error) {
        document.title = String(error.stack)
      }`

    it('a plain page, under a policy without unsafe-eval', { skip }, async () => {
      const path = join(folder, 'page')
      mkdirSync(path)
      symlinkSync(join(installed.project, 'node_modules', 'opspec'), join(path, 'opspec'))
      put(path, 'index.html', html('./main.js'))
      put(path, 'main.js', inPage('./opspec/wasm/js/index.js'))
      assert.equal(await titleOf(path, 'index.html'), '4 json')
    })
    it('Vite', { skip }, async () => {
      const path = await project('vite')
      put(path, 'index.html', html('/main.js'))
      put(path, 'main.js', inPage('opspec'))
      const { stdout, stderr } = await execute(tool('vite'), ['build', '--base', './', '--minify', 'false', '--outDir', 'dist'], { cwd: path })
      assert.ok(!/warn/i.test(stderr), `${stdout}\n${stderr}`)
      // The page's script, the module, the worker as the bundler made it: nothing that only Node needs.
      const assets = readdirSync(join(path, 'dist', 'assets'))
      assert.equal(assets.filter(name => name.endsWith('.wasm')).length, 1, String(assets))
      assert.deepEqual(assets.filter(name => /isolate|package|\.json$/.test(name)), [])
      assert.equal(assets.filter(name => name.startsWith('worker')).length, 1, String(assets))
      assert.equal(await titleOf(join(path, 'dist'), 'index.html'), '4 json')
    })
    it('the development server of Vite, without a line of configuration', { skip, timeout: 240_000 }, async () => {
      const path = await project('vite-dev')
      const run = new Uint8Array(model({ nodes: [onnxNode('Relu', ['x'], ['y'])], inputs: [value('x', 'float32', ['N'])], outputs: [value('y', 'float32', ['N'])] }))
      const script = entry => `import { createEnv, createWorkerEnv, Tensor } from '${entry}'
        const model = new Uint8Array([${run}])
        const answers = async env => {
          const report = await env.check(model)
          const session = await env.createSession(model)
          const { y } = await session.run({ x: new Tensor('float32', [-1, 2]) })
          await env.dispose()
          return report.ok + ' ' + [...y.data]
        }
        try {
          document.title = await answers(await createEnv()) + ', ' + await answers(await createWorkerEnv())
        } catch (error) {
          document.title = String(error.stack)
        }`
      put(path, 'index.html', html('/main.js'))
      put(path, 'main.js', script('opspec'))
      put(path, 'inline.html', html('/inline.js'))
      put(path, 'inline.js', script('opspec/inline'))
      const { createServer: createVite } = await import('vite')
      const server = await createVite({ root: path, configFile: false, logLevel: 'error', server: { port: 0, host: '127.0.0.1' } })
      try {
        await server.listen()
        const { port } = server.httpServer.address()
        for (const page of ['index.html', 'inline.html']) assert.equal(await titleAt(`http://127.0.0.1:${port}/${page}`), 'true 0,2, true 0,2', page)
        assert.ok(existsSync(join(path, 'node_modules/.vite/deps/opspec.js')), 'the server did not move the package')
      } finally {
        await server.close()
      }
    })
    it('esbuild with opspec/inline', { skip }, async () => {
      const path = join(folder, 'esbuild')
      put(path, 'page.js', `import { createEnv, Tensor } from 'opspec/inline'\n${program}\ndocument.title = String(y)`)
      await execute(tool('esbuild'), ['page.js', '--bundle', '--format=esm', '--outfile=bundle.js', '--log-level=warning'], { cwd: path })
      put(path, 'page.html', html('./bundle.js'))
      assert.equal(await titleOf(path, 'page.html'), '4')
    })
    if (skip) skip = String(skip)
  })
})
