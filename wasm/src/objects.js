import { asciiText } from './platform.js'

// Objects out of a tape of the module's (core/host/host_objects.c). Without recursion: messages nest as deep as a document says.

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const few = Array.from({ length: 128 }, (_, i) => BigInt(i)) // one out of a typed array is a new one each time
const SHORT = 64 // bytes that do not get a buffer of their own in a list

// An empty object without room for what most objects get: many of them take a fraction of the time and of the memory.
function Empty() {}
Empty.prototype = Object.prototype

// The list with so many more; where it has only begun, one that does not have to grow.
const withEmpty = (list, more) => {
  if (list.length > 1) {
    for (; more > 0; more--) list.push(new Empty())
    return list
  }
  const all = new Array(1 + more)
  all[0] = list[0]
  for (let i = 1; i <= more; i++) all[i] = new Empty()
  return all
}

const many = (count, one) => {
  const list = new Array(count)
  for (let i = 0; i < count; i++) list[i] = one()
  return list
}

/** What the last call has left. */
export function objectsOf(engine) {
  const start = engine.resultAddress
  const { u8, u32, f64, i64, u64 } = engine
  const [at, , numbersAt, , textAt, textSize, namesAt, namesSize, plain] = u32.subarray(start >>> 2, (start >>> 2) + 9)
  const bytes = u8.subarray(textAt, textAt + textSize)
  const text = plain === 1 ? asciiText(bytes) : decoder.decode(bytes)
  const names = decoder.decode(u8.subarray(namesAt, namesAt + namesSize)).split('\0')
  let word = at >>> 2
  let number = numbersAt >>> 3
  let unit = 0
  const string = () => text.substring(unit, unit += u32[word++])
  const double = () => f64[number++]
  const isSmall = at => u32[2 * at + 1] === 0 && u32[2 * at] < few.length
  const integer = () => isSmall(number) ? few[u32[2 * number++]] : i64[number++]
  const unsigned = () => isSmall(number) ? few[u32[2 * number++]] : u64[number++]
  const range = () => {
    const address = u32[word++]
    return u8.slice(address, address + u32[word++])
  }
  // Short ones of a list are views of one buffer: to make one takes longer than all else.
  const ranges = count => {
    const first = word
    let size = 0
    for (let i = 0; i < count; i++, word += 2) if (u32[word + 1] <= SHORT) size += u32[word + 1]
    const shared = new Uint8Array(size)
    const list = new Array(count)
    const none = shared.subarray(0, 0)
    let at = 0
    for (let i = 0, pair = first; i < count; i++, pair += 2) {
      const address = u32[pair]
      const length = u32[pair + 1]
      if (length > SHORT) {
        list[i] = u8.slice(address, address + length)
      } else if (length === 0) {
        list[i] = none
      } else {
        const start = at
        for (let j = 0; j < length; j++) shared[at++] = u8[address + j]
        list[i] = new Uint8Array(shared.buffer, start, length)
      }
    }
    return list
  }
  const root = {}
  const stack = []
  let object = root
  for (;;) {
    const key = names[u32[word] >>> 4]
    switch (u32[word++] & 15) {
      case 0: return root
      case 1:
        object = stack.pop()
        break
      case 2:
        stack.push(object)
        object = object[key] = {}
        break
      case 3: {
        const child = {}
        object[key] = [child]
        stack.push(object)
        object = child
        break
      }
      case 4: {
        const child = {}
        object[key].push(child)
        stack.push(object)
        object = child
        break
      }
      case 5:
        object[key] = string()
        break
      case 6:
        object[key] = many(u32[word++], string)
        break
      case 7:
        object[key] = double()
        break
      case 8:
        object[key] = many(u32[word++], double)
        break
      case 9:
        object[key] = integer()
        break
      case 10:
        object[key] = many(u32[word++], integer)
        break
      case 11:
        object[key] = unsigned()
        break
      case 12:
        object[key] = many(u32[word++], unsigned)
        break
      case 13:
        object[key] = range()
        break
      case 15:
        object[key] = withEmpty(object[key], u32[word++])
        break
      default:
        object[key] = ranges(u32[word++])
    }
  }
}
