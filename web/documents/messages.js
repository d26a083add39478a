// What the messages of ONNX are to a person: which fields lead to other messages, how a type and a shape are written, one line
// about each. Objects are those of the package's decode().

import { elementByNumber } from '../../wasm/src/elements.js'
import { messages as messageOf } from '../../wasm/src/messages.js'

/** Message type of the fields that hold messages. Types (TypeProto and below) are written as text, not shown as parts. */
export const fields = {
  ModelProto: { opsetImport: 'OperatorSetIdProto', graph: 'GraphProto', functions: 'FunctionProto', metadataProps: 'StringStringEntryProto', trainingInfo: 'TrainingInfoProto', configuration: 'DeviceConfigurationProto' },
  GraphProto: { input: 'ValueInfoProto', output: 'ValueInfoProto', initializer: 'TensorProto', sparseInitializer: 'SparseTensorProto', node: 'NodeProto', valueInfo: 'ValueInfoProto', quantizationAnnotation: 'TensorAnnotation', metadataProps: 'StringStringEntryProto' },
  NodeProto: { attribute: 'AttributeProto', metadataProps: 'StringStringEntryProto', deviceConfigurations: 'NodeDeviceConfigurationProto' },
  AttributeProto: { t: 'TensorProto', g: 'GraphProto', sparseTensor: 'SparseTensorProto', tensors: 'TensorProto', graphs: 'GraphProto', sparseTensors: 'SparseTensorProto' },
  FunctionProto: { attributeProto: 'AttributeProto', node: 'NodeProto', opsetImport: 'OperatorSetIdProto', valueInfo: 'ValueInfoProto', metadataProps: 'StringStringEntryProto' },
  TensorProto: { externalData: 'StringStringEntryProto', metadataProps: 'StringStringEntryProto' },
  ValueInfoProto: { metadataProps: 'StringStringEntryProto' },
  SparseTensorProto: { values: 'TensorProto', indices: 'TensorProto' },
  SequenceProto: { tensorValues: 'TensorProto', sparseTensorValues: 'SparseTensorProto', sequenceValues: 'SequenceProto', mapValues: 'MapProto', optionalValues: 'OptionalProto' },
  MapProto: { values: 'SequenceProto' },
  OptionalProto: { tensorValue: 'TensorProto', sparseTensorValue: 'SparseTensorProto', sequenceValue: 'SequenceProto', mapValue: 'MapProto', optionalValue: 'OptionalProto' },
  OperatorSetProto: { operator: 'OperatorProto', functions: 'FunctionProto' },
  TrainingInfoProto: { initialization: 'GraphProto', algorithm: 'GraphProto', initializationBinding: 'StringStringEntryProto', updateBinding: 'StringStringEntryProto' },
  TensorAnnotation: { quantParameterTensorNames: 'StringStringEntryProto' }
}

// Fields in the order in which a person looks for them; the others come behind, as they were written.
const order = {
  GraphProto: ['input', 'output', 'node', 'initializer', 'sparseInitializer', 'valueInfo'],
  FunctionProto: ['input', 'output', 'attribute', 'attributeProto', 'node', 'valueInfo', 'opsetImport'],
  ModelProto: ['irVersion', 'opsetImport', 'graph', 'functions'],
  NodeProto: ['input', 'output', 'attribute']
}

// What the line about a message says already.
const told = {
  NodeProto: ['name', 'opType', 'domain', 'overload'], ValueInfoProto: ['name', 'type'], TensorProto: ['name', 'dims', 'dataType', 'dataLocation'], AttributeProto: ['name', 'type', 'f', 'i', 's', 'floats', 'ints', 'strings', 'tp', 'typeProtos', 'refAttrName'],
  GraphProto: ['name'], FunctionProto: ['name', 'domain', 'overload'], OperatorSetIdProto: ['domain', 'version'], StringStringEntryProto: ['key', 'value'], SparseTensorProto: ['dims'],
  SequenceProto: ['name', 'elemType'], OptionalProto: ['name', 'elemType'], MapProto: ['name', 'keyType'], OperatorProto: ['opType', 'sinceVersion', 'status'], TensorAnnotation: ['tensorName']
}

/** Fields whose items stand directly below their message while they are few. */
export const flat = { NodeProto: ['input', 'output', 'attribute'], FunctionProto: ['input', 'output', 'attribute'] }

const attributeTypes = ['undefined', 'float', 'int', 'string', 'tensor', 'graph', 'floats', 'ints', 'strings', 'tensors', 'graphs', 'sparse tensor', 'sparse tensors', 'type', 'types']
const contents = ['nothing', 'tensors', 'sparse tensors', 'sequences', 'maps', 'optionals']
const mostText = 160

export const snake = name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
export const elementName = number => number === 0 ? 'undefined' : elementByNumber[number]?.onnx ?? `element type ${number ?? '?'}`
export const asText = value => value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)
export const isPlace = value => value !== null && typeof value === 'object' && typeof value.offset === 'number' && typeof value.length === 'number'
export const sizeOf = value => value instanceof Uint8Array || isPlace(value) ? value.length : null

export const shapeText = shape => shape === null || shape === undefined ? '' : `[${shape.map(dim => dim === null ? '?' : String(dim)).join(', ')}]`
export const typeText = ({ type, shape }) => shape === null || shape === undefined ? type : `${type} ${shapeText(shape)}`
export const operatorName = ({ domain, opType }) => domain && domain !== 'ai.onnx' ? `${domain}.${opType}` : opType ?? '?'
const cut = text => text.length > mostText ? `${text.slice(0, mostText)} …` : text
const plural = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** { type, shape } of a TypeProto; its nesting is a document's own affair, so without recursion. */
export function typeOf(proto) {
  const open = []
  let at = proto
  for (;;) {
    if (at?.sequenceType) open.push('seq('), at = at.sequenceType.elemType
    else if (at?.optionalType) open.push('optional('), at = at.optionalType.elemType
    else if (at?.mapType) open.push(`map(${elementName(at.mapType.keyType)}, `), at = at.mapType.valueType
    else break
  }
  const tensor = at?.tensorType ?? at?.sparseTensorType
  const inner = at?.tensorType ? `tensor(${elementName(tensor.elemType)})` : tensor ? `sparse_tensor(${elementName(tensor.elemType)})` : at?.opaqueType ? `opaque(${at.opaqueType.domain ?? ''}, ${at.opaqueType.name ?? ''})` : ''
  const dims = tensor?.shape ? (tensor.shape.dim ?? []).map(({ dimValue, dimParam }) => dimValue ?? (dimParam || null)) : null
  if (open.length === 0) return { type: inner, shape: dims }
  return { type: open.join('') + typeText({ type: inner, shape: dims }) + ')'.repeat(open.length), shape: null }
}

export const tensorType = ({ dataType, dims = [] }) => ({ type: `tensor(${elementName(dataType)})`, shape: dims })
const sparseType = ({ values, dims = [] }) => ({ type: `sparse_tensor(${elementName(values?.dataType)})`, shape: dims })

function dataText(tensor) {
  if (tensor.dataLocation === 1) {
    const external = new Map((tensor.externalData ?? []).map(({ key, value }) => [key, value]))
    return `data in ${external.get('location') ?? 'another file'}`
  }
  const raw = sizeOf(tensor.rawData)
  if (raw !== null) return `${plural(raw, 'byte')}`
  for (const name of ['floatData', 'int32Data', 'int64Data', 'doubleData', 'uint64Data', 'stringData']) {
    const data = tensor[name]
    if (data !== undefined) return `${plural(data.count ?? data.length, 'value')}`
  }
  return ''
}

/** A short text for a value that is no message. */
export function valueText(value) {
  if (value instanceof Uint8Array) return cut(new TextDecoder().decode(value.subarray(0, mostText * 4)))
  if (isPlace(value)) return plural(value.count ?? value.length, value.count === undefined ? 'byte' : 'value')
  if (Array.isArray(value)) {
    const some = value.slice(0, 24).map(item => typeof item === 'object' && !(item instanceof Uint8Array) ? '{…}' : valueText(item))
    return cut(`[${some.join(', ')}${value.length > some.length ? `, … ${value.length.toLocaleString('en')} in all` : ''}]`)
  }
  if (value !== null && typeof value === 'object') return cut(JSON.stringify(value, (key, item) => typeof item === 'bigint' ? Number(item) : item instanceof Uint8Array ? `${item.length} bytes` : item))
  return cut(String(value))
}

function attributeText(attribute) {
  if (attribute.refAttrName) return `= ${attribute.refAttrName} of the function`
  if (attribute.tp) return `= ${typeText(typeOf(attribute.tp))}`
  if (attribute.typeProtos) return `= [${attribute.typeProtos.map(proto => typeText(typeOf(proto))).join(', ')}]`
  for (const name of ['f', 'i', 's', 'floats', 'ints', 'strings']) if (attribute[name] !== undefined) return `= ${valueText(attribute[name])}`
  if (attribute.t) return typeText(tensorType(attribute.t))
  return ''
}

/** Of each message: { title, type, note }. `typed(name)`: the text of a value's type, or ''. */
const lines = {
  NodeProto: (node, typed) => ({
    title: operatorName(node), name: node.name ?? '', type: (node.output ?? []).map(typed).filter(Boolean).join(', '),
    note: cut(`(${(node.input ?? []).join(', ')}) → (${(node.output ?? []).join(', ')})`)
  }),
  ValueInfoProto: (value, typed) => ({ title: value.name ?? '', type: typed(value.name) || typeText(typeOf(value.type)) }),
  TensorProto: tensor => ({ title: tensor.name ?? '', type: typeText(tensorType(tensor)), note: dataText(tensor) }),
  SparseTensorProto: sparse => ({ title: sparse.values?.name ?? '', type: typeText(sparseType(sparse)) }),
  AttributeProto: attribute => ({ title: attribute.name ?? '', type: attributeTypes[attribute.type] ?? `type ${attribute.type ?? '?'}`, note: attributeText(attribute) }),
  GraphProto: graph => ({ title: graph.name ?? '', note: plural(graph.node?.length ?? 0, 'node') }),
  FunctionProto: fn => ({ title: `${fn.domain ? `${fn.domain}.` : ''}${fn.name ?? ''}${fn.overload ? ` (${fn.overload})` : ''}`, note: cut(`(${(fn.input ?? []).join(', ')}) → (${(fn.output ?? []).join(', ')})`) }),
  OperatorSetIdProto: ({ domain, version }) => ({ title: domain || 'ai.onnx', note: `version ${version ?? '?'}` }),
  StringStringEntryProto: ({ key, value }) => ({ title: key ?? '', note: cut(value ?? '') }),
  OperatorProto: ({ opType, sinceVersion, status }) => ({ title: opType ?? '?', note: `since version ${sinceVersion ?? '?'}${status === undefined ? '' : `, ${['experimental', 'stable'][status] ?? `status ${status}`}`}` }),
  OperatorSetProto: ({ domain, opsetVersion, operator = [], functions = [] }) => ({ title: domain || 'ai.onnx', note: `version ${opsetVersion ?? '?'}, ${plural(operator.length, 'operator')}, ${plural(functions.length, 'function')}` }),
  SequenceProto: ({ name, elemType }) => ({ title: name ?? '', note: `of ${contents[elemType] ?? `kind ${elemType}`}` }),
  OptionalProto: ({ name, elemType }) => ({ title: name ?? '', note: elemType ? `of ${contents[elemType] ?? `kind ${elemType}`}` : 'empty' }),
  MapProto: ({ name, keyType, keys, stringKeys }) => ({ title: name ?? '', note: `${plural((keys ?? stringKeys ?? []).length, 'key')} of ${elementName(keyType)}` }),
  TensorAnnotation: ({ tensorName }) => ({ title: tensorName ?? '' }),
  ModelProto: ({ irVersion, producerName, producerVersion }) => ({ title: [producerName, producerVersion].filter(Boolean).join(' '), note: `IR ${irVersion ?? '?'}` })
}

export function describe(type, value, typed) {
  const line = lines[type]?.(value, typed) ?? {}
  return { title: '', name: '', type: '', note: '', ...line }
}

/** The fields of a message that are shown below it, as [name, value]. */
export function parts(type, message) {
  const hidden = told[type] ?? []
  const first = (order[type] ?? []).filter(name => message[name] !== undefined)
  const others = Object.keys(message).filter(name => !first.includes(name))
  return [...first, ...others].filter(name => !hidden.includes(name) && name !== '$unknown').map(name => [name, message[name]])
}

export { messageOf }
export const kindOf = Object.fromEntries(Object.entries(messageOf).map(([kind, message]) => [message, kind]))
