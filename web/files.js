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

// Sorts what a person brought into { model: { name, bytes } | null, plugin: the same, bundle: Map | null, label }. A kernel.wasm is
// the bundle's kernel, another single module a plug-in.
export async function sortFiles(entries) {
  const read = await Promise.all(entries.map(async ([name, file]) => [name, new Uint8Array(await file.arrayBuffer())]))
  if (read.length === 1) {
    const [[name, bytes]] = read
    if (looksLikeZip(bytes)) return { model: null, bundle: readZip(bytes), label: name }
    if (name !== 'kernel.wasm' && (looksLikePlugin(bytes) || /\.wasm$/i.test(name))) return { model: null, plugin: { name, bytes }, bundle: null, label: name }
    if (/\.(onnx|pb)$/i.test(name)) return { model: { name, bytes }, bundle: null, label: name }
  }
  const folder = read.length > 1 && read.every(([name]) => name.split('/')[0] === read[0][0].split('/')[0] && name.includes('/'))
  const names = folder ? read.map(([name, bytes]) => [name.slice(name.indexOf('/') + 1), bytes]) : read
  const bundle = new Map(names.filter(([name]) => !/(^|\/)\./.test(name)).map(([name, bytes]) => [name, contentOf(name, bytes)]))
  return { model: null, bundle, label: folder ? read[0][0].split('/')[0] : read[0][0] }
}

export const hasDocument = files => [...files.values()].some(content => kindOf(content) === 'runlocal.operator-extension')
