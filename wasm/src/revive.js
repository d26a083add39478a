// What JSON cannot carry (proto/form.h), in what the module wrote.

const DOLLAR = 36
const LINE_END = 10

function numbers({ f32, f64, i32, u32, i64, u64 }, [type, address, count]) {
  const heap = { f32, f64, i32, u32, i64, u64 }[type]
  const start = address / heap.BYTES_PER_ELEMENT
  return Array.from(heap.subarray(start, start + count))
}

/**
 * What the last call has left as JSON, ranges of the document as { offset, length }; without a walk through it where the module
 * says that there is nothing to be replaced.
 */
export function revived(engine) {
  const root = engine.resultJson()
  return engine.u8[engine.resultAddress + engine.resultSize - 1] === LINE_END ? root : revive(engine, root)
}

// Without recursion: messages nest as deep as a document says.
function revive(engine, root) {
  const { u8 } = engine
  const makers = {
    $i: text => BigInt(text),
    $b: ([offset, length]) => ({ offset, length }),
    $m: ([address, length]) => u8.slice(address, address + length),
    $f: ([offset, length, count]) => ({ offset, length, count }),
    $a: place => numbers(engine, place),
    $n: text => Number(text)
  }
  const stack = [root]
  // An object with one member that begins with '$' becomes what it stands for; what may hold such ones waits on the stack.
  const replace = value => {
    for (const key in value) {
      if (key.charCodeAt(0) !== DOLLAR) break
      return makers[key](value[key])
    }
    stack.push(value)
    return value
  }
  while (stack.length > 0) {
    const holder = stack.pop()
    if (Array.isArray(holder)) {
      if (typeof holder[0] !== 'object') continue // elements are of one kind
      for (let i = 0; i < holder.length; i++) holder[i] = replace(holder[i])
      continue
    }
    for (const key in holder) {
      const value = holder[key]
      if (value !== null && typeof value === 'object') {
        const made = replace(value)
        if (made !== value) holder[key] = made
      }
    }
  }
  return root
}
