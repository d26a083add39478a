// Who may include whom in C, and in which order a file lists its includes.
import { basename, dirname } from 'node:path'

// Each folder may include itself and what stands to its left.
const order = ['base', 'json', 'schema', 'type', 'value', 'proto', 'onnx', 'op', 'spec', 'model', 'run', 'author', 'evidence', 'host', 'wasm']

const libc = new Set(('assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg ' +
  'stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype').split(' '))

// The public headers that a kernel may see.
const kernelHeaders = new Set(['opspec/operator.h', 'opspec/element_types.def'])

// Other people's headers, and the only places that may include them.
const restricted = [
  { header: /^(wasm_simd128\.h|simde\/)/, where: /^kernels\/math\/simd\.h$/ },
  { header: /^(emscripten|emscripten\/.*)\.h$/, where: /^wasm\/exports.*\.c$/ },
  { header: /^protobuf-c\/|\.pb-c\.h$/, where: /^(proto|core\/onnx|core\/model)\/|^core\/run\/lower[^/]*$/ },
  { header: /^(libregexp|libunicode|regexp_counted)\.h$/, where: /^core\/schema\/|^wasm\/toolchain\/regexp_counted\./ },
  { header: /^cJSON\.h$/, where: /^core\/(json|schema|spec|evidence|onnx)\// },
  { header: /^(unzip|ioapi|zip_memory|zlib)\.h$/, where: /^core\/evidence\/|^wasm\/toolchain\/zip_memory\./ },
  { header: /^(pthread|unistd|dirent)\.h$/, where: /^core\/run\/|^tests\// }
]

// The folder's place in the order, or 'math', 'kernels', 'api', 'tests', or null where no rule applies.
function folderOf(path) {
  const [top, second] = path.split('/')
  if (top === 'core') return second === 'include' ? 'api' : second
  if (top === 'kernels') return second === 'math' ? 'math' : 'kernels'
  if (top === 'proto' || top === 'wasm' || top === 'tests') return top
  return null
}

function mayInclude(from, to) {
  if (from === 'tests' || from === to) return true
  if (from === 'math') return false
  if (from === 'kernels') return to === 'math'
  if (from === 'wasm') return true
  // The executor runs fused loops itself; base prints numbers and json reads them by math's exact digits.
  if (to === 'math') return ['base', 'json', 'run'].includes(from)
  return order.includes(from) && order.includes(to) && order.indexOf(to) <= order.indexOf(from)
}

// Includes as { line, name, quoted, block }; a conditional starts a new block.
function includesOf(text) {
  let block = 0
  return text.split('\n').flatMap((content, index) => {
    if (/^\s*#\s*(if|el|endif)/.test(content) && !/^#ifndef OS_|^#ifndef OPSPEC_/.test(content)) block++
    const match = /^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)/.exec(content)
    return match ? [{ line: index + 1, name: match[1] ?? match[2], quoted: match[1] !== undefined, block }] : []
  })
}

function checkTarget(path, { name, quoted }, headers) {
  const rule = restricted.find(({ header }) => header.test(name))
  if (rule) return rule.where.test(path) || path.startsWith('tests/') ? null : `<${name}> is not for this file`
  const from = folderOf(path)
  if (!quoted) {
    if (name.startsWith('opspec/')) {
      if (from === 'math') return 'kernels/math includes libc and simd.h only'
      if (from === 'kernels' && !kernelHeaders.has(name)) return 'kernels include <opspec/operator.h> of the public headers, nothing else'
      return null
    }
    return libc.has(name.replace(/\.h$/, '')) ? null : `<${name}> is neither libc nor a known library's`
  }
  if (name.includes('/')) return `"${name}": include by bare basename`
  const target = headers.get(name)
  // Unknown: generated, or the compiler finds out.
  if (target === undefined) return null
  const to = folderOf(target)
  return to === null || mayInclude(from, to) ? null : `${dirname(path)} may not include ${target}`
}

// Own header, then the project's, then public and system headers; alphabetical in each. Lists (.def, .inc) stand anywhere.
function checkOrder(path, includes) {
  const own = basename(path).replace(/(_test|_fuzz)?\.c$/, '.h')
  const rank = ({ name, quoted }) => quoted ? name === own && path.endsWith('.c') ? 0 : 1 : 2
  const headers = includes.filter(({ name }) => name.endsWith('.h'))
  for (let i = 1; i < headers.length; i++) {
    const [before, after] = [headers[i - 1], headers[i]]
    if (before.block !== after.block) continue
    if (rank(before) > rank(after) || rank(before) === rank(after) && before.name > after.name) {
      return [{ path, line: after.line, message: `${after.name} stands before ${before.name} (own header, project's, system's; alphabetical)` }]
    }
  }
  return []
}

// A file is named by its basename alone, so no two may share one, and none may hide a header of libc.
function checkNames(files) {
  const findings = []
  const seen = new Map()
  for (const { path } of files.filter(({ path }) => /\.([ch]|def)$/.test(path) && !path.startsWith('core/include/'))) {
    const name = basename(path)
    if (seen.has(name)) findings.push({ path, line: 1, message: `${seen.get(name)} has the same name` })
    if (name.endsWith('.h') && libc.has(name.replace(/\.h$/, ''))) findings.push({ path, line: 1, message: 'hides a libc header of that name' })
    seen.set(name, path)
  }
  return { findings, headers: seen }
}

export function includeFindings(files) {
  const { findings, headers } = checkNames(files)
  for (const { path, text } of files.filter(({ path }) => /\.([ch]|def)$/.test(path))) {
    const includes = includesOf(text)
    for (const include of includes) {
      const message = checkTarget(path, include, headers)
      if (message) findings.push({ path, line: include.line, message })
    }
    findings.push(...checkOrder(path, includes))
  }
  return findings
}
