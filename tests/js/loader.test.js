// Where the module comes from, and what is said when it is not there.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createEnv } from '../../wasm/js/index.js'
import { build } from '../../wasm/src/loader.js'

const file = new URL('../../wasm/js/opspec.wasm', import.meta.url)
const bytes = readFileSync(file)

async function works (options) {
  const env = await createEnv(options)
  assert.equal(env.check('{}').kind, 'json')
  env.dispose()
}

describe('createEnv({ wasm })', () => {
  let folder
  let server
  let origin
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opspec-loader-'))
    server = createServer((request, response) => {
      if (request.url === '/opspec.wasm') response.end(bytes)
      else if (request.url === '/app.wasm') response.setHeader('content-type', 'text/html').end('<!DOCTYPE html><html></html>')
      else response.writeHead(404).end()
    })
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${server.address().port}`
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const fails = (wasm, message) => assert.rejects(createEnv({ wasm }), error => error.code === 'unsupported' && message.test(error.message) || assert.fail(error))

  it('left out, a URL, a path, bytes, a module', async () => {
    await works()
    await works({ wasm: file })
    await works({ wasm: file.href })
    await works({ wasm: file.pathname })
    await works({ wasm: bytes })
    await works({ wasm: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) })
    await works({ wasm: await WebAssembly.compile(bytes) })
    await works({ wasm: `${origin}/opspec.wasm` })
  })
  it('a folder with a name that is no ASCII', async () => {
    const path = join(folder, '士大夫 #1.wasm')
    writeFileSync(path, bytes)
    await works({ wasm: path })
    await works({ wasm: pathToFileURL(path) })
  })
  it('says that a server answered with its page', () => fails(`${origin}/app.wasm`, /got HTML from http.*app\.wasm/))
  it('says what is not there', async () => {
    await fails(`${origin}/none.wasm`, /none\.wasm.*404/)
    await fails(join(folder, 'none.wasm'), /none\.wasm/)
    await fails(new Uint8Array(0), /an empty file/)
    await fails(new Uint8Array(100).fill(7), /100 bytes that are no WebAssembly module/)
  })
  it('says that a module is damaged or another one', async () => {
    await fails(bytes.subarray(0, bytes.length - 1000), /this engine does not take/)
    await fails(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0), /another module/)
  })
  it('says that a module is of another version', async () => {
    // Memory and opspec_build, which answers 16: there it says 0.0.0/1.
    const other = Buffer.concat([
      bytes.subarray(0, 8), Buffer.from('\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x05\x03\x01\x00\x01', 'latin1'),
      Buffer.from('\x07\x19\x02\x06memory\x02\x00\x0copspec_build\x00\x00', 'latin1'),
      Buffer.from('\x0a\x06\x01\x04\x00\x41\x10\x0b\x0b\x0d\x01\x00\x41\x10\x0b\x070.0.0/1', 'latin1')
    ])
    await fails(other, /of another version: it is 0\.0\.0\/1,/)
  })
})

describe('versions', () => {
  it('package.json, the loader and the module agree', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.ok(build.startsWith(`${version}/`))
  })
})
