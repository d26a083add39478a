// SHA-256 (FIPS 180-4) without a promise: what a synchronous call can answer in every environment.

const primes = []
for (let n = 2; primes.length < 64; n++) {
  if (primes.every(p => n % p !== 0)) primes.push(n)
}
const fraction = root => Math.floor((root - Math.floor(root)) * 2 ** 32)
const rounds = Uint32Array.from(primes, p => fraction(Math.cbrt(p)))
const start = Uint32Array.from(primes.slice(0, 8), p => fraction(Math.sqrt(p)))

const turn = (x, n) => (x >>> n) | (x << (32 - n))

function block(state, words) {
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15], y = words[i - 2]
    words[i] = words[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + words[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 64; i++) {
    const t = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i] + words[i]) | 0
    const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g, g = f, f = e, e = (d + t) | 0, d = c, c = b, b = a, a = (t + u) | 0
  }
  const sums = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < 8; i++) state[i] += sums[i]
}

/** The digest of bytes, or of a text's UTF-8, in hexadecimal. */
export function sha256(source) {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, bytes.length << 3)
  const state = start.slice()
  const words = new Uint32Array(64)
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i)
    block(state, words)
  }
  return Array.from(state, word => word.toString(16).padStart(8, '0')).join('')
}
