// Shared by the benchmarks: interleaved medians and a table.

export const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]

/**
 * Times named functions in turn, A B A B..., so that a drifting machine hits all alike. Each is repeated within a round until
 * it has used `slice` ms. Answers name -> median milliseconds a call.
 */
export async function interleave (jobs, { rounds = 9, slice = 40 } = {}) {
  const samples = Object.fromEntries(Object.keys(jobs).map(name => [name, []]))
  for (const job of Object.values(jobs)) await job()
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) {
      let calls = 0
      const start = performance.now()
      let now
      do {
        await job()
        calls++
        now = performance.now()
      } while (now - start < slice)
      samples[name].push((now - start) / calls)
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, median(values)]))
}

export const ms = value => value < 0.01 ? `${(value * 1e6).toFixed(0)} ns` : value < 1 ? `${(value * 1e3).toFixed(1)} us` : `${value.toFixed(2)} ms`

/** Prints rows of cells under headings, columns lined up. */
export function table (headings, rows) {
  const all = [headings, ...rows].map(row => row.map(String))
  const widths = headings.map((_, column) => Math.max(...all.map(row => row[column].length)))
  for (const row of all) console.log(row.map((cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  '))
}

export function machine () {
  console.log(`node ${process.version}, V8 ${process.versions.v8}, ${process.platform} ${process.arch}`)
}
