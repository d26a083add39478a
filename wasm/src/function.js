import { elementByNumber } from './elements.js'
import { OpspecError } from './errors.js'

// Whether a function (FunctionProto) or a model's graph can be what an operator runs. The core has found both it and the
// operator's document good by themselves.

// onnx.proto, AttributeProto.AttributeType, in the words of documents
const kinds = ['undefined', 'float', 'int', 'string', 'tensor', 'graph', 'floats', 'ints', 'strings', 'tensors', 'graphs', 'sparse_tensor', 'sparse_tensors', 'type', 'types']

function misfit(path, message) {
  throw new OpspecError('malformed', `kernel: ${message}`, { path })
}

const named = list => list.map(({ name = '' }) => name)

// Both lists are by position. A name that the document has elsewhere shows that the order is another.
function fitParameters(path, what, declared, names) {
  const variadic = declared.find(({ cardinality }) => cardinality === 'variadic')
  if (variadic !== undefined) misfit(path, `the document's ${what} "${variadic.name}" is variadic, and a function has a fixed number of ${what}s`)
  if (names.length !== declared.length) misfit(path, `it has ${names.length} ${what}s (${names.join(', ')}), the document has ${declared.length} (${named(declared).join(', ')})`)
  names.forEach((name, i) => {
    const other = declared.findIndex(item => item.name === name)
    if (other >= 0 && other !== i) misfit(`${path}[${i}]`, `"${name}" is ${what} ${i} here and ${what} ${other} in the document`)
  })
}

function tensorType({ type }) {
  const element = elementByNumber[type?.tensorType?.elemType]
  return element === undefined ? null : `tensor(${element.onnx})`
}

// A model says the types of its inputs and outputs; each must be one that the document allows there.
function fitTypes(what, declared, values, parameters) {
  values.forEach((value, i) => {
    const type = tensorType(value)
    const { name, type_parameter: label } = declared[i]
    const { allowed_types: allowed } = parameters[label]
    if (type !== null && !allowed.includes(type)) misfit(`graph.${what}[${i}]`, `"${value.name}" is ${type}, which ${what} "${name}" of the document never is (${allowed.join(', ')})`)
  })
}

function fitAttributes(declared, plain, withDefault) {
  for (const name of Object.keys(declared)) {
    if (!plain.includes(name) && !withDefault.includes(name)) misfit('attribute', `the function does not have the document's attribute "${name}"`)
  }
  const unknown = (list, path) => list.forEach((name, i) => {
    if (!Object.hasOwn(declared, name)) misfit(`${path}[${i}]`, `the document has no attribute "${name}"`)
  })
  unknown(plain, 'attribute')
  unknown(withDefault, 'attributeProto')
}

// References in nodes, bodies included, say the kind of what they take.
function fitReferences(declared, nodes) {
  const stack = [{ nodes, path: '' }]
  while (stack.length > 0) {
    const { nodes, path } = stack.pop()
    nodes.forEach((node, n) => (node.attribute ?? []).forEach((attribute, a) => {
      const place = `${path}node[${n}].attribute[${a}]`
      const { refAttrName = '', type, g, graphs = [] } = attribute
      const kind = declared[refAttrName]?.kind
      if (kind !== undefined && kinds[type] !== kind) misfit(place, `the attribute "${refAttrName}" is taken as ${kinds[type]} here, in the document it is ${kind}`)
      if (g !== undefined) stack.push({ nodes: g.node ?? [], path: `${place}.g.` })
      graphs.forEach((graph, i) => stack.push({ nodes: graph.node ?? [], path: `${place}.graphs[${i}].` }))
    }))
  }
}

/**
 * Throws OpspecError 'malformed', with the place in the function or model, where it does not fit.
 * @param {object} document an operator-extension document
 * @param {object} body a FunctionProto or a ModelProto, decoded
 */
export function fitFunction({ operator, inputs, outputs, attributes, type_parameters: parameters }, body) {
  const { graph } = body
  const path = graph === undefined ? '' : 'graph.'
  const parts = graph ?? body
  const names = list => graph === undefined ? list : named(list)
  if (graph === undefined && (body.domain !== operator.domain || body.name !== operator.op_type)) {
    misfit('name', `the function is ${body.domain}.${body.name}, the document's operator ${operator.domain}.${operator.op_type}`)
  }
  if (graph === undefined && (body.opsetImport ?? []).length === 0) misfit('opsetImport', 'the function imports no operator set')
  if (graph !== undefined) {
    const [name] = Object.keys(attributes)
    if (name !== undefined) misfit('graph', `a model's graph cannot take the document's attribute "${name}"; a FunctionProto can`)
    const initialized = new Set(named(graph.initializer ?? []))
    ;(graph.input ?? []).forEach(({ name }, i) => {
      if (initialized.has(name)) misfit(`graph.input[${i}]`, `"${name}" has an initializer as well, so it is no input of the operator`)
    })
  }
  fitParameters(`${path}input`, 'input', inputs, names(parts.input ?? []))
  fitParameters(`${path}output`, 'output', outputs, names(parts.output ?? []))
  if (graph !== undefined) {
    fitTypes('input', inputs, graph.input ?? [], parameters)
    fitTypes('output', outputs, graph.output ?? [], parameters)
    return
  }
  fitAttributes(attributes, body.attribute ?? [], named(body.attributeProto ?? []))
  fitReferences(attributes, body.node ?? [])
}
