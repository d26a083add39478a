// What JSON cannot carry (proto/form.h), in what the module wrote.

function numbers({ f32, f64, i32, u32, i64, u64 }, [type, address, count]) {
  const heap = { f32, f64, i32, u32, i64, u64 }[type]
  const start = address / heap.BYTES_PER_ELEMENT
  return Array.from(heap.subarray(start, start + count))
}

/**
 * Without recursion: messages nest as deep as a document says.
 * @param {(offset: number, length: number) => unknown} range what a range of the document becomes
 */
export function revive(engine, root, range) {
  const { u8 } = engine
  const replace = value => {
    if ('$i' in value) return BigInt(value.$i)
    if ('$b' in value) return range(...value.$b)
    if ('$m' in value) return u8.slice(value.$m[0], value.$m[0] + value.$m[1])
    if ('$f' in value) return { ...range(value.$f[0], value.$f[1]), count: value.$f[2] }
    if ('$a' in value) return numbers(engine, value.$a)
    return '$n' in value ? Number(value.$n) : value
  }
  const stack = [root]
  while (stack.length > 0) {
    const holder = stack.pop()
    for (const key in holder) {
      const value = holder[key]
      if (value === null || typeof value !== 'object') continue
      const revived = replace(value)
      if (revived === value) stack.push(value)
      else holder[key] = revived
    }
  }
  return root
}
