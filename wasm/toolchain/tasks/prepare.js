// What the npm scripts need on the machine. Each function is quick when there is nothing to do and says what it installs.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir, availableParallelism } from 'node:os'
import { join } from 'node:path'
import { scripts } from './scripts.js'
import { root, run, runQuietly, say, TaskError } from './shell.js'

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fallback
  }
}

function checkNode() {
  const [major] = process.versions.node.split('.')
  if (Number(major) < 20) throw new TaskError(`Node.js 20 or later is needed; this is ${process.versions.node}`, 2)
}

// The development tools of package.json, in node_modules.
export function npmPackages() {
  checkNode()
  const lock = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex')
  const stamp = join(root, 'node_modules/.opspec-lock')
  if (readOr(stamp, '') === lock) return
  say('installing: the npm packages of package-lock.json (node_modules)')
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'])
  writeFileSync(stamp, lock)
}

// Parts of wasm/toolchain/install.sh: 'wasm', 'sources', 'native', 'format', 'browser'.
export function toolchain(...parts) {
  run(join(root, 'wasm/toolchain/install.sh'), parts)
}

function toolchainFolder() {
  const { OPSPEC_TOOLCHAIN, XDG_CACHE_HOME } = process.env
  return OPSPEC_TOOLCHAIN ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'opspec/toolchain')
}

// Configures a preset where it was not, or with another toolchain, and builds it; returns its build folder.
export function build(preset, { definitions = [], targets = [] } = {}) {
  const folder = join(root, 'build', preset)
  const stamp = join(folder, '.configured')
  const wanted = [toolchainFolder(), root, ...definitions].join('\n')
  if (!existsSync(join(folder, 'build.ninja')) || readOr(stamp, '') !== wanted) {
    rmSync(folder, { recursive: true, force: true })
    runQuietly('cmake', ['--preset', preset, ...definitions])
    writeFileSync(stamp, wanted)
  }
  run('ninja', ['-C', folder, '--quiet', '-j', String(availableParallelism()), ...targets])
  return folder
}

// The package in wasm/js: the scripts, the WebAssembly module, and wasm-bytes.js for './inline'.
export async function packageFiles(options) {
  const end = await scripts(options)
  wasmModule()
  return end
}

function wasmModule() {
  const built = join(build('wasm'), 'wasm/opspec.wasm')
  if (!existsSync(built)) throw new TaskError('the build left no opspec.wasm: wasm/exports.c is missing')
  const placed = join(root, 'wasm/js/opspec.wasm')
  const inline = join(root, 'wasm/js/wasm-bytes.js')
  const fresh = path => existsSync(path) && statSync(path).mtimeMs >= statSync(built).mtimeMs
  if (fresh(placed) && fresh(inline)) return
  const text = readFileSync(built).toString('base64')
  writeFileSync(inline, `// Generated: opspec.wasm in base64.\nexport default '${text}'\n`)
  copyFileSync(built, placed)
}

// The page, in web/dist; `options` are vite's.
export function page(options = []) {
  run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', 'web', '--logLevel', 'warn', ...options])
}
