// A model that a person dropped or opened: what it holds, what is wrong with it, and a run on random inputs.
// Its operators are the package's own, and those of plug-ins that the person chose to run.

const decodeLimit = 64 << 20
const arrays = {
  float: Float32Array, double: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array, float16: Uint16Array, bfloat16: Uint16Array
}
const jsNames = { float: 'float32', double: 'float64' }

// Small numbers from a generator with a seed, the same for everybody.
function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export function randomInput({ type, shape }, sizes, random) {
  const element = /^tensor\((\w+)\)$/.exec(type)?.[1]
  if (!element || !shape) throw new Error(`A value of type ${type} has no random one here.`)
  const dims = shape.map((dim, index) => typeof dim === 'number' || typeof dim === 'bigint' ? Number(dim) : sizes[dim ?? `#${index}`] ?? 1)
  const size = dims.reduce((product, dim) => product * dim, 1)
  if (size > 1 << 26) throw new Error(`The input would have ${size.toLocaleString('en')} elements.`)
  if (element === 'string') return { type: 'string', dims, data: Array.from({ length: size }, (_, index) => `text ${index}`) }
  const Data = arrays[element]
  if (!Data) throw new Error(`Elements of type ${element} have no random ones here.`)
  const data = new Data(size)
  for (let index = 0; index < size; index++) {
    const value = random()
    if (element === 'float' || element === 'double') data[index] = value * 2 - 1
    else if (element === 'bool') data[index] = value < 0.5 ? 0 : 1
    else if (element === 'float16') data[index] = 0x3800 + Math.floor(value * 1024)
    else if (element === 'bfloat16') data[index] = 0x3f00 + Math.floor(value * 128)
    else data[index] = data instanceof BigInt64Array || data instanceof BigUint64Array ? BigInt(Math.floor(value * 2)) : Math.floor(value * 2)
  }
  return { type: jsNames[element] ?? element, dims, data }
}

const operatorName = ({ domain, opType }) => domain && domain !== 'ai.onnx' ? `${domain}.${opType}` : opType ?? '?'

function countOperators(graphs) {
  const counts = new Map()
  const waiting = [...graphs]
  while (waiting.length > 0) {
    for (const node of waiting.pop()?.node ?? []) {
      const name = operatorName(node)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      for (const { g, graphs: more = [] } of node.attribute ?? []) waiting.push(...more, ...g ? [g] : [])
    }
  }
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}

// Events: 'changed'.
export class ModelView extends EventTarget {
  #engine
  #bytes = null
  #turn = 0
  #abort = null
  state = 'none' // 'none' | 'loading' | 'shown'
  name = ''
  size = 0
  value = null // of a file that is no model but a tensor
  summary = null // { irVersion, producer, imports, nodes, operators }
  inputs = []
  outputs = []
  report = null
  problem = null
  run = { state: 'idle' } // 'idle' | 'running' | 'done' (outputs, ms) | 'failed' (message)

  constructor(engine) {
    super()
    this.#engine = engine
  }

  async open(name, bytes) {
    const turn = ++this.#turn
    this.#abort?.abort()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#bytes = bytes
    this.#set({ state: 'loading', name, size: bytes.byteLength, value: null, summary: null, inputs: [], outputs: [], report: null, problem: null, run: { state: 'idle' } })
    const report = await this.#attempt('check', bytes, { signal })
    if (turn !== this.#turn) return
    const isModel = report !== null && ['model', 'unknown'].includes(report.kind)
    const model = isModel ? await this.#attempt('loadModel', bytes) : null
    const value = report?.kind === 'tensor' && report.ok ? await this.#attempt('readValue', bytes, 'tensor') : null
    if (turn !== this.#turn) return
    const decoded = model && bytes.byteLength <= decodeLimit ? await this.#attempt('decode', bytes, 'ModelProto') : null
    if (turn !== this.#turn) return
    this.#set({ state: 'shown', report, value, inputs: model?.inputs ?? [], outputs: model?.outputs ?? [], summary: decoded && this.#summarize(decoded) })
    await model?.dispose?.()
  }

  // Looks at the same bytes anew: the operators are other ones than before.
  async again() {
    if (this.state === 'shown') await this.open(this.name, this.#bytes)
  }

  stop() {
    this.#abort?.abort()
  }

  async #attempt(method, ...values) {
    try {
      return await this.#engine.call(method, ...values)
    } catch (error) {
      this.problem = error
      return null
    }
  }

  #summarize(model) {
    const operators = countOperators([model.graph, ...model.functions ?? []])
    return {
      irVersion: String(model.irVersion ?? '?'), producer: [model.producerName, model.producerVersion].filter(Boolean).join(' '),
      imports: (model.opsetImport ?? []).map(({ domain, version }) => `${domain || 'ai.onnx'} ${version}`), graph: model.graph?.name ?? '',
      list: (model.graph?.node ?? []).map(node => ({ operator: operatorName(node), name: node.name ?? '', inputs: node.input ?? [], outputs: node.output ?? [] })),
      nodes: operators.reduce((sum, [, count]) => sum + count, 0), initializers: model.graph?.initializer?.length ?? 0, operators
    }
  }

  // The dims without a number, each with a field of its own: names, and '#axis' for nameless ones.
  get symbols() {
    return [...new Set(this.inputs.flatMap(({ shape }) => (shape ?? []).flatMap((dim, axis) => typeof dim === 'string' ? [dim] : dim === null ? [`#${axis}`] : [])))]
  }

  // What to try first for a dim: one item in a batch, pictures of 64 by 64, short lists.
  likelySize(symbol) {
    for (const { shape } of this.inputs) {
      const axis = (shape ?? []).findIndex((dim, index) => (dim ?? `#${index}`) === symbol)
      if (axis >= 0) return axis === 0 ? 1 : shape.length === 4 ? 64 : 8
    }
    return 1
  }

  async runRandom(sizes) {
    const turn = this.#turn
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.#set({ run: { state: 'running' } })
    let session = null
    try {
      const random = generator(1)
      const feeds = Object.fromEntries(this.inputs.map(input => [input.name, randomInput(input, sizes, random)]))
      session = await this.#engine.call('createSession', this.#bytes)
      const started = performance.now()
      const outputs = await session.run(feeds, { signal })
      if (turn === this.#turn) this.#set({ run: { state: 'done', outputs, ms: performance.now() - started } })
    } catch (error) {
      if (turn === this.#turn) this.#set({ run: { state: 'failed', message: error.message } })
    } finally {
      session?.dispose?.()
    }
  }

  #set(values) {
    Object.assign(this, values)
    this.dispatchEvent(new Event('changed'))
  }
}
