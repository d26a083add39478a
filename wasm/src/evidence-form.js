import { elementNamed, narrowToNumber } from './elements.js'
import { isMap, isSparse, isTensor, parseType, typeOfValue } from './values.js'

// Values as JSON: numbers as they are; NaN and infinities as strings; int64 beyond 2^53 as strings.

export function plainInteger(value) {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value)
}

function plainNumber(value) {
  if (typeof value === 'bigint') return plainInteger(value)
  if (Number.isFinite(value)) return value
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
}

// float32 values in as few digits as give them back.
function shortFloat(value) {
  if (!Number.isFinite(value)) return plainNumber(value)
  for (let digits = 6; digits < 10; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

export function plainData({ type, data }) {
  const element = elementNamed(type)
  if (type === 'string') return [...data]
  if (type === 'bool') return Array.from(data, value => value !== 0)
  if (type === 'float32' || type === 'complex64') return Array.from(data, shortFloat)
  if (element.layout !== null) return Array.from(data, bits => plainNumber(narrowToNumber(element.layout, element.bits, bits)))
  return Array.from(data, plainNumber)
}

/** { type, dims, data } of a tensor; other values in the form that evidence documents have. */
export function outputForm(value) {
  return isTensor(value) ? { type: value.type, dims: [...value.dims], data: plainData(value) } : evidenceForm(value)
}

const plainNumberOrText = value => typeof value === 'string' || typeof value === 'boolean' ? value : plainNumber(value)

/** `type`: expression of the value's type where that is known; empty lists and scalars of maps do not tell. */
export function evidenceForm(value, type = typeOfValue(value)) {
  const known = parseType(type)
  if (known.kind === 'optional') return { type, value: value === null ? null : evidenceForm(value, known.of.text) }
  if (value === null) return null
  if (isTensor(value)) return { type: typeOfValue(value), shape: [...value.dims], data: plainData(value) }
  if (isSparse(value)) return { type: typeOfValue(value), shape: [...value.dims], values: plainData(value.values), indices: plainData(value.indices) }
  const inner = known.of?.text
  if (isMap(value)) return { type: type || 'map(string, float)', entries: [...value].map(([key, item]) => [plainNumberOrText(key), item !== null && typeof item === 'object' ? evidenceForm(item, inner) : plainNumberOrText(item)]) }
  return { type: type || 'seq(tensor(float))', items: value.map(item => evidenceForm(item, inner)) }
}
