import { detailsOf, messageOf, OpspecError } from './errors.js'
import { SparseTensor, Tensor } from './values.js'

// What crosses between a client and its worker. Structured clone carries data; classes of ours are marked on one side and
// made again on the other, and handles go as numbers.
//
//   { id, method, args, handle?, late? }   a call: of the Env, or of the handle; late: milliseconds of its time limit that are gone
//   { id, cancel: true }            the caller's signal has fired
//   { id, progress }                how far it is: what the caller's onProgress is called with
//   { id, value } or { id, error }  its answer

/** Methods of an Env that a worker offers, and their parameters. */
export const envMethods = {
  validateSpec: ['spec', 'options'], validateJson: ['instance', 'schema', 'options'], compileSchema: ['schema', 'options'], check: ['document', 'options'], identify: ['document'], loadModel: ['bytes', 'options'], open: ['source', 'options'], createSession: ['model', 'options'],
  registerOperator: ['spec', 'kernel', 'options'], loadPlugin: ['plug-in', 'options'], decode: ['bytes', 'as'], encode: ['object', 'as'],
  diff: ['a', 'b', 'options'], format: ['bytes', 'as', 'form', 'options'], parse: ['text', 'as', 'form'], readValue: ['bytes', 'kind', 'options'], writeValue: ['value', 'name', 'type'], writeOperatorSet: ['options'], operators: [], rules: [],
  explain: ['rule'], test: ['bundle', 'options']
}

/** Methods of handles, and what a client knows of a handle beside them. */
export const handleKinds = {
  model: { methods: { check: ['options'], toBytes: [], toBlob: [], load: ['options'], structure: [], infer: ['options'], nodes: [], edit: ['edits'], toJSON: [], toText: ['form', 'options'] }, properties: ['kind', 'inputs', 'outputs'] },
  session: { methods: { run: ['feeds', 'options'] }, properties: ['inputNames', 'outputNames'] },
  schema: { methods: { validate: ['instance', 'options'] }, properties: ['findings'] },
  registration: { methods: {}, properties: ['operators', 'unmatched'] }
}

const MARK = '$opspec'

/** An answer that stands for a Blob of a file: the client makes it. */
export const FILE_BLOB = '$opspec-file-blob'

const isPlain = value => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A copy that structured clone can carry. `handle(object)` answers the number of a handle, or undefined.
 */
export function encode(value, handle) {
  if (value === null || typeof value !== 'object') return value
  const number = handle(value)
  if (number !== undefined) return { [MARK]: 'handle', number }
  if (value instanceof Tensor) return { [MARK]: 'tensor', type: value.type, dims: value.dims, data: value.data }
  if (value instanceof SparseTensor) {
    return { [MARK]: 'sparse', type: value.type, dims: value.dims, values: encode(value.values, handle), indices: encode(value.indices, handle) }
  }
  if (Array.isArray(value)) return value.map(item => encode(item, handle))
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, encode(item, handle)]))
  if (typeof URL === 'function' && value instanceof URL) return { [MARK]: 'url', href: value.href }
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item, handle)]))
  // Tensors of onnxruntime-common have their data behind getters.
  if (!ArrayBuffer.isView(value) && typeof value.type === 'string' && value.dims != null && 'data' in value) {
    return { [MARK]: 'tensor', type: value.type, dims: value.dims, data: value.data }
  }
  return value
}

export function decode(value, handle) {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(item => decode(item, handle))
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, decode(item, handle)]))
  if (!isPlain(value)) return value
  switch (value[MARK]) {
    case 'handle': return handle(value)
    case 'tensor': return new Tensor(value.type, value.data, value.dims)
    case 'sparse': return new SparseTensor(value.type, decode(value.values, handle), decode(value.indices, handle), value.dims)
    case 'url': return new URL(value.href)
    default: return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item, handle)]))
  }
}

/** What was thrown, whatever it is. Of errors that are not ours only what they say is known on the other side. */
export function encodeError(error) {
  const { code, message, path, findings, cause, ours } = detailsOf(error)
  if (!ours) return { code: 'operator_failed', message, cause: message }
  return { code, message, path, findings, cause: cause === undefined ? undefined : messageOf(cause) }
}

export function decodeError({ code, message, path, findings, cause }) {
  return new OpspecError(code, message, { path, findings, cause: cause === undefined ? undefined : new Error(cause) })
}
