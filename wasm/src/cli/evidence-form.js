import { elementNamed, narrowToNumber } from '../elements.js'
import { isSparse, isTensor, typeOfValue } from '../values.js'
import { plainInteger } from './output.js'

// Values as JSON: numbers as they are; NaN and infinities as strings; int64 beyond 2^53 as strings.

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

export function evidenceForm(value) {
  if (value === null) return null
  if (isTensor(value)) return { type: typeOfValue(value), shape: [...value.dims], data: plainData(value) }
  if (isSparse(value)) return { type: typeOfValue(value), shape: [...value.dims], values: plainData(value.values), indices: plainData(value.indices) }
  if (Array.isArray(value)) return { type: typeOfValue(value) || 'seq(tensor(float))', items: value.map(evidenceForm) }
  return { type: typeOfValue(value) || 'map(string, float)', entries: [...value].map(([key, item]) => [plainNumberOrText(key), typeof item === 'object' ? evidenceForm(item) : plainNumberOrText(item)]) }
}

const plainNumberOrText = value => typeof value === 'string' || typeof value === 'boolean' ? value : plainNumber(value)
