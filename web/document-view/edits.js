// What can be changed in a part of a model: each change is one of the package's edits, and one step of undo.
import { ask } from '../dialogs.js'
import { notice } from '../notices.js'

const nonEmpty = text => text === '' ? 'It needs a name.' : null
const integer = text => /^\d{1,18}$/.test(text) ? null : 'A whole number.'
const fieldNames = { irVersion: 'the IR version', modelVersion: 'the version of the model', producerName: 'the name of the producer', producerVersion: 'the version of the producer', domain: 'the domain', docString: 'the description' }
const numbers = ['irVersion', 'modelVersion']
const renames = { input: 'renameInput', output: 'renameOutput', value: 'renameValue' }

/** details: of the part, with `edit`; change(edits, what) -> promise. Answers [{ label, act }]. */
export function editsOf({ edit }, change) {
  if (!edit) return []
  const make = async (edits, what) => {
    try {
      await change(edits, what)
    } catch (error) {
      notice('edit', `That cannot be changed: ${error.message}`, { kind: 'error' })
    }
  }
  const asked = async (question, what, edits) => {
    const text = await ask({ yes: 'Change', ...question })
    if (text !== null && text !== question.value) await make(edits(text), what)
  }
  const rename = (name, key, target) => ({ label: 'Rename', act: () => asked({ title: `Rename ${name || 'the node'}`, label: 'Name', value: name, problem: nonEmpty }, 'the new name', to => [{ [key]: target, to }]) })
  const kinds = {
    node: ({ node, name }) => [
      rename(name, 'renameNode', node),
      { label: 'Remove', act: () => make([{ removeNode: node }], 'the removal of a node') },
      { label: 'Remove and pass its input on', act: () => make([{ removeNode: node, bypass: true }], 'the removal of a node') },
      { label: 'Fold into a constant', act: () => make([{ fold: node }], 'the folding of a node') }
    ],
    value: ({ name, as }) => [rename(name, renames[as], name)],
    opset: ({ domain, version }) => [
      { label: 'Change the version', act: () => asked({ title: `Version of ${domain || 'ai.onnx'}`, label: 'Version; nodes stay as they are', value: version, problem: integer }, 'the version of an operator set', to => [{ setOpset: domain, version: BigInt(to) }]) },
      { label: 'Remove', act: () => make([{ setOpset: domain, version: null }], 'the removal of an operator set') }
    ],
    metadata: ({ key, value }) => [
      { label: 'Change', act: () => asked({ title: `Metadata ${key}`, label: 'Value', value, problem: () => null }, 'the metadata', to => [{ setMetadata: key, value: to }]) },
      { label: 'Remove', act: () => make([{ setMetadata: key, value: null }], 'the removal of metadata') }
    ],
    field: ({ name, value }) => [
      { label: 'Change', act: () => asked({ title: `Change ${fieldNames[name]}`, label: 'Value', value, problem: numbers.includes(name) ? integer : () => null }, `the change of ${fieldNames[name]}`, to => [{ set: name, value: to === '' ? null : numbers.includes(name) ? BigInt(to) : to }]) }
    ],
    model: () => [
      { label: 'Add metadata', act: () => asked({ title: 'Add metadata', label: 'name = value', value: '', yes: 'Add', problem: text => /^[^=]+=/.test(text) ? null : 'A name, “=” and a value.' }, 'the metadata', text => [{ setMetadata: text.slice(0, text.indexOf('=')).trim(), value: text.slice(text.indexOf('=') + 1).trim() }]) },
      { label: 'Add an operator set', act: () => asked({ title: 'Add an operator set', label: 'domain and version', value: '', yes: 'Add', problem: text => /^\S+ \d{1,9}$/.test(text) ? null : 'A domain, a blank and a version.' }, 'the operator set', text => [{ setOpset: text.split(' ')[0].replace(/^ai\.onnx$/, ''), version: Number(text.split(' ')[1]) }]) }
    ]
  }
  return kinds[edit.kind](edit)
}
