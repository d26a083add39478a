// The operator as a person reads it, drawn from the document as it is typed.
import { h, prose } from '../dom.js'

const array = value => Array.isArray(value) ? value : []
const record = value => value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : []
const text = value => typeof value === 'string' ? value : ''
const json = value => JSON.stringify(value) ?? ''

const marks = { optional: '?', variadic: '…' }

// Y = QuickGelu(X, alpha=1.702)
function callLine(document) {
  const outputs = array(document.outputs).map(({ name, cardinality } = {}) => text(name) + (marks[cardinality] ?? ''))
  const inputs = array(document.inputs).map(({ name, cardinality } = {}) => text(name) + (marks[cardinality] ?? ''))
  const attributes = record(document.attributes).map(([name, attribute]) => [name, attribute?.required ? 'required' : attribute?.default == null ? 'none' : json(attribute.default)])
  return h('pre', { class: 'call' }, h('code', {},
    outputs.length > 0 && `${outputs.join(', ')} = `,
    h('b', {}, text(document.operator?.op_type) || '?'), '(', inputs.join(', '),
    attributes.map(([name, value], index) => [inputs.length + index > 0 ? ', ' : '', h('span', { class: 'attribute' }, `${name}=${value}`)]), ')'))
}

function table(title, columns, rows) {
  if (rows.length === 0) return h('section', {}, h('h3', {}, title), h('p', { class: 'quiet' }, 'none'))
  return h('section', {}, h('h3', {}, title), h('table', {},
    h('thead', {}, h('tr', {}, columns.map(column => h('th', { scope: 'col' }, column)))),
    h('tbody', {}, rows.map(cells => h('tr', {}, cells.map((cell, index) => index === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell)))))))
}

const parameterRow = ({ name, cardinality, type_parameter: parameter, description } = {}) => [
  h('code', {}, text(name)), text(cardinality), parameter == null ? 'any' : h('code', {}, text(parameter)), prose(text(description))
]

const types = list => array(list).map(type => h('code', { class: 'type' }, text(type)))

function attributeRow([name, attribute]) {
  const { kind, required, default: value, allowed_values: allowed, description } = attribute ?? {}
  const presence = required ? 'required' : value == null ? 'optional' : h('code', {}, json(value))
  return [h('code', {}, name), h('code', {}, text(kind)), presence, allowed == null ? 'any' : h('code', {}, array(allowed).map(json).join(', ')), prose(text(description))]
}

function list(title, items) {
  if (array(items).length === 0) return null
  return h('section', {}, h('h3', {}, title), h('ul', {}, array(items).map(item => h('li', {}, prose(text(item))))))
}

const paragraph = (title, value) => text(value) !== '' && h('section', {}, h('h3', {}, title), h('p', {}, prose(value)))

// `document`: the last text that was JSON; `stale`: what is typed now is not.
export function signature(document, stale) {
  const { operator, reference } = document
  return h('article', { class: 'signature' },
    stale && h('p', { class: 'note' }, 'The text is not JSON at the moment; this is how it stood before.'),
    h('header', {},
      h('h2', {}, text(operator?.op_type) || 'Unnamed operator', operator?.overload && h('span', { class: 'quiet' }, ` : ${text(operator.overload)}`)),
      h('p', { class: 'quiet' }, h('code', {}, text(operator?.domain) || 'ai.onnx'), ` · version ${text(document.version)} · `,
        document.authority === 'reference_implementation' ? 'the reference implementation decides' : 'this document decides')),
    callLine(document),
    table('Inputs', ['Name', 'Cardinality', 'Type', 'Meaning'], array(document.inputs).map(parameterRow)),
    table('Outputs', ['Name', 'Cardinality', 'Type', 'Meaning'], array(document.outputs).map(parameterRow)),
    table('Types', ['Parameter', 'Allowed', 'Meaning'], record(document.type_parameters).map(([name, parameter]) => [h('code', {}, name), types(parameter?.allowed_types), prose(text(parameter?.description))])),
    table('Attributes', ['Name', 'Kind', 'Default', 'Allowed', 'Meaning'], record(document.attributes).map(attributeRow)),
    list('Conditions on inputs', document.input_conditions),
    list('Shapes', document.shape_rules),
    paragraph('Boundary behaviour', document.boundary_behavior),
    paragraph('Numerical behaviour', document.numerical_behavior),
    paragraph('Nondeterminism', document.nondeterminism),
    paragraph('State and effects', document.state_effects),
    reference && h('section', {}, h('h3', {}, 'Reference'), h('p', {}, h('code', {}, text(reference.adapter ?? reference.library)), ` · ${text(reference.kind)}`)))
}
