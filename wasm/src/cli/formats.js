import { github } from './github.js'
import { junit } from './junit.js'
import { sarif } from './sarif.js'

// Reports for other programs. Each format turns one form of report, that of check and of test alike, into a text:
//
//   { command, version, units, problems: [texts], possible, explain(rule) }
//   unit: { path, name, group, status: 'passed' | 'failed' | 'skipped' | 'error', message?, incomplete: [texts], findings, ms?, kind?, sha256?, bytes? }
//
// Findings are located (places.js) and have `file` as the whole path and `fails`: whether they make the command fail.

export const reportFormats = { sarif, junit, github }
