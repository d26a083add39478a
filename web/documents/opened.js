// One opened document in its worker: what it is, its versions (the file, and one more for each edit), and what a window of the page asks of it.
import { applyFixes } from 'opspec'
import { writeNpy } from '../../wasm/src/npy.js'
import { readText } from './kinds.js'
import { asText, elementName, isPlace, kindOf, messageOf, operatorName, sizeOf, tensorType, typeText, valueText } from './messages.js'
import { Pictures } from './pictures.js'
import { Index } from './search.js'
import { Lines } from './texts.js'
import { operatorsOf, Tree } from './tree.js'
import { Types } from './types.js'
import { Uses } from './uses.js'

const whole = 4 << 20       // bytes of a file that is decoded with its data, and shown as text as a whole
const editable = 1 << 20    // characters of a text that can be changed here
const head = 1 << 20        // of a large file, to see what it is
const mostVersions = 50
const mostLinks = 20
const mostText = 20_000 // characters of one thing that is told of a part
const suffixes = { json: '.json', textproto: '.textproto', onnxtxt: '.onnxtxt', npy: '.npy' }
const syntaxKinds = ['model', 'graph', 'function']
const modelFields = ['irVersion', 'modelVersion', 'producerName', 'producerVersion', 'domain', 'docString']
const dataFields = ['rawData', 'floatData', 'int32Data', 'int64Data', 'doubleData', 'uint64Data', 'stringData']

const bytesOf = async blob => new Uint8Array(await blob.arrayBuffer())

export class Opened {
  #env
  #name
  #files
  #versions = [] // { blob, what }
  #at = -1
  #kind = 'unknown'
  #message = null
  #model = null // a handle of the package, for models
  #root = null
  #types = null
  #tree = null
  #index = null
  #uses = new Uses()
  #pictures = null
  #texts = new Map() // form -> { lines, editable, cut, lost }
  #candidates = []  // messages that the same bytes may be
  #source = null    // { form, text } of a file that came as text and cannot be read
  #progress = () => {}

  constructor(env, name, files) {
    this.#env = env
    this.#name = name
    this.#files = files
  }

  /** Reads the file; answers what it is. progress(part): from 0 to 1. */
  async open(blob, progress) {
    this.#progress = progress
    const identity = await this.#identify(blob)
    this.#kind = identity.kind
    this.#message = identity.message ?? messageOf[identity.kind] ?? null
    if (identity.bytes !== undefined) blob = new Blob([identity.bytes])
    this.#versions = [{ blob, what: 'the file' }]
    this.#at = 0
    this.#candidates = [this.#message, ...(identity.candidates ?? '').split(', ')].filter(Boolean)
    let problem = identity.problem ?? null
    if (this.#message !== null && identity.findings === undefined) {
      try {
        await this.#read()
      } catch (error) {
        problem = error.message
      }
    }
    this.#progress = () => {}
    const { kind, evidence, candidates = '', form = 'binary', findings = [] } = identity
    return { kind, message: this.#message, evidence, candidates, form, findings, problem, ...this.#state() }
  }

  async readAs(message) {
    const before = [this.#message, this.#kind]
    this.#message = message
    this.#kind = kindOf[message]
    try {
      await this.#read()
    } catch (error) {
      [this.#message, this.#kind] = before
      await this.#read()
      throw error
    }
    return { kind: this.#kind, message, evidence: `read as ${message}`, candidates: this.#candidates.filter(other => other !== message).join(', '), problem: null, ...this.#state() }
  }

  async #identify(blob) {
    const bytes = await bytesOf(blob.size <= 64 * whole ? blob : blob.slice(0, head))
    const seen = this.#env.identify(bytes)
    const isText = seen.kind === 'text' || seen.kind === 'json' || /\.(json|onnxtxt|textproto|pbtxt|prototxt|pbtext)$/i.test(this.#name) && !(seen.kind in messageOf)
    if (!isText) return seen
    const text = new TextDecoder().decode(blob.size === bytes.length ? bytes : await bytesOf(blob))
    const read = readText(this.#env, this.#name, text)
    if (read.findings !== undefined) this.#source = { form: read.form, text }
    return read
  }

  get #blob() {
    return this.#versions[this.#at].blob
  }

  async #read() {
    this.#model?.dispose()
    this.#model = null
    const small = this.#blob.size <= whole
    if (this.#kind === 'model' && !small) {
      this.#model = await this.#env.open(this.#blob, { files: this.#files, onProgress: (bytes, size) => this.#progress(bytes / size) })
      this.#root = this.#model.structure()
    } else {
      const bytes = await bytesOf(this.#blob)
      this.#root = this.#env.decode(bytes, this.#message)
      if (this.#kind === 'model') this.#model = this.#load(bytes)
    }
    const opened = this.#tree?.opened
    this.#types = new Types(this.#root)
    this.#tree = new Tree(this.#root, this.#message, this.#types)
    if (opened !== undefined) this.#tree.open(opened)
    this.#index = null
    this.#uses = new Uses()
    this.#pictures = new Pictures(this.#tree, this.#types)
    this.#texts.clear()
  }

  // Inference wants a handle; where the model is not good enough for one there is none.
  #load(bytes) {
    try {
      return this.#env.loadModel(bytes)
    } catch {
      return null
    }
  }

  dispose() {
    this.#model?.dispose()
  }

  #state() {
    const { blob, what } = this.#versions[this.#at] ?? {}
    return {
      size: blob?.size ?? 0, blob, summary: this.#summary(), rows: this.#tree?.visible.length ?? 0, picture: this.#hasPicture, forms: this.#forms(),
      edit: { undo: this.#at > 0 ? what : null, redo: this.#versions[this.#at + 1]?.what ?? null }
    }
  }

  get #hasPicture() {
    const { graph, node } = this.#root ?? {}
    return syntaxKinds.includes(this.#kind) && (graph?.node ?? node ?? []).length > 0
  }

  #forms() {
    if (this.#source !== null) return [this.#source.form]
    return this.#root === null ? [] : ['json', 'textproto', ...syntaxKinds.includes(this.#kind) ? ['onnxtxt'] : []]
  }

  #summary() {
    if (this.#root === null) return null
    const root = this.#root
    const graph = { model: root.graph, graph: root, function: root }[this.#kind]
    if (graph === undefined && this.#kind !== 'model') return null
    const imports = (root.opsetImport ?? []).map(({ domain, version }) => `${domain || 'ai.onnx'} ${version}`)
    return { irVersion: root.irVersion === undefined ? null : String(root.irVersion), producer: [root.producerName, root.producerVersion].filter(Boolean).join(' '), imports, initializers: graph?.initializer?.length ?? 0, ...operatorsOf([graph, ...root.functions ?? []]) }
  }

  /** Types and shapes that are not written in the document; answers whether there are some. */
  infer() {
    if (this.#model === null || this.#types === null) return false
    const { values, graphs } = this.#model.infer({ timeoutMs: 30_000, graphs: true })
    this.#types.infer(values, graphs)
    this.#index?.forget()
    return values.size + graphs.size > 0
  }

  // ---- The tree

  rows(from, to) {
    return { total: this.#tree?.visible.length ?? 0, rows: this.#tree?.rows(from, to) ?? [] }
  }

  setOpen(id, open) {
    const item = this.#tree.item(id)
    if (item !== null) this.#tree.setOpen(item, open)
    return { total: this.#tree.visible.length, index: item === null ? 0 : this.#tree.indexOf(item) }
  }

  /** The place of the item above. */
  above(id) {
    const item = this.#tree.item(id)?.parent ?? null
    return item === null ? null : { id: item.id, index: this.#tree.indexOf(item) }
  }

  reveal(path) {
    return this.#found(this.#tree.find(path))
  }

  #found(item) {
    const index = this.#tree.reveal(item)
    return { id: item.id, index, total: this.#tree.visible.length }
  }

  typeahead(index, prefix) {
    return this.#tree.typeahead(index, prefix)
  }

  setFindings(findings) {
    this.#tree?.setFindings(findings)
  }

  // ---- The search

  search(query) {
    this.#index ??= new Index(this.#root, this.#message, this.#types)
    return this.#index.find(query)
  }

  hit(number) {
    return this.#found(this.#tree.at(this.#index.hits[number].steps))
  }

  pathOfHit(number) {
    return this.#tree.path(this.#tree.at(this.#index.hits[number].steps))
  }

  // ---- The picture

  picture(path) {
    return this.#pictures.open(path)
  }

  pictureWindow(rectangle, chosen) {
    return this.#pictures.window(rectangle, chosen)
  }

  pictureBox(box) {
    return this.#pictures.box(box)
  }

  pictureStep(box, key) {
    return this.#pictures.step(box, key)
  }

  // ---- Texts

  #text(form) {
    let text = this.#texts.get(form)
    if (text === undefined) {
      text = this.#write(form)
      this.#texts.set(form, text)
      text.catch(() => this.#texts.delete(form))
    }
    return text
  }

  async #write(form) {
    const text = this.#source === null ? await this.#format(form) : { lines: new Lines(this.#source.text), cut: null, lost: [] }
    return { ...text, editable: text.cut === null && text.lines.text.length <= editable }
  }

  // Of a large document what is large of its tensors is left out.
  async #format(form) {
    const cut = { tensors: 0, bytes: 0 }
    const rest = this.#blob.size > whole ? without(this.#root, cut) : null
    const bytes = cut.tensors > 0 ? this.#env.encode(rest, this.#message) : await bytesOf(this.#blob)
    const lost = []
    let text
    try {
      text = this.#env.format(bytes, this.#message, form)
    } catch (error) {
      if (error.code !== 'unsupported' || error.findings === undefined) throw error
      lost.push(...error.findings.map(({ message, path }) => ({ message, path })))
      text = this.#env.format(bytes, this.#message, form, { lossy: true })
    }
    return { lines: new Lines(text), cut: cut.tensors > 0 ? cut : null, lost }
  }

  async text(form) {
    const { lines, editable: canEdit, cut, lost } = await this.#text(form)
    return { total: lines.length, characters: lines.text.length, editable: canEdit, cut, lost: lost.slice(0, 20), lostCount: lost.length }
  }

  async lines(form, from, to) {
    const { lines } = await this.#text(form)
    return { total: lines.length, rows: lines.window(from, to) }
  }

  async searchText(form, words) {
    return (await this.#text(form)).lines.find(words)
  }

  async lineOfHit(form, number) {
    return (await this.#text(form)).lines.hits[number]
  }

  async wholeText(form) {
    return (await this.#text(form)).lines.text
  }

  // ---- What leaves

  /** As a file: { name, blob }. Throws `unsupported` with findings where the form cannot hold all, unless `lossy`. */
  async file(form, lossy) {
    const stem = this.#name.replace(/^.*\//, '').replace(/\.(onnx|pb|json|textproto|pbtxt|prototxt|pbtext|onnxtxt)$/i, '')
    if (form === 'binary') return { name: stem + (this.#kind === 'model' ? '.onnx' : '.pb'), blob: this.#blob }
    const bytes = await bytesOf(this.#blob)
    if (form === 'npy') return { name: `${stem}.npy`, blob: new Blob([writeNpy(this.#env.readValue(bytes, 'tensor', { files: this.#files }), { widen: true })]) }
    return { name: stem + suffixes[form], blob: new Blob([this.#env.format(bytes, this.#message, form, { lossy }), '\n'], { type: form === 'json' ? 'application/json' : 'text/plain' }) }
  }

  /** A tensor of the document as a file. */
  async tensorFile(id, form) {
    const item = this.#tree.item(id)
    const bytes = this.#env.encode(await this.#withData(item.value), 'TensorProto')
    const name = (item.value.name || 'tensor').replace(/[^\w.-]+/g, '_')
    if (form === 'binary') return { name: `${name}.pb`, blob: new Blob([bytes]) }
    return { name: `${name}.npy`, blob: new Blob([writeNpy(this.#env.readValue(bytes, 'tensor'), { widen: true })]) }
  }

  // A tensor with what was left in the file, or in another one.
  async #withData(tensor) {
    const out = { ...tensor }
    for (const name of dataFields) {
      const place = out[name]
      if (!isPlace(place)) continue
      if (name !== 'rawData') throw new Error('The data of this tensor is a list of numbers in the file; of such large ones there is no file of their own here.')
      out[name] = await bytesOf(this.#blob.slice(place.offset, place.offset + place.length))
    }
    if (out.dataLocation !== 1) return out
    const external = Object.fromEntries((out.externalData ?? []).map(({ key, value }) => [key, value]))
    const file = this.#files?.get(external.location) ?? this.#files?.get(external.location?.replace(/^(\.\/)+/, ''))
    if (file === undefined) throw new Error(`The data lies in ${external.location ?? 'another file'}, which was not opened with the model.`)
    const offset = Number(external.offset ?? 0)
    out.rawData = await bytesOf(file.slice(offset, external.length === undefined ? undefined : offset + Number(external.length)))
    delete out.externalData
    delete out.dataLocation
    return out
  }

  // ---- One item

  async details(id) {
    const item = this.#tree.item(id)
    if (item === null) return null
    const { type, value } = item
    const out = { id, path: this.#tree.path(item), message: type, label: this.#tree.row(item).label, findings: item.findings ?? [], facts: [], links: [] }
    const graphs = this.#tree.graphs(item)
    const name = type === 'ValueInfoProto' || type === 'TensorProto' ? value.name : typeof value === 'string' && item.index >= 0 ? value : null
    if (name && graphs.length > 0) this.#tellValue(out, name, graphs, item)
    if (type === 'NodeProto') this.#tellNode(out, value, graphs)
    if (type === 'TensorProto') await this.#tellTensor(out, value)
    out.edit = this.#editOf(item, out.path, out.value)
    const doc = value?.docString
    if (doc) out.facts.push(['Description', asText(doc)])
    if (type === null && typeof value !== 'object') out.facts.push(['Value', String(value)])
    else if (type === null && value instanceof Uint8Array) out.facts.push(['Value', valueText(value)])
    else if (type === 'AttributeProto' && value.s !== undefined) out.facts.push(['Value', asText(value.s)])
    else if (type === 'StringStringEntryProto') out.facts.push(['Value', (value.value ?? '')])
    for (const fact of out.facts) if (fact[1].length > mostText) fact[1] = `${fact[1].slice(0, mostText)} …`
    for (const { list } of out.links) for (const link of list) link.text = link.text.slice(0, 200)
    return out
  }

  // What the package's edits can change of it.
  #editOf({ type, value, key, index, parent }, path, name) {
    if (this.#kind !== 'model' || this.#model === null) return null
    if (parent === null) return { kind: 'model' }
    const inMain = /^graph\.node\[\d+\]$/.test(path)
    // Of other graphs and functions the package finds nodes by their names.
    if (type === 'NodeProto' && (inMain || value.name)) return { kind: 'node', node: inMain ? index : value.name, name: value.name ?? '' }
    if (type === 'OperatorSetIdProto' && path.startsWith('opset_import')) return { kind: 'opset', domain: value.domain ?? '', version: String(value.version ?? '') }
    if (type === 'StringStringEntryProto' && path.startsWith('metadata_props')) return { kind: 'metadata', key: value.key ?? '', value: value.value ?? '' }
    if (type === null && parent === this.#tree.root && modelFields.includes(key)) return { kind: 'field', name: key, value: asText(value) }
    if (name === undefined || !/^graph\.(input|output|initializer|value_info|node\[\d+\]\.(input|output))\[\d+\]$/.test(path)) return null
    const ends = ['input', 'output'].find(which => (this.#root.graph[which] ?? []).some(other => other.name === name))
    return { kind: 'value', name, as: ends ?? 'value' }
  }

  #tellValue(out, name, graphs, item) {
    const found = this.#types.find(name, graphs)
    out.value = name
    if (found !== null) out.facts.push(['Type', `${typeText(found)}, ${found.from}`])
    const graph = graphs.at(-1)
    const { makers, users } = this.#uses.find(graph, name)
    let at = item
    while (at !== null && at.value !== graph) at = at.parent
    const link = number => ({ path: `${this.#tree.path(at)}.node[${number}]`.replace(/^\./, ''), text: `node[${number}] ${operatorName(graph.node[number])}${graph.node[number].name ? ` ${graph.node[number].name}` : ''}` })
    if (makers.length > 0) out.links.push({ what: 'Made by', list: makers.slice(0, mostLinks).map(link), all: makers.length })
    if (users.length > 0) out.links.push({ what: 'Used by', list: users.slice(0, mostLinks).map(link), all: users.length })
  }

  #tellNode(out, node, graphs) {
    out.facts.push(['Operator', `${operatorName(node)}${node.overload ? ` (${node.overload})` : ''}`])
    for (const [what, list] of [['Inputs', node.input], ['Outputs', node.output]]) {
      const texts = (list ?? []).slice(0, 64).map(name => name === '' ? '(left out)' : `${name}${this.#types.text(name, graphs) && `: ${this.#types.text(name, graphs)}`}`)
      if (texts.length > 0) out.facts.push([what, texts.join('\n')])
    }
  }

  async #tellTensor(out, tensor) {
    out.tensor = true
    const { shape } = tensorType(tensor)
    out.facts.push(['Elements', `${elementName(tensor.dataType)}, ${shape.reduce((product, dim) => product * BigInt(dim), 1n).toLocaleString('en')}`])
    try {
      const first = await this.#firstElements(tensor)
      if (first !== null) out.value_ = first
    } catch (error) {
      out.facts.push(['Data', error.message])
    }
  }

  // The first elements as a small tensor: { type, dims, data }.
  async #firstElements(tensor) {
    const most = 64
    const raw = tensor.rawData
    const all = (tensor.dims ?? []).reduce((product, dim) => product * Number(dim), 1)
    if (all === 0) return null
    if (all <= 4096) return this.#env.readValue(this.#env.encode(await this.#withData(tensor), 'TensorProto'), 'tensor')
    if (sizeOf(raw) === null && tensor.dataLocation !== 1) {
      const part = { ...tensor, dims: [BigInt(most)] }
      for (const name of dataFields) {
        if (isPlace(part[name])) return null
        if (part[name] !== undefined) part[name] = part[name].slice(0, most)
      }
      return this.#env.readValue(this.#env.encode(part, 'TensorProto'), 'tensor')
    }
    const small = { ...tensor, dims: [BigInt(most)] }
    const width = sizeOf(raw) / all
    if (isPlace(raw)) small.rawData = { ...raw, length: Math.ceil(most * width) }
    else if (raw !== undefined) small.rawData = raw.subarray(0, Math.ceil(most * width))
    else return null
    return this.#env.readValue(this.#env.encode(await this.#withData(small), 'TensorProto'), 'tensor')
  }

  // ---- Edits

  async #push(blob, what) {
    const before = [this.#versions, this.#at]
    this.#versions = [...this.#versions.slice(0, this.#at + 1), { blob, what }]
    if (this.#versions.length > mostVersions) this.#versions.splice(1, 1)
    this.#at = this.#versions.length - 1
    try {
      await this.#read()
    } catch (error) {
      [this.#versions, this.#at] = before
      await this.#read()
      throw error
    }
    this.#source = null
    return this.#state()
  }

  async step(by) {
    this.#at = Math.max(0, Math.min(this.#versions.length - 1, this.#at + by))
    await this.#read()
    return this.#state()
  }

  /** A changed text in the document's place. Throws `malformed` with findings. */
  async replaceText(form, text) {
    const bytes = this.#env.parse(text, this.#message, form)
    this.#kind = kindOf[this.#message]
    return this.#push(new Blob([bytes]), 'the change of the text')
  }

  /** Edits of the package; all of them, or none. */
  async edit(edits, what) {
    this.#model.edit(edits)
    return this.#push(this.#model.toBlob(), what)
  }

  /** What a finding proposes. */
  async fix(finding) {
    const { content, applied } = applyFixes(await bytesOf(this.#blob), [finding])
    if (applied === 0) throw new Error('The fix does not fit the document any more.')
    return this.#push(new Blob([content]), finding.fix.title)
  }
}

// The message without what is large of the data of its tensors, and how much that is; no recursion, as depth is the document's affair.
function without(root, cut) {
  const copy = { ...root }
  const waiting = [copy]
  while (waiting.length > 0) {
    const at = waiting.pop()
    for (const key of Object.keys(at)) {
      const value = at[key]
      if (value === null || typeof value !== 'object') continue
      const bytes = sizeOf(value) ?? (Array.isArray(value) && typeof value[0] !== 'object' && /Data$/.test(key) ? 8 * value.length : null)
      if (bytes !== null) {
        if (bytes <= 1024) continue
        cut.tensors++
        cut.bytes += bytes
        delete at[key]
      } else if (!Array.isArray(value)) waiting.push(at[key] = { ...value })
      else if (value.length > 0 && typeof value[0] === 'object' && !(value[0] instanceof Uint8Array)) {
        at[key] = value.map(item => ({ ...item }))
        for (const item of at[key]) waiting.push(item)
      }
    }
  }
  return copy
}
