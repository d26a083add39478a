import { change, plainChange } from './diff-rules.js'

// What changes for whoever runs a model when another takes its place.

const shapeText = shape => shape === null ? '' : ` [${shape.map(dim => dim ?? '?').join(', ')}]`
const text = ({ type, shape }) => `${type}${shapeText(shape)}`
const isNumber = dim => typeof dim === 'number' || typeof dim === 'bigint'

// Whether something that fits `from` may not fit `to`.
function isNarrower(from, to) {
  if (to === null) return false
  if (from === null || from.length !== to.length) return true
  return to.some((dim, i) => isNumber(dim) && from[i] !== dim)
}

function compareInput(before, after, path) {
  const message = `The input "${after.name}" was ${text(before)} and is ${text(after)}.`
  if (before.type !== after.type || isNarrower(before.shape, after.shape)) return [change('diff.model.input-narrowed', message, { path })]
  return isNarrower(after.shape, before.shape) ? [change('diff.model.input-widened', message, { path })] : []
}

function compareOutput(before, after, path) {
  const message = `The output "${after.name}" was ${text(before)} and is ${text(after)}.`
  if (before.type !== after.type || isNarrower(after.shape, before.shape)) return [change('diff.model.output-changed', message, { path })]
  return isNarrower(before.shape, after.shape) ? [change('diff.model.output-narrowed', message, { path })] : []
}

const isInterface = /^graph\.(input|output)\[\d+\]($|\.(name|type)\b)/

// The place of each input and output that a row is about, by word and quoted name: inputs with an initializer count in the list, but are
// no inputs here.
function placesOf(rows) {
  const places = new Map()
  for (const { path, message } of rows) {
    const named = /^(?:input|output) "(?:[^"\\]|\\.)*"/.exec(message)
    if (isInterface.test(path) && named !== null) places.set(named[0], /^graph\.\w+\[\d+\]/.exec(path)[0])
  }
  return places
}

function compareValues(a, b, word, compare, places) {
  const [before, after] = [a, b].map(list => new Map(list.map(value => [value.name, value])))
  const place = name => places.get(`${word} ${JSON.stringify(name)}`) ?? `graph.${word}`
  const out = []
  for (const name of before.keys()) if (!after.has(name)) out.push(change(`diff.model.${word}-removed`, `The ${word} "${name}" was removed.`, { path: place(name) }))
  for (const [name, value] of after) {
    if (before.has(name)) out.push(...compare(before.get(name), value, place(name)))
    else out.push(change(`diff.model.${word}-added`, `The ${word} "${name}" is new: ${text(value)}.`, { path: place(name) }))
  }
  return out
}

// Inputs and outputs of a model; null where it has none that can be told.
function interfaceOf(env, bytes) {
  let model
  try {
    model = env.loadModel(bytes)
    return { inputs: [...model.inputs], outputs: [...model.outputs] }
  } catch (error) {
    if (error.code !== 'malformed' && error.code !== 'unsupported') throw error
    return null
  } finally {
    model?.dispose()
  }
}

/** The changes of two models, whose rows the core has found. */
export function compareInterfaces(env, a, b, rows) {
  const [before, after] = [interfaceOf(env, a), interfaceOf(env, b)]
  const plain = row => /^opset_import\b/.test(row.path) ? change('diff.model.opset', row.message, { path: row.path }) : plainChange(row)
  if (before === null || after === null) return rows.map(plain)
  const places = placesOf(rows)
  const found = [
    ...compareValues(before.inputs, after.inputs, 'input', compareInput, places),
    ...compareValues(before.outputs, after.outputs, 'output', compareOutput, places)
  ]
  const told = new Set(found.map(({ path }) => path))
  const isTold = path => isInterface.test(path) && told.has(/^graph\.\w+\[\d+\]/.exec(path)[0])
  return [...found, ...rows.filter(({ path }) => !isTold(path)).map(plain)]
}
