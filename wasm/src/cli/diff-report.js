import { Buffer } from 'node:buffer'
import { Places } from './places.js'
import { rangeOf } from './pointer.js'

// What `opspec diff` found as a report for other programs (formats.js): places are those of the second document.

function regionOf(places, text, pointer) {
  const range = pointer === undefined ? null : rangeOf(text, pointer)
  return range === null ? undefined : places.region(...range.map(at => Buffer.byteLength(text.slice(0, at))))
}

export function diffReport({ env, version, path, bytes, changes, breaking }) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const places = new Places(bytes)
  const explain = rule => env.explain(rule)
  const findings = changes.map(({ rule, message, pointer, path: inside, breaking: fails }) => ({
    rule, severity: explain(rule).severity, message, file: path, pointer, path: inside, region: regionOf(places, text, pointer), related: [], fails
  }))
  const unit = { path, name: path, group: 'diff', status: breaking ? 'failed' : 'passed', incomplete: [], findings }
  return { command: 'diff', version, units: [unit], problems: [], possible: true, explain }
}
