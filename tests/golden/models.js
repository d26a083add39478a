// Seeded inputs for the public models: the same numbers here and in the script that recorded the expected outputs.

/** Numbers in [-1, 1) from a 32-bit seed (mulberry32). */
export function seededFloats (seed, count) {
  let state = seed >>> 0
  const out = new Float32Array(count)
  for (let i = 0; i < count; i++) {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    out[i] = ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1
  }
  return out
}

/** Per model: name of its file under tests/golden, its input, and the seeds that were recorded. */
export const modelCases = [
  { name: 'ocr-cls', input: 'x', dims: [1, 3, 48, 192], output: 'softmax_0.tmp_0', seeds: [1, 2, 3] },
  { name: 'speech-embedding', input: 'input_1', dims: [1, 76, 32, 1], output: 'conv2d_19', seeds: [1, 2, 3] }
]
