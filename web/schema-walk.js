// Which parts of a JSON Schema describe a place of a half-typed JSON text. The text is CodeMirror's syntax tree, the schema
// one of the package's own; only the keywords that those use are followed.
import { syntaxTree } from '@codemirror/language'

const valueNames = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'])

const read = (state, node) => {
  const source = state.sliceDoc(node.from, node.to)
  try {
    return JSON.parse(source)
  } catch {
    return source.replace(/^"|"$/g, '')
  }
}

export const propertyName = (state, property) => {
  const name = property.getChild('PropertyName')
  return name ? read(state, name) : null
}

// Steps from the root to the place: [{ node, key }]; node is the Object or Array, key the member or the index in it.
export function placeAt(state, offset) {
  const inner = syntaxTree(state).resolveInner(offset, -1)
  const steps = []
  let inName = false
  for (let node = inner, child = null; node; child = node, node = node.parent) {
    if (node.name === 'PropertyName') inName = true
    if (node.name === 'Object') {
      const property = child?.name === 'Property' ? child : null
      steps.unshift({ node, key: property ? propertyName(state, property) : null })
    } else if (node.name === 'Array') {
      const before = []
      for (let item = node.firstChild; item; item = item.nextSibling) if (valueNames.has(item.name) && item.to <= offset && item !== child) before.push(item)
      steps.unshift({ node, key: before.length })
    }
  }
  return { steps, inner, inName }
}

function memberText(state, object, key) {
  for (const property of object.getChildren('Property')) {
    if (propertyName(state, property) === key && property.lastChild?.name === 'String') return read(state, property.lastChild)
  }
  return null
}

function follow(root, pointer) {
  return pointer.replace(/^#\/?/, '').split('/').filter(Boolean).reduce((schema, part) => schema?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], root)
}

// All alternatives of a schema, references followed; those whose constants contradict the text are left out.
function alternatives(root, schema, state, node, found = new Set()) {
  if (!schema || typeof schema !== 'object' || found.has(schema)) return found
  if (schema.$ref?.startsWith('#')) alternatives(root, follow(root, schema.$ref), state, node, found)
  const contradicts = node?.name === 'Object' && Object.entries(schema.properties ?? {}).some(([key, { const: value } = {}]) => {
    const written = typeof value === 'string' ? memberText(state, node, key) : null
    return written !== null && written !== '' && written !== value
  })
  if (contradicts) return found
  found.add(schema)
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) for (const branch of schema[keyword] ?? []) alternatives(root, branch, state, node, found)
  return found
}

function descend(schema, key) {
  if (typeof key === 'number') return schema.prefixItems?.[key] ?? schema.items
  return schema.properties?.[key] ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)
}

// The schemas of the container at the end of the steps, and those of the value at its key.
export function schemasAt(root, state, steps) {
  let containers = [root]
  let values = [root]
  for (const { node, key } of steps) {
    containers = values.flatMap(schema => [...alternatives(root, schema, state, node)])
    values = key === null ? [] : containers.map(schema => descend(schema, key)).filter(Boolean)
  }
  return { containers, values: values.flatMap(schema => [...alternatives(root, schema, state, null)]) }
}
