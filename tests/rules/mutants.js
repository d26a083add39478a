// Mutants of the samples' kernels: each is the kernel with one fault, as people make them. `same`: says why a mutant cannot be told
// from the kernel on what the document allows.

const swap = (from, to) => source => {
  if (!source.includes(from)) throw new Error(`the kernel has no ${from}`)
  return source.replace(from, () => to)
}
// The kernel with its outputs changed: `body` sees `outputs`, `inputs` and `attributes`.
const wrap = body => source => `${source.replace('export default', 'const kernel =')}
export default { ...kernel, async compute(inputs, attributes, ctx) {
  const outputs = await kernel.compute(inputs, attributes, ctx)
  ${body}
  return outputs
} }\n`
const each = expression => wrap(`for (const output of outputs) output.data = output.data.map((value, index) => ${expression})`)

const everywhere = {
  'a TypeError': swap('compute([', 'compute([unused = undefined.length, '),
  'one more output': wrap('outputs.push(outputs[0])'),
  'the shape turned': wrap('for (const output of outputs) output.dims = [...output.dims].reverse(), output.dims.length < 2 && output.dims.push(1)'),
  'one element off': wrap('for (const output of outputs) if (output.data.length > 1) output.data = output.data.map((_, index) => output.data[(index + 1) % output.data.length])'),
  'the last element forgotten': wrap('for (const output of outputs) if (output.data.length > 1) output.data = output.data.map((value, index) => index === output.data.length - 1 ? output.data[0] : value)'),
  'a constant, the recorded first output': wrap('for (const output of outputs) output.data = output.data.map(() => output.data[0])')
}

const bits = type => `({ ...output, type: '${type}' })`

export const mutants = {
  'quick-gelu': {
    ...everywhere,
    'attributes ignored': swap('gate(value, alpha)', 'gate(value, 1.702)'),
    '0 for -0': each('value === 0 ? 0 : value'),
    'NaN becomes 0': each('value !== value ? 0 : value'),
    '> 0 only, as in Relu': each('inputs[0].data[index] > 0 ? value : 0 * inputs[0].data[index]'),
    'infinity is NaN': each('Math.abs(inputs[0].data[index]) === Infinity ? NaN : value'),
    'minus infinity becomes 0': each('inputs[0].data[index] === -Infinity ? 0 : value'),
    'rounded to four digits': each('Number(value.toPrecision(4))'),
    'double computed in float': each('Math.fround(value)'),
    'another type': wrap(`for (const output of outputs) if (output.type === 'float64') Object.assign(output, ${bits('float32')}, { data: Float32Array.from(output.data) }); else Object.assign(output, ${bits('float64')}, { data: Float64Array.from(output.data) })`),
    'the exact GELU': swap('x * (1 / (1 + Math.exp(-alpha * x)))', 'x * 0.5 * (1 + Math.tanh(0.7978845608 * (x + 0.044715 * x ** 3)) + 0 * alpha)'),
    'alpha as a double': swap('gate(value, alpha)', 'gate(value, alpha === Math.fround(1.702) ? 1.702 : alpha)'),
    'the sign of alpha': swap('-alpha * x', 'alpha * x'),
    'without x': swap('x * (1 /', '(1 /')
  },
  'murmur-hash3': {
    ...everywhere,
    'attributes ignored': swap('murmur(key, seed)', 'murmur(key, 0)'),
    'positive ignored': swap('return [positive', 'return [true'),
    '0 for -0': swap("if (type === 'string')", "if (type === 'float32') data = data.map(v => v === 0 ? 0 : v)\n  if (type === 'string')"),
    'floats hashed as integers': swap("if (type === 'string')", "if (type === 'float32') data = Int32Array.from(data)\n  if (type === 'string')"),
    'long keys through doubles': swap("if (type === 'string')", "if (type === 'int64') data = data.map(v => BigInt(Number(v)))\n  if (type === 'string')"),
    'half of a long key': swap('const width = data.BYTES_PER_ELEMENT', "if (type === 'int64') data = Int32Array.from(data, v => Number(BigInt.asIntN(32, v)))\n  const width = data.BYTES_PER_ELEMENT"),
    'characters for bytes': swap('Array.from(data, utf8)', 'Array.from(data, text => Uint8Array.from(text, c => c.charCodeAt(0)))'),
    'a zero at the end of strings': swap('Array.from(data, utf8)', 'Array.from(data, text => utf8(`${text}\\0`))'),
    'no tail': swap('tail = (tail << 8) | bytes[i]', 'tail = 0 * bytes[i]'),
    'the tail backwards': swap('for (let i = bytes.length - 1; i >= whole; i--) tail', 'for (let i = whole; i < bytes.length; i++) tail'),
    'no length': swap('h ^= bytes.length', 'h ^= 0'),
    'big-endian': swap('view.getUint32(i, true)', 'view.getUint32(i, false)'),
    'signed shift': swap('(x >>> (32 - bits))', '(x >> (32 - bits))'),
    'a seed as a signed number': swap('murmur(key, seed)', 'murmur(key, seed > 2147483647 ? 0 : seed)'),
    'no finish': swap('h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)', 'h ^= 0')
  },
  'string-split': {
    ...everywhere,
    'skip_empty ignored': swap('skipEmpty ? found', 'false ? found'),
    'skip_empty always': swap('skipEmpty ? found', 'true ? found'),
    'the whole delimiter': swap('for (const character of characters) {\n    if (delimiter.includes(character)) found.push(\'\')', 'for (const [at, character] of characters.entries()) {\n    if (at < characters.length - 1 && text.startsWith(delimiter, at)) found.push(\'\')'),
    'the first delimiter only': swap('delimiter.includes(character)', 'delimiter[0] === character'),
    'an empty string is a token': swap("if (text === '') return []", "if (text === '') return ['']"),
    'an empty delimiter splits nothing': swap("if (delimiter === '') return characters", "if (delimiter === '') return [text]"),
    'any rank': swap('input.dims.length !== 1', 'false'),
    'a TypeError for another rank': swap("ctx.fail('Only 1D tensors can be split')", "throw new TypeError('Only 1D tensors can be split')"),
    'another message': swap('Only 1D tensors can be split', 'the rank is wrong'),
    'rows and columns turned': swap('[BigInt(r), BigInt(c)]', '[BigInt(c), BigInt(r)]'),
    'the last row for the number of rows': swap('BigInt(rows.length), BigInt(widest)', 'BigInt(rows.filter(row => row.length > 0).length), BigInt(widest)'),
    'at least one column': swap('Math.max(0, ...rows', 'Math.max(1, ...rows'),
    'the fewest tokens': swap('Math.max(0, ...rows', 'Math.min(...rows'),
    'folded case': each("typeof value === 'string' ? value.toLowerCase() : value"),
    'trimmed': each("typeof value === 'string' ? value.trim() : value"),
    'the shape as int32': wrap("outputs[2] = { type: 'int32', dims: [2], data: Int32Array.from(outputs[2].data, Number) }"),
    'sorted': wrap('outputs[1].data = [...outputs[1].data].sort()')
  }
}
