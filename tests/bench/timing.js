// Shared by the benchmarks: interleaved medians, new processes and a table.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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

/**
 * Runs programs (name -> text of an ES module; 'empty' is one) as new Node processes in turn. Answers name -> median
 * milliseconds with the empty process's taken off; under 'empty' is that.
 */
export function startTimes (programs, { rounds = 40 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'opspec-start-'))
  const files = Object.entries({ empty: '', ...programs }).map(([name, text]) => [name, join(folder, `${name}.mjs`), text])
  for (const [, file, text] of files) writeFileSync(file, text)
  const samples = Object.fromEntries(files.map(([name]) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, file] of files) {
      const start = performance.now()
      execFileSync(process.execPath, [file])
      if (round > 0) samples[name].push(performance.now() - start)
    }
  }
  rmSync(folder, { recursive: true })
  const empty = median(samples.empty)
  return Object.fromEntries(Object.entries(samples).map(([name, times]) => [name, name === 'empty' ? empty : median(times) - empty]))
}
