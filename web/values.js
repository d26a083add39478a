// Values for people: those of evidence documents (JSON) and those of a run (tensors), side by side.

const tolerances = { float64: [1e-9, 1e-12], float32: [1e-5, 1e-7], float16: [2e-3, 1e-4], bfloat16: [1e-2, 1e-3] }
export const jsNames = { float: 'float32', double: 'float64' }
const words = { NaN, Infinity, '-Infinity': -Infinity }

const elementOf = type => {
  const name = /^(?:sparse_)?tensor\((\w+)\)$/.exec(type)?.[1]
  return name && (jsNames[name] ?? name)
}

function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24)
}

function fromBrain(bits) {
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, bits << 16)
  return view.getFloat32(0)
}

// { element, dims, at(i), size } of a tensor of either kind; null for other values and for data given as bytes.
export function readTensor(value) {
  if (value === null || typeof value !== 'object' || value instanceof Map || Array.isArray(value)) return null
  const dims = value.dims ?? value.shape
  const element = value.dims ? value.type : elementOf(value.type)
  const { data } = value
  if (!element || !Array.isArray(dims) || typeof data?.length !== 'number') return null
  const decode = {
    float16: data instanceof Uint16Array ? fromHalf : null,
    bfloat16: data instanceof Uint16Array ? fromBrain : null,
    bool: item => Boolean(item),
    int64: item => BigInt(item),
    uint64: item => BigInt(item),
    string: item => item
  }[element]
  const at = decode ? index => decode(data[index]) : index => words[data[index]] ?? Number(data[index])
  const safe = index => {
    try {
      return at(index)
    } catch {
      return data[index]
    }
  }
  return { element, dims, size: data.length, at: ['float16', 'bfloat16'].includes(element) && !decode ? index => words[data[index]] ?? Number(data[index]) : safe }
}

export function elementText(value, element) {
  if (value === undefined) return ''
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'number') return String(value)
  if (Object.is(value, -0)) return '-0'
  const digits = { float32: 8, float16: 5, bfloat16: 4 }[element]
  return digits && Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : String(value)
}

export function indexText(index, dims) {
  const parts = []
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    parts.unshift(index % dims[axis])
    index = Math.floor(index / dims[axis])
  }
  return `[${parts.join(', ')}]`
}

// One line for any value of an evidence document: its type, shape and first elements.
export function valueText(value, most = 8) {
  if (value == null) return { type: 'left out', text: '' }
  const tensor = readTensor(value)
  if (!tensor) return { type: String(value.type ?? 'value'), text: JSON.stringify(value.items ?? value.entries ?? value.data ?? value.value ?? '').slice(0, 120) }
  const items = Array.from({ length: Math.min(tensor.size, most) }, (_, index) => elementText(tensor.at(index), tensor.element))
  return { type: `${tensor.element}[${tensor.dims.join(', ')}]`, text: items.join(', ') + (tensor.size > most ? ', …' : '') }
}

function close(actual, expected, [rtol, atol], ulp) {
  if (typeof expected !== 'number' || typeof actual !== 'number') return actual === expected
  if (Number.isNaN(expected)) return Number.isNaN(actual)
  if (expected === 0 && actual === 0) return Object.is(expected, actual) || Object.is(actual, -0)
  if (actual === expected) return true
  if (!Number.isFinite(expected) || ulp) return false
  return Math.abs(actual - expected) <= atol + rtol * Math.abs(expected)
}

// The elements that differ, the first ones first: [{ index, expected, actual, difference }]; with `all` also those that agree.
export function compareElements(expected, actual, tolerance, { most = 12, all = false } = {}) {
  const e = readTensor(expected)
  const a = readTensor(actual)
  if (!e || !a || e.size !== a.size) return null
  const [rtol, atol] = tolerances[a.element] ?? [0, 0]
  const limits = [tolerance?.rtol ?? rtol, tolerance?.atol ?? atol]
  const rows = []
  let differing = 0
  for (let index = 0; index < e.size; index++) {
    const [x, y] = [e.at(index), a.at(index)]
    const differs = !close(y, x, limits, tolerance?.ulp)
    if (differs) differing++
    if (rows.length < most && (differs || all)) {
      rows.push({
        index: indexText(index, e.dims), differs, expected: elementText(x, a.element), actual: elementText(y, a.element),
        difference: typeof x === 'number' && typeof y === 'number' && Number.isFinite(y - x) ? (y - x).toPrecision(3) : ''
      })
    }
  }
  return { rows, differing, size: e.size }
}

// |actual - expected| of each element of two number tensors of one shape, the largest finite one beside; null for others.
export function differences(expected, actual) {
  const e = readTensor(expected)
  const a = readTensor(actual)
  if (!e || !a || e.size !== a.size || e.size === 0 || typeof a.at(0) !== 'number' || typeof e.at(0) !== 'number') return null
  const same = (x, y) => Object.is(x, y) || x === y
  const values = Array.from({ length: e.size }, (_, index) => same(e.at(index), a.at(index)) ? 0 : Math.abs(a.at(index) - e.at(index)))
  const largest = values.reduce((most, value) => Number.isFinite(value) ? Math.max(most, value) : most, 0)
  return { dims: e.dims, values, largest: values.some(Number.isNaN) ? largest || 1 : largest }
}
