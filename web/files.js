// Bringing files in and out: the file picker, drops, downloads.
import { looksLikeZip, readZip } from './archive.js'
import { contentOf, kindOf } from './bundle.js'
import { h } from './dom.js'
import { looksLikePlugin } from './plugins.js'

export function pickFiles(accept) {
  return new Promise(resolve => {
    const input = h('input', { type: 'file', multiple: true, accept, hidden: true })
    const done = files => {
      input.remove()
      resolve(files)
    }
    input.addEventListener('change', () => done([...input.files]))
    input.addEventListener('cancel', () => done([]))
    document.body.append(input)
    input.click()
  })
}

export function download(name, bytes, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }))
  const link = h('a', { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60000)
}

async function fromEntry(entry, prefix) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject))
    return [[prefix + entry.name, file]]
  }
  const reader = entry.createReader()
  const found = []
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) break
    found.push(...some)
  }
  return (await Promise.all(found.map(child => fromEntry(child, `${prefix}${entry.name}/`)))).flat()
}

// What was dropped, folders opened: [[name, File]]. Must be called in the event itself.
export async function droppedFiles({ items }) {
  const entries = [...items].filter(({ kind }) => kind === 'file').map(item => [item.webkitGetAsEntry?.(), item.getAsFile()])
  const lists = await Promise.all(entries.map(([entry, file]) => entry ? fromEntry(entry, '') : [[file.name, file]]))
  return lists.flat()
}

const bytesOf = async file => new Uint8Array(await file.arrayBuffer())
const start = async (file, most) => new Uint8Array(await file.slice(0, most).arrayBuffer())
const hasZeros = bytes => bytes.some(byte => byte < 9)

// Keys at the top of ONNX messages in JSON; no document of a bundle has them there.
const onnxKeys = /^\ufeff?\s*\{[^]{0,4000}?"(irVersion|ir_version|opsetImport|opset_import|graph|dataType|data_type|elemType|elem_type|keyType|key_type|opsetVersion|opset_version|magic|node)"\s*:/

async function isOnnxDocument(name, file) {
  if (/\.(onnx|pb|onnxtxt|textproto|pbtxt|prototxt|pbtext)$/i.test(name)) return true
  if (/^kernel\.|\.(js|mjs|md|txt|c|h)$/i.test(name)) return false
  const head = await start(file, 8192)
  if (!/\.json$/i.test(name)) return hasZeros(head)
  const text = new TextDecoder().decode(head)
  return kindOf(text) === null && onnxKeys.test(text)
}

// Sorts what a person brought into { document: { name, file, files } | null, plugin: { name, bytes }, bundle: Map | null, label }. A kernel.wasm
// is the bundle's kernel, another single module a plug-in. A model or tensor may come with the files that its data lies in.
export async function sortFiles(entries) {
  const folder = entries.length > 1 && entries.every(([name]) => name.split('/')[0] === entries[0][0].split('/')[0] && name.includes('/'))
  const named = folder ? entries.map(([name, file]) => [name.slice(name.indexOf('/') + 1), file]) : entries
  if (named.length === 1) {
    const [[name, file]] = named
    const head = await start(file, 8)
    if (looksLikeZip(head)) return { document: null, bundle: readZip(await bytesOf(file)), label: name }
    if (name !== 'kernel.wasm' && (looksLikePlugin(head) || /\.wasm$/i.test(name))) return { document: null, plugin: { name, bytes: await bytesOf(file) }, bundle: null, label: name }
    if (await isOnnxDocument(name, file)) return { document: { name, file, files: null }, bundle: null, label: name }
  }
  const documents = named.filter(([name]) => /\.(onnx|pb)$/i.test(name))
  if (documents.length === 1 && named.length > 1 && !named.some(([name]) => /\.(json|js|mjs)$/i.test(name))) {
    const [[name, file]] = documents
    return { document: { name, file, files: new Map(named.filter(([other]) => other !== name)) }, bundle: null, label: name }
  }
  const read = await Promise.all(named.filter(([name]) => !/(^|\/)\./.test(name)).map(async ([name, file]) => [name, contentOf(name, await bytesOf(file))]))
  return { document: null, bundle: new Map(read), label: folder ? entries[0][0].split('/')[0] : entries[0][0] }
}

export const hasDocument = files => [...files.values()].some(content => kindOf(content) === 'runlocal.operator-extension')
