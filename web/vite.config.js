// The page. It sees the package only through the names that package.json exports.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { defineConfig } from 'vite'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const exported = JSON.parse(readFileSync(here('../package.json'), 'utf8')).exports

// The same policy as in index.html, plus what only a header can say.
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'", "script-src 'self' blob: 'wasm-unsafe-eval'", "style-src 'self'", "img-src 'self' data:",
    "connect-src 'self'", "worker-src 'self' blob:", "frame-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'self'"
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff'
}

// 'opspec', 'opspec/NAME' as package.json's exports say.
const aliases = Object.entries(exported).map(([name, target]) => {
  const [before, after = ''] = `opspec${name.slice(1)}`.split('*')
  const escape = text => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const star = name.includes('*') ? '(.+)' : ''
  return { find: new RegExp(`^${escape(before)}${star}${escape(after)}(?=$|\\?)`), replacement: here(`../${target.default ?? target}`.replace('*', '$1')) }
})

// `virtual:runner`: the program of the sandbox's worker as one classic script, in a string.
function runnerProgram() {
  const id = '\0virtual:runner'
  return {
    name: 'opspec-runner',
    resolveId: source => source === 'virtual:runner' ? id : null,
    async load(loaded) {
      if (loaded !== id) return null
      const result = await build({
        entryPoints: [here('runner/program.js')], bundle: true, write: false, format: 'iife', minify: true, target: 'es2022',
        alias: { 'opspec/isolated': here(`../${exported['./isolated'].default}`), opspec: here(`../${exported['.'].default}`) }, define: { 'import.meta.url': '"https://sandbox.invalid/"' },
        external: ['node:*'], metafile: true
      })
      for (const input of Object.keys(result.metafile.inputs)) this.addWatchFile(here(`../${input}`))
      return `export default ${JSON.stringify(result.outputFiles[0].text)}`
    }
  }
}

export default defineConfig({
  root: here('.'),
  base: './',
  resolve: { alias: aliases },
  plugins: [runnerProgram()],
  worker: { format: 'es' },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1200 },
  server: { headers, fs: { allow: [here('..')] } },
  preview: { headers }
})
