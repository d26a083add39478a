// Models of many GB on disk that take next to no room there: their tensors are holes in sparse files.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { dataTypes, node, value, Writer } from './onnx.js'

const tagged = (number, length) => new Writer().varint(number << 3 | 2).varint(length).bytes()

/**
 * A chain y = x + w0 + w1 + ..., float tensors of `elements` each: `inside` in the file's raw_data, `beside` in the file
 * `location` in the same folder. Answers the size of the model.
 */
export function writeLargeModel (path, { inside = 0, beside = 0, elements, location = 'weights.bin', type = 'float32', width = 4, as = 'initializer' }) {
  const bytes = elements * width
  const count = inside + beside
  const head = i => new Writer().field(1, [elements]).field(2, dataTypes[type]).field(8, `w${i}`)
  const entry = (key, text) => new Writer().field(1, key).field(2, String(text)).bytes()
  const external = (i, at) => head(i).field(13, [entry('location', location), entry('offset', at * bytes), entry('length', bytes)]).field(14, 1).bytes()
  // [bytes, size of the hole behind them]
  const pieces = []
  for (let i = 0; i < inside; i++) {
    const start = new Writer().put(head(i).bytes()).put(tagged(9, bytes)).bytes()
    if (as === 'initializer') pieces.push([new Writer().put(tagged(5, start.length + bytes)).put(start).bytes(), bytes])
    else {
      const attribute = new Writer().field(1, 'value').field(20, 4).put(tagged(5, start.length + bytes)).put(start).bytes()
      const constant = new Writer().field(2, [`w${i}`]).field(4, 'Constant').put(tagged(5, attribute.length + bytes)).put(attribute).bytes()
      pieces.push([new Writer().put(tagged(1, constant.length + bytes)).put(constant).bytes(), bytes])
    }
  }
  const rest = new Writer().field(2, 'large')
  for (let i = 0; i < beside; i++) rest.field(5, external(inside + i, i))
  for (let i = 0; i < count; i++) rest.field(1, node(type === 'bool' ? 'And' : 'Add', [i === 0 ? 'x' : `v${i}`, `w${i}`], [i === count - 1 ? 'y' : `v${i + 1}`]))
  rest.field(11, value('x', type, [elements])).field(12, value('y', type, [elements]))
  pieces.push([rest.bytes(), 0])
  const graph = pieces.reduce((sum, [part, hole]) => sum + part.length + hole, 0)
  pieces.unshift([new Writer().field(1, 10).field(2, 'opspec tests').field(8, new Writer().field(1, '').field(2, 21).bytes()).put(tagged(7, graph)).bytes(), 0])
  const file = openSync(path, 'w')
  let at = 0
  for (const [part, hole] of pieces) {
    writeSync(file, part, 0, part.length, at)
    at += part.length + hole
  }
  ftruncateSync(file, at)
  closeSync(file)
  return at
}

/** A file of zeros. */
export function writeHole (path, size) {
  const file = openSync(path, 'w')
  ftruncateSync(file, size)
  closeSync(file)
}
