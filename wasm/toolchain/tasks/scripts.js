// The package's scripts: wasm/src bundled into few files, because what a process waits for when it loads a package is the
// number of its files. Entries share their modules, so a class is one class whichever entry it came from.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './shell.js'

const source = join(root, 'wasm/src')
const target = join(root, 'wasm/js')

// What package.json exports, and what these start or load by name.
const entries = ['index', 'inline', 'node', 'isolated', 'worker', 'cli', 'env', 'isolate-child', 'isolate-realm']

const options = {
  entryPoints: entries.map(name => join(source, `${name}.js`)),
  absWorkingDir: root, outdir: target, bundle: true, splitting: true, format: 'esm', target: 'es2022', platform: 'neutral', charset: 'utf8',
  chunkNames: 'shared-[hash]', external: ['node:*', './wasm-bytes.js'], write: false, logLevel: 'warning',
  plugins: [{ name: 'place', setup: ({ onEnd }) => onEnd(({ errors, outputFiles }) => { if (errors.length === 0) place(outputFiles) }) }]
}

// No module of the package does anything when it is loaded: an import for its own sake, which the bundler writes to keep their
// order, is one more file to wait for and a warning in other bundlers.
const withoutBareImports = ({ text }) => Buffer.from(text.replace(/^import ".\/shared-[^"]*";\n/gm, ''))

// A file that says the same is not touched: what was made from it stays fresh.
function put(name, contents) {
  const path = join(target, name)
  if (!existsSync(path) || !readFileSync(path).equals(contents)) writeFileSync(path, contents)
}

// What a plug-in of C is built with (opspec new): all public headers but the one for hosts.
function headers() {
  const folder = join(root, 'core/include/opspec')
  mkdirSync(join(target, 'include/opspec'), { recursive: true })
  for (const name of readdirSync(folder)) if (name !== 'opspec.h') put(`include/opspec/${name}`, readFileSync(join(folder, name)))
}

// A shared file has its content in its name: those of earlier builds are removed.
function place(files) {
  const made = new Set(files.map(({ path }) => basename(path)))
  for (const name of readdirSync(target)) if (/^shared-.*\.js$/.test(name) && !made.has(name)) rmSync(join(target, name))
  for (const file of files) put(basename(file.path), withoutBareImports(file))
  for (const name of readdirSync(source)) if (/\.d\.ts$|^README/.test(name)) put(name, readFileSync(join(source, name)))
  headers()
  chmodSync(join(target, 'cli.js'), 0o755)
}

/** Bundles the scripts; with `watch` again at each change. Answers what ends that. */
export async function scripts({ watch = false } = {}) {
  const { build, context } = await import('esbuild')
  mkdirSync(target, { recursive: true })
  await build(options)
  if (!watch) return () => {}
  const watcher = await context(options)
  await watcher.watch()
  return () => watcher.dispose()
}
