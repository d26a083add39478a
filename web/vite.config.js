// The page. It sees the package only through the names that package.json exports.
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
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

// rules.html: what the package says of each of its rules. Written when the page is built, so it is never of another version.
function rulesPage() {
  const escape = text => text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])
  const prose = text => escape(text).replace(/`([^`\n]+)`/g, '<code>$1</code>')
  const example = (name, text) => `<figure class="${name.toLowerCase()}"><figcaption>${name}</figcaption><pre><code>${escape(text)}</code></pre></figure>`
  const rule = ({ rule: id, severity, title, why, good, bad, source }) => `<section id="${id}"><h3><a href="#${id}">${id}</a> <span class="${severity}">${severity}</span></h3>` +
    `<p class="title">${prose(title)}</p><p>${prose(why)}</p><div class="examples">${example('Good', good)}${example('Bad', bad)}</div><p class="quiet">${escape(source)}</p></section>`
  const chapters = {
    json: 'JSON texts', schema: 'JSON Schema', spec: 'Specifications', evidence: 'Evidence', wire: 'Protobuf bytes', onnx: 'ONNX data', model: 'Models', infer: 'Inference', diff: 'Differences of specifications'
  }
  async function text() {
    const { createEnv } = await import(pathToFileURL(here(`../${exported['.'].default}`)))
    const env = await createEnv()
    const all = env.rules().map(id => env.explain(id))
    env.dispose()
    const families = [...new Set(all.map(({ rule: id }) => id.split('.')[0]))].sort((a, b) => Object.keys(chapters).indexOf(a) - Object.keys(chapters).indexOf(b))
    const of = family => all.filter(({ rule: id }) => id.startsWith(`${family}.`))
    const name = family => chapters[family] ?? family
    return `<nav aria-label="Families">${families.map(family => `<a href="#${family}">${name(family)} <span class="quiet">${of(family).length}</span></a>`).join('')}</nav>` +
      families.map(family => `<h2 id="${family}">${name(family)}</h2>${of(family).map(rule).join('')}`).join('')
  }
  return { name: 'opspec-rules', transformIndexHtml: { order: 'pre', handler: async (html, { path }) => {
    if (!path.endsWith('/rules.html')) return html
    const rules = await text()
    return html.replace('<!-- rules -->', () => rules)
  } } }
}

export default defineConfig({
  root: here('.'),
  base: './',
  resolve: { alias: aliases },
  plugins: [runnerProgram(), rulesPage()],
  worker: { format: 'es' },
  build: { rollupOptions: { input: { index: here('index.html'), rules: here('rules.html') } }, outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1200 },
  server: { headers, fs: { allow: [here('..')] } },
  preview: { headers }
})
