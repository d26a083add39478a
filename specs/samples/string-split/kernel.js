// StringSplit: how many tokens there are, and so the shape of two outputs, is known only after the run.
function tokens(text, delimiter, skipEmpty) {
  if (text === '') return []
  const characters = Array.from(text)
  if (delimiter === '') return characters
  const found = ['']
  for (const character of characters) {
    if (delimiter.includes(character)) found.push('')
    else found[found.length - 1] += character
  }
  return skipEmpty ? found.filter(token => token !== '') : found
}

export default {
  inferShapes: () => [{ shape: [null, 2] }, { shape: [null] }, { shape: [2] }],

  compute([input, delimiter, skipEmpty], _, ctx) {
    if (input.dims.length !== 1) ctx.fail('Only 1D tensors can be split')
    const rows = Array.from(input.data, text => tokens(text, delimiter.data[0], skipEmpty.data[0] !== 0))
    const values = rows.flat()
    const indices = rows.flatMap((row, r) => row.flatMap((_token, c) => [BigInt(r), BigInt(c)]))
    const widest = Math.max(0, ...rows.map(row => row.length))
    return [
      { type: 'int64', dims: [values.length, 2], data: BigInt64Array.from(indices) },
      { type: 'string', dims: [values.length], data: values },
      { type: 'int64', dims: [2], data: BigInt64Array.of(BigInt(rows.length), BigInt(widest)) }
    ]
  }
}
