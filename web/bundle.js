// What the files of a bundle are. `files` is a Map from name to text (string) or bytes (Uint8Array).

const kinds = { document: 'runlocal.operator-extension', evidence: 'opspec.evidence' }
const ignored = /(^|\/)(__MACOSX\/|\.)/
const textual = /\.(json|js|mjs|py|md|txt|textproto|onnxtxt|c|h)$|(^|\/)(README|LICENSE)[^/]*$/i

// The value of "kind" at the top of a JSON text, found without parsing so that half-typed documents keep their role.
export function kindOf(text) {
  return typeof text === 'string' ? /^\uFEFF?\s*\{[^{}[\]]*?"kind"\s*:\s*"([^"\\]*)"/.exec(text)?.[1] ?? null : null
}

export function roleOf(name, content) {
  if (/^kernel\.(js|mjs|wasm|onnx)$/.test(name)) return 'kernel'
  if (name.endsWith('.opspec.json')) return 'document'
  if (!name.endsWith('.json')) return 'other'
  const kind = kindOf(content)
  return Object.keys(kinds).find(role => kinds[role] === kind) ?? 'other'
}

export function documentName(files) {
  const of = test => [...files.keys()].find(test)
  return of(name => kindOf(files.get(name)) === kinds.document) ?? of(name => name.endsWith('.opspec.json')) ?? null
}

export const kernelName = files => ['kernel.wasm', 'kernel.js', 'kernel.mjs', 'kernel.onnx'].find(name => files.has(name)) ?? null

// Document first, then the kernel, evidence in the order of `tests`, then the rest by name.
export function inOrder(files) {
  const first = documentName(files)
  const named = testNames(files, readDocument(files))
  const rank = name => {
    if (name === first) return 0
    const role = roleOf(name, files.get(name))
    if (role === 'kernel') return 1
    const test = named.indexOf(name)
    if (test >= 0) return 2 + test
    return role === 'evidence' ? 1e6 : 2e6
  }
  const ranks = new Map([...files.keys()].map(name => [name, rank(name)]))
  return new Map([...files].sort(([a], [b]) => ranks.get(a) - ranks.get(b) || (a < b ? -1 : 1)))
}

export function readDocument(files) {
  const name = documentName(files)
  try {
    return name === null ? null : JSON.parse(files.get(name))
  } catch {
    return null
  }
}

// The files that the document's `tests` name, with or without their suffix.
export function testNames(files, document) {
  const tests = Array.isArray(document?.tests) ? document.tests : []
  return tests.filter(test => typeof test === 'string')
    .map(test => [test, `${test}.json`, `${test}.zip`].find(name => files.has(name)) ?? test)
}

// A document's text with `change(names)` in place of the names in its `tests`; the same text where those cannot be found.
export function withTests(text, change) {
  return text.replace(/("tests"\s*:\s*)(\[[^[\]]*\])/, (all, before, list) => {
    try {
      return `${before}[${change(JSON.parse(list)).map(name => JSON.stringify(name)).join(', ')}]`
    } catch {
      return all
    }
  })
}

export function nameProblem(name, files) {
  if (name === '') return 'A file needs a name.'
  if (!/^[A-Za-z][A-Za-z0-9_.-]{0,127}(\/[A-Za-z0-9_.-]+)*$/.test(name)) return 'Letters, digits, ".", "_" and "-"; a letter first.'
  if (files.has(name)) return 'There is a file of this name.'
  return null
}

// Text when the name says so and the bytes are UTF-8; bytes otherwise.
export function contentOf(name, bytes) {
  if (!textual.test(name)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

// Files as they come from a zip or a folder: without clutter, and without the one folder that holds all.
export function tidyNames(entries) {
  const kept = entries.filter(([name]) => !ignored.test(name) && !name.endsWith('/'))
  const top = kept[0]?.[0].split('/')[0]
  const nested = kept.length > 0 && kept.every(([name]) => name.startsWith(`${top}/`))
  return nested ? kept.map(([name, content]) => [name.slice(top.length + 1), content]) : kept
}

export const templates = {
  evidence: `{
  "kind": "opspec.evidence",
  "version": "1",
  "description": "",
  "inputs": [
    { "type": "tensor(float)", "shape": [2], "data": [0, 1] }
  ],
  "outputs": [
    { "type": "tensor(float)", "shape": [2], "data": [0, 1] }
  ]
}
`,
  kernel: `export default {
  inferShapes([x]) {
    return [{ type: x.type, shape: x.shape }]
  },

  compute([x], attributes, ctx) {
    return [{ type: x.type, dims: x.dims, data: x.data }]
  }
}
`
}
