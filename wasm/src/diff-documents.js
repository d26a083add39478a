import { optionsOf, textOrBytes } from './arguments.js'
import { compareInterfaces } from './diff-model.js'
import { compareOperatorSets } from './diff-operator-set.js'
import { change, difference, plainChange } from './diff-rules.js'
import { invalid, OpspecError } from './errors.js'
import { normalFiles } from './files.js'
import { messages } from './messages.js'
import { fileAtOnce, Outside } from './outside.js'

// What differs between two ONNX documents of one kind. The core compares the messages (core/onnx/message_diff.h); here its
// sentences get their rules.

const kindNamed = as => Object.keys(messages).find(kind => messages[kind] === as) ?? as

const valueRules = { type: 'diff.value.type', kind: 'diff.value.type', shape: 'diff.value.shape', count: 'diff.value.items', empty: 'diff.value.items', key: 'diff.value.items', elements: 'diff.value.elements' }

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}

// Data: what the values are, then what else the messages say.
function compareData(rows, value) {
  if (value.kind === undefined) return rows.map(plainChange)
  const { kind, within, path, message, first, differing, count, maxAbs, maxRel, maxUlp } = value
  const metrics = { ...first !== undefined && { first, differing, count }, ...maxAbs !== undefined && { maxAbs: maxAbs ?? Infinity, maxRel: maxRel ?? Infinity, maxUlp } }
  const found = change(within ? 'diff.value.rounding' : valueRules[kind], sentence(message), { path, ...metrics })
  return [found, ...rows.map(plainChange).filter(({ rule }) => rule === 'diff.message.text')]
}

// The files of both sides: the module asks for 'a/NAME' and 'b/NAME'. Bytes stay where they are.
function filesOf(given) {
  const [a, b] = Array.isArray(given) ? given : [given, given]
  if (Array.isArray(given) && given.length !== 2) throw invalid('files: a list has the files of a and those of b')
  const sides = { a: normalFiles(a), b: normalFiles(b) }
  const outside = new Outside()
  const get = asked => fileAtOnce(sides[asked[0]]?.get(asked.slice(2)), asked.slice(2))
  return { names: [], complete: false, get, outside, bits: (sides.a === null ? 0 : 1) + (sides.b === null ? 0 : 2) }
}

function rowsOf(engine, a, b, kind, files, timeoutMs) {
  try {
    return engine.guard(() => engine.withBlock(a, (at, size) => engine.withBlock(b, (other, length) => {
      engine.check(engine.exports.opspec_do_diff(engine.port, at, size, other, length, engine.putText(kind), files.bits, timeoutMs))
      return engine.resultJson()
    })), files)
  } finally {
    files.outside.release()
  }
}

function compare(env, engine, a, b, kind, files, timeoutMs) {
  const { changes: rows, left, unread, value } = rowsOf(engine, a, b, kind, files, timeoutMs)
  const changes = value !== undefined ? compareData(rows, value)
    : kind === 'operator-set' ? compareOperatorSets(env.decode(a, 'OperatorSetProto'), env.decode(b, 'OperatorSetProto'), rows)
      : kind === 'model' ? compareInterfaces(env, a, b, rows)
        : rows.map(plainChange)
  if (unread !== undefined) changes.push(change('diff.message.unread', `The elements of ${unread.count === 1 ? 'a tensor' : `${unread.count} tensors`} in other files were not compared. ${unread.count === 1 ? '' : 'The first: '}${unread.why}.`, { path: unread.path }))
  if (left > 0) changes.push(change(kind === 'operator-set' ? 'diff.opset.more' : 'diff.message.more', `${left} further changes are not listed.`, { path: '' }))
  return difference(changes)
}

// The kind that both are; null: a text, so a specification.
function kindOf(env, a, b) {
  const [x, y] = [a, b].map(bytes => typeof bytes === 'string' ? { kind: 'json' } : env.identify(bytes))
  const [isX, isY] = [x, y].map(({ kind }) => Object.hasOwn(messages, kind))
  if (!isX && !isY) return null
  if (x.kind === y.kind) return x.kind
  const what = ({ kind, evidence }) => kind === 'unknown' ? `of unknown kind${evidence ? ` (${evidence})` : ''}` : kind
  throw new OpspecError('unsupported', `${isY ? 'a' : 'b'}: only documents of one kind can be compared, a is ${what(x)}, b is ${what(y)}; \`as\` says what both are`)
}

/** Env.diff of two ONNX documents; null: they are none. */
export function diffDocuments(env, engine, a, b, given) {
  const { as, timeoutMs, files } = optionsOf(given)
  const [x, y] = [textOrBytes(a, 'a'), textOrBytes(b, 'b')]
  const kind = as === undefined ? kindOf(env, x, y) : kindNamed(as)
  if (kind === null || kind === 'spec') return null
  if (!Object.hasOwn(messages, kind)) throw invalid(`as: must be spec or one of ${Object.keys(messages).join(', ')}`)
  for (const [name, bytes] of [['a', x], ['b', y]]) if (typeof bytes === 'string') throw invalid(`${name}: a ${kind} is given by its bytes`)
  return compare(env, engine, x, y, kind, filesOf(files), timeoutMs ?? 0)
}
