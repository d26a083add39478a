import { elementOfOnnx } from './elements.js'
import { atOnce, hear, invalid, shown } from './errors.js'
import { elementFor, elementToPlain, isTensor } from './values.js'

// Kernels that say only what happens to one element: { elementwise: (x, y, { alpha }) => ... }. Broadcasting, element types and
// shapes are done here, by the operator's document.

// ---- Shapes -------------------------------------------------------------------------------------------------------

// Dims are numbers, names or null (unknown). Numbers win; of two names nothing is known.
function broadcastDim(a, b, refuse) {
  if (a === b || b === 1) return a
  if (a === 1) return b
  if (typeof a === 'number') return typeof b === 'number' ? refuse() : a
  return typeof b === 'number' ? b : null
}

/** As ONNX's multidirectional broadcasting (ONNX, docs/Broadcasting.md). `fail(message)` must not return. */
export function broadcastShapes(a, b, fail) {
  const refuse = () => fail(`the shapes [${a.join(', ')}] and [${b.join(', ')}] do not broadcast`)
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => broadcastDim(a[i + a.length - rank] ?? 1, b[i + b.length - rank] ?? 1, refuse))
}

// Answers the indices, one a call, that the elements of shape `out` have in a tensor of shape `own`.
function indices(own, out) {
  const lead = out.length - own.length
  const strides = new Array(out.length).fill(0)
  let step = 1
  for (let axis = own.length - 1; axis >= 0; axis--) {
    if (own[axis] !== 1) strides[axis + lead] = step
    step *= own[axis]
  }
  const counter = new Array(out.length).fill(0)
  let next = 0
  return () => {
    const index = next
    for (let axis = out.length - 1; axis >= 0; axis--) {
      next += strides[axis]
      if (++counter[axis] < out[axis]) break
      next -= strides[axis] * out[axis]
      counter[axis] = 0
    }
    return index
  }
}

// ---- Elements -----------------------------------------------------------------------------------------------------

// Answers the values, one a call, that an input has for the elements of shape `out`.
function valuesOf(tensor, out) {
  const element = elementFor(tensor.type, 'input')
  const { data, dims } = tensor
  const read = element.layout === null && element.name !== 'bool' ? index => data[index] : index => elementToPlain(element, data, index)
  if (data.length === 1) {
    const value = read(0)
    return () => value
  }
  let at = 0
  if (sameShape(dims, out)) return () => read(at++)
  const next = indices(dims, out)
  return () => read(next())
}

// Where results are gathered: typed where storing cannot change a number in a way that nobody sees, else a list that is
// checked and rounded when it is taken over.
function roomFor(type, count) {
  return type === 'float32' ? new Float32Array(count) : type === 'float64' ? new Float64Array(count) : new Array(count)
}

function checkInputs(inputs, fail) {
  inputs.forEach((value, i) => {
    if (value === undefined) return
    if (!isTensor(value)) fail(`input ${i} is no tensor, and an elementwise kernel takes tensors only`)
    if (value.type.startsWith('complex')) fail(`input ${i} is ${value.type}, which an elementwise kernel does not take`)
  })
}

// ---- Without detours ------------------------------------------------------------------------------------------------

// For up to three inputs whose numbers are what their arrays hold: loops over the arrays themselves. `step` is 0 for one element.
// They answer whether every result was one that the output can hold (`exact`: holds without a change; of floats any number is
// taken); if not, the long way says what was wrong with which. A promise is heard first: it may reject.
function refuse(value) {
  hear(value)
  return false
}

const loops = [
  null,
  (fn, [{ data, step }], attributes, out, exact) => {
    for (let i = 0; i < out.length; i++) {
      const value = fn(data[i * step], attributes)
      if (typeof value !== 'number') return refuse(value)
      out[i] = value
      if (exact && out[i] !== value) return false
    }
    return true
  },
  (fn, [a, b], attributes, out, exact) => {
    const [x, xs, y, ys] = [a.data, a.step, b.data, b.step]
    for (let i = 0; i < out.length; i++) {
      const value = fn(x[i * xs], y[i * ys], attributes)
      if (typeof value !== 'number') return refuse(value)
      out[i] = value
      if (exact && out[i] !== value) return false
    }
    return true
  },
  (fn, [a, b, c], attributes, out, exact) => {
    const [x, xs, y, ys, z, zs] = [a.data, a.step, b.data, b.step, c.data, c.step]
    for (let i = 0; i < out.length; i++) {
      const value = fn(x[i * xs], y[i * ys], z[i * zs], attributes)
      if (typeof value !== 'number') return refuse(value)
      out[i] = value
      if (exact && out[i] !== value) return false
    }
    return true
  }
]

// A tensor's data as of shape `out`.
function expanded(element, { data, dims }, out, count) {
  const next = indices(dims, out)
  const full = new element.array(count)
  for (let i = 0; i < count; i++) full[i] = data[next()]
  return full
}

const isPlain = element => element.layout === null && element.name !== 'bool' && element.array !== null && element.parts === 1 && element.packed === 1

const sameShape = (a, b) => a.length === b.length && a.every((dim, axis) => dim === b[axis])

// The only output's data, or null where this is not the way.
function computeDirectly(fn, inputs, attributes, dims, count, type) {
  const element = elementFor(type, 'output')
  if (inputs.length === 0 || inputs.length >= loops.length || !isPlain(element) || element.wide) return null
  const sources = []
  for (const input of inputs) {
    const own = input === undefined ? null : elementFor(input.type, 'input')
    if (own === null || !isPlain(own)) return null
    const { data } = input
    const one = data.length === 1
    sources.push({ data: one || sameShape(input.dims, dims) ? data : expanded(own, input, dims, count), step: one ? 0 : 1 })
  }
  const out = new element.array(count)
  return loops[inputs.length](fn, sources, attributes, out, !element.name.startsWith('float')) ? out : null
}

// ---- The kernel ---------------------------------------------------------------------------------------------------

const none = () => undefined

// Answers, for each output, what its type is given the inputs. By type parameter, or the only type that is allowed.
function typesOf({ inputs, outputs, type_parameters: parameters }) {
  return outputs.map(({ name, type_parameter: label }) => {
    const places = inputs.flatMap((input, i) => input.type_parameter === label ? [i] : [])
    const variadic = inputs.at(-1)?.cardinality === 'variadic' && inputs.at(-1).type_parameter === label
    const { allowed_types: allowed } = parameters[label]
    const [, onnx] = allowed.length === 1 ? /^tensor\((\w+)\)$/.exec(allowed[0]) ?? [] : []
    if (onnx !== undefined) return () => elementOfOnnx(onnx).name
    if (places.length === 0) throw invalid(`kernel: elementwise needs the type of output "${name}" from an input of the same type parameter`)
    return given => given.find((value, i) => value !== undefined && (places.includes(i) || (variadic && i >= inputs.length)))?.type
  })
}

// `least`: inputs that the document names; a node may leave out the last ones.
function compute(fn, { types, least }, inputs, attributes, fail) {
  while (inputs.length < least) inputs.push(undefined)
  checkInputs(inputs, fail)
  const dims = inputs.filter(value => value !== undefined).map(value => [...value.dims]).reduce((a, b) => broadcastShapes(a, b, fail), [])
  const count = dims.reduce((a, b) => a * b, 1)
  const readers = inputs.map(value => value === undefined ? none : valuesOf(value, dims))
  const kinds = types.map(typeOf => typeOf(inputs))
  const direct = kinds.length === 1 ? computeDirectly(fn, inputs, attributes, dims, count, kinds[0]) : null
  if (direct !== null) return [{ type: kinds[0], dims, data: direct }]
  const rooms = kinds.map(type => roomFor(type, count))
  const argumentList = [...inputs, attributes]
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < readers.length; k++) argumentList[k] = readers[k]()
    const result = atOnce(fn(...argumentList), 'elementwise')
    for (let k = 0; k < rooms.length; k++) {
      const value = rooms.length === 1 ? result : atOnce(result?.[k], 'elementwise')
      if (value === undefined) fail(`elementwise answered nothing for output ${k}`)
      if (ArrayBuffer.isView(rooms[k]) && typeof value !== 'number') fail(`elementwise answered ${shown(value)} for element ${i} of output ${k}, not a number`)
      rooms[k][i] = value
    }
  }
  return rooms.map((data, k) => ({ type: kinds[k], dims, data }))
}

/**
 * The kernel that an elementwise one stands for, and what gives it its document before it is first asked.
 * @returns {{ kernel: object, bind: (document: object) => void }}
 */
export function elementwiseKernel(given) {
  const { elementwise } = given
  const about = { types: [], least: 0 }
  const kernel = {
    inferShapes(inputs, _, { fail }) {
      const shapes = inputs.filter(fact => fact !== undefined).map(({ shape }) => shape)
      const shape = shapes.includes(null) ? null : shapes.reduce((a, b) => broadcastShapes(a, b, fail), [])
      return about.types.map(() => ({ shape }))
    },
    compute: (inputs, attributes, { fail }) => compute(elementwise, about, inputs, attributes, fail),
    dispose: () => given.dispose?.()
  }
  if (given.bigint !== undefined) kernel.bigint = given.bigint
  if (given.create !== undefined) kernel.create = (...values) => given.create(...values)
  function bind(document) {
    about.types = typesOf(document)
    about.least = document.inputs.filter(({ cardinality }) => cardinality !== 'variadic').length
  }
  return { kernel, bind }
}
