// MurmurHash3_x86_32 of every element. Hashes are kept as unsigned numbers until they are stored.
const rotate = (x, bits) => (x << bits) | (x >>> (32 - bits))
const scramble = k => Math.imul(rotate(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593)

function murmur(bytes, seed) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const whole = bytes.length & ~3
  let h = seed | 0
  for (let i = 0; i < whole; i += 4) {
    h = Math.imul(rotate(h ^ scramble(view.getUint32(i, true)), 13), 5) + 0xe6546b64 | 0
  }
  let tail = 0
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | bytes[i]
  if (whole < bytes.length) h ^= scramble(tail)
  h ^= bytes.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

// A kernel has the language and nothing of its host, so no TextEncoder.
function utf8(text) {
  const bytes = encodeURIComponent(text).match(/%..|./g) ?? []
  return Uint8Array.from(bytes, byte => byte.length === 3 ? parseInt(byte.slice(1), 16) : byte.charCodeAt(0))
}

function keys({ type, data }) {
  if (type === 'string') return Array.from(data, utf8)
  const width = data.BYTES_PER_ELEMENT
  return Array.from(data, (_, i) => new Uint8Array(data.buffer, data.byteOffset + i * width, width))
}

export default {
  inferTypes: (_, { positive }) => [positive ? 'tensor(uint32)' : 'tensor(int32)'],

  inferShapes: ([x]) => [{ shape: x.shape }],

  compute([x], { positive, seed }) {
    const hashes = keys(x).map(key => murmur(key, seed))
    return [positive
      ? { type: 'uint32', dims: x.dims, data: Uint32Array.from(hashes) }
      : { type: 'int32', dims: x.dims, data: Int32Array.from(hashes, hash => hash | 0) }]
  }
}
