import { CommandError } from './options.js'
import { bundleFiles, jsonRole, pathKind, readPath } from './paths.js'

/** A specification, named or the one of a bundle, and its bundle's kernel.onnx: { text, body } of bytes; body null: there is none. */
export function specAndBody(path) {
  if (pathKind(path) === 'file') return { text: readPath(path), body: null }
  const files = [...bundleFiles(path)]
  const specs = files.filter(([name, bytes]) => name.endsWith('.json') && jsonRole(name, bytes) === 'spec')
  if (specs.length !== 1) throw new CommandError(`${path}: ${specs.length === 0 ? 'no specification is' : `${specs.length} specifications are`} in there; name the file`)
  return { text: specs[0][1], body: files.find(([name]) => /(^|\/)kernel\.onnx$/.test(name))?.[1] ?? null }
}
