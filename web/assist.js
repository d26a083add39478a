// Completion and hover in the JSON files of a bundle, from the schemas that the package ships and from the document itself.
import { completeFromList } from '@codemirror/autocomplete'
import { jsonLanguage } from '@codemirror/lang-json'
import { hoverTooltip } from '@codemirror/view'
import evidenceSchema from 'opspec/schemas/evidence.json'
import documentSchema from 'opspec/schemas/operator-extension.json'
import { kindOf } from './bundle.js'
import { h } from './dom.js'
import { placeAt, propertyName, schemasAt } from './schema-walk.js'

const elements = ['float', 'double', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint64', 'uint32', 'uint16', 'uint8', 'bool', 'string', 'complex64', 'complex128', 'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz', 'float8e8m0', 'float4e2m1', 'uint4', 'int4', 'uint2', 'int2']
const types = [...elements.map(element => `tensor(${element})`), 'seq(tensor(float))', 'optional(tensor(float))', 'map(string, int64)', 'sparse_tensor(float)']
const starts = { string: '""', array: '[]', object: '{}', boolean: 'false', null: 'null' }

const schemaOf = (name, text) => kindOf(text) === 'opspec.evidence' ? evidenceSchema : kindOf(text) || name.endsWith('.opspec.json') ? documentSchema : null

// What the bundle itself knows about a place, by the path to it.
function fromBundle(path, workspace) {
  const where = path.map(part => typeof part === 'number' ? '#' : part)
  const document = workspace.reading.document ?? {}
  const last = where.at(-1)
  if (last === 'type_parameter') return Object.keys(document.type_parameters ?? {})
  if (where.length === 4 && where[2] === 'allowed_types' || last === 'type' && where[0] !== 'operator') return types
  if (where.join('/') === 'tests/#') return workspace.names.filter(name => kindOf(workspace.text(name)) === 'opspec.evidence')
  return []
}

function valueOptions(state, place, schemas, workspace) {
  const constants = schemas.flatMap(schema => schema.enum ?? (schema.const === undefined ? [] : [schema.const]))
  const flags = schemas.some(({ type }) => type === 'boolean') ? [true, false] : []
  const known = fromBundle(place.steps.map(({ key }) => key), workspace)
  const options = [...new Set([...constants, ...flags, ...known])]
  return options.map(value => ({ label: JSON.stringify(value), type: 'constant' }))
}

function nameOptions(state, { steps }, schemas, workspace) {
  const object = steps.at(-1).node
  const present = new Set(object.getChildren('Property').map(property => propertyName(state, property)))
  const options = new Map()
  for (const schema of schemas) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (!present.has(name)) options.set(name, { label: JSON.stringify(name), type: 'property', info: property.description, detail: (schema.required ?? []).includes(name) ? 'required' : undefined, start: starts[property.type] ?? '' })
    }
  }
  if (steps.at(-2)?.key === 'attributes' && schemas.length > 0) {
    for (const [name, attribute] of Object.entries(workspace.reading.document?.attributes ?? {})) {
      if (!present.has(name)) options.set(name, { label: JSON.stringify(name), type: 'property', info: attribute?.description, start: '' })
    }
  }
  return [...options.values()]
}

function insertName(start) {
  return (view, completion, from, to) => {
    const followed = /^\s*:/.test(view.state.sliceDoc(to, to + 20))
    const text = followed ? completion.label : `${completion.label}: ${start}`
    const cursor = from + text.length - (!followed && start.length === 2 ? 1 : 0)
    view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: cursor }, userEvent: 'input.complete' })
  }
}

function completions(name, workspace) {
  return context => {
    const { state, pos } = context
    const schema = schemaOf(name, state.doc.sliceString(0, 4000))
    if (!schema) return null
    const place = placeAt(state, pos)
    if (place.steps.length === 0) return null
    const token = ['String', 'PropertyName', 'Number', 'True', 'False', 'Null', '⚠'].includes(place.inner.name) ? place.inner : null
    const quoted = token && state.sliceDoc(token.from, token.from + 1) === '"'
    const word = quoted ? { from: token.from, to: token.to } : context.matchBefore(/[\w.-]*/) ?? { from: pos, to: pos }
    if (!context.explicit && !quoted && word.from === word.to) return null
    const { containers, values } = schemasAt(schema, state, place.steps)
    const last = place.steps.at(-1)
    const naming = last.node.name === 'Object' && (last.key === null || place.inName || !/:\s*$/.test(state.sliceDoc(Math.max(0, word.from - 200), word.from)))
    const options = naming
      ? nameOptions(state, place, containers, workspace).map(({ start, ...option }) => ({ ...option, apply: insertName(start) }))
      : valueOptions(state, place, values, workspace)
    if (options.length === 0) return null
    const to = quoted ? Math.min(word.to, state.doc.lineAt(pos).to) : pos
    return { from: word.from, to, options, validFor: /^"?[^"\n]*"?$/ }
  }
}

function hover(name) {
  return hoverTooltip((view, pos, side) => {
    const schema = schemaOf(name, view.state.doc.sliceString(0, 4000))
    const place = schema && placeAt(view.state, side < 0 ? pos : pos + 1)
    if (!place || !place.inName) return null
    const { values } = schemasAt(schema, view.state, place.steps)
    const described = values.find(({ description }) => description)
    if (!described) return null
    const { inner } = place
    return {
      pos: inner.from, end: inner.to, above: true,
      create: () => ({ dom: h('div', { class: 'cm-hover' }, h('b', {}, String(place.steps.at(-1).key)), h('div', {}, described.description)) })
    }
  }, { hoverTime: 400 })
}

const kernelWords = completeFromList(['inferTypes', 'inferShapes', 'compute', 'create', 'dispose', 'inputs', 'attributes', 'ctx.fail', 'ctx.requested', 'ctx.signal', 'dims', 'data', 'type', 'shape'].map(label => ({ label, type: 'property' })))

// Extensions for a file of the workspace.
export function assist(name, workspace, languages) {
  if (name.endsWith('.json')) return [jsonLanguage.data.of({ autocomplete: completions(name, workspace) }), hover(name)]
  if (/^kernel\.m?js$/.test(name)) return languages.javascript.data.of({ autocomplete: kernelWords })
  return []
}
