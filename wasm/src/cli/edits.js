import { CommandError, pair } from './options.js'
import { readPath } from './paths.js'

// Edits of a model by options of the command.

const nodeKeys = ['fold', 'removeNode', 'renameNode']
const renames = { 'rename-input': 'renameInput', 'rename-output': 'renameOutput', 'rename-value': 'renameValue', 'rename-node': 'renameNode' }

// 18, com.example=1, com.example=none
function opset(text) {
  const at = text.lastIndexOf('=')
  const [domain, version] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 1)]
  if (version !== 'none' && !(/^\d+$/.test(version) && Number(version) > 0)) throw new CommandError(`--opset ${text}: must be [DOMAIN=]VERSION, or DOMAIN=none`)
  return { setOpset: domain, version: version === 'none' ? null : Number(version) }
}

const named = (option, value, help) => ({ [option]: { value, many: true, read: value.includes('=') ? pair(option) : undefined, help } })

export const editOptions = {
  'edits': { value: 'FILE', help: 'edits of a model as a JSON list, as model.edit takes them; made before those of the other options' },
  ...named('fold', 'NODE', 'of a model: run the node (its name, or its number in the graph), which needs no input, and put initializers in its place'),
  ...named('remove-node', 'NODE', 'of a model: take the node out, whose outputs nobody uses; by name or number'),
  ...named('bypass-node', 'NODE', 'of a model: take the node out; its first input takes the place of its first output'),
  ...named('rename-input', 'OLD=NEW', 'of a model, wherever the name stands; so with the next three'),
  ...named('rename-output', 'OLD=NEW', 'an output of the graph'),
  ...named('rename-value', 'OLD=NEW', 'any value of the graph'),
  ...named('rename-node', 'OLD=NEW', 'a node'),
  ...named('metadata', 'KEY=VALUE', 'an entry of the model\'s metadata'),
  ...named('remove-metadata', 'KEY', 'takes one away'),
  'opset': { value: '[DOMAIN=]VERSION', many: true, read: opset, help: 'the operator set that the model imports: only the number; DOMAIN=none takes it away' }
}

function fromFile(path) {
  if (path === undefined) return []
  try {
    const edits = JSON.parse(new TextDecoder().decode(readPath(path)))
    if (Array.isArray(edits)) return edits
    throw new Error('it is no list')
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`--edits ${path}: ${error.message}`)
  }
}

// Those of options, where a node without a name has its number.
const ofOptions = new WeakSet()

/** The edits with numbers in place of what is the name of no node. */
export function resolveNodes(edits, model) {
  const isNumber = value => typeof value === 'string' && /^\d{1,9}$/.test(value)
  const asked = edits.filter(edit => ofOptions.has(edit) && nodeKeys.some(key => isNumber(edit[key])))
  if (asked.length === 0) return edits
  const names = new Set(Array.from(model.nodes(), ({ name }) => name))
  return edits.map(edit => asked.includes(edit)
    ? Object.fromEntries(Object.entries(edit).map(([key, value]) => [key, nodeKeys.includes(key) && isNumber(value) && !names.has(value) ? Number(value) : value]))
    : edit)
}

/** In the order in which the options stand above. */
export function readEdits(options) {
  const each = (option, make) => (options[option] ?? []).map(item => {
    const edit = make(item)
    ofOptions.add(edit)
    return edit
  })
  return [
    ...fromFile(options.edits),
    ...each('fold', name => ({ fold: name })),
    ...each('remove-node', name => ({ removeNode: name })),
    ...each('bypass-node', name => ({ removeNode: name, bypass: true })),
    ...Object.entries(renames).flatMap(([option, name]) => each(option, ([from, to]) => ({ [name]: from, to }))),
    ...each('metadata', ([key, value]) => ({ setMetadata: key, value })),
    ...each('remove-metadata', key => ({ setMetadata: key, value: null })),
    ...each('opset', item => item)
  ]
}
