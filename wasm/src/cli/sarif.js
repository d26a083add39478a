import { portablePath } from './paths.js'

// SARIF 2.1.0: one run. Columns count UTF-16 code units; a byte-order mark is in no column but in byte offsets.

const levels = { error: 'error', warning: 'warning', info: 'note' }

const text = content => ({ text: content })

// A URI reference: relative where the path is.
function uriOf(path) {
  const portable = portablePath(path).toWellFormed()
  const encoded = portable.split('/').map(encodeURIComponent).join('/')
  if (/^[A-Za-z]:\//.test(portable)) return `file:///${portable.slice(0, 2)}${encoded.slice(encoded.indexOf('/'))}`
  return portable.startsWith('/') ? `file://${encoded}` : encoded
}

function locationOf({ file, region, pointer, path }) {
  const name = path || pointer
  return {
    physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region !== undefined && { region } },
    ...name && { logicalLocations: [{ fullyQualifiedName: name }] }
  }
}

const contentOf = edit => edit.text === undefined ? { binary: Buffer.from(edit.bytes).toString('base64') } : text(edit.text)

function fixOf(fix, file) {
  const changes = new Map()
  for (const edit of fix.edits) {
    const uri = uriOf(edit.file ?? file)
    if (!changes.has(uri)) changes.set(uri, { artifactLocation: { uri }, replacements: [] })
    changes.get(uri).replacements.push({ deletedRegion: edit.region, insertedContent: contentOf(edit) })
  }
  return { description: text(fix.title), artifactChanges: [...changes.values()] }
}

function resultOf(finding, rules) {
  const { rule, severity, message, related, fix, fingerprint, suppressed, expected, actual } = finding
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level: levels[severity],
    message: text(message),
    locations: [locationOf(finding)],
    ...related.length > 0 && { relatedLocations: related.map((item, id) => ({ id, ...locationOf(item), message: text(item.message) })) },
    ...fix !== undefined && fix.edits.length > 0 && { fixes: [fixOf(fix, finding.file)] },
    ...fingerprint !== undefined && { partialFingerprints: { 'opspec/v1': fingerprint } },
    ...suppressed !== undefined && { suppressions: [{ kind: 'external', justification: suppressed.reason }] },
    ...(expected !== undefined || actual !== undefined) && { properties: { ...expected !== undefined && { expected }, ...actual !== undefined && { actual } } }
  }
}

const ruleOf = ({ rule, severity, title, why, good, bad, source }) => ({
  id: rule,
  shortDescription: text(title),
  fullDescription: text(why),
  help: text(`${why}\n\nGood:\n${good}\n\nBad:\n${bad}\n\nSource: ${source}`),
  defaultConfiguration: { level: levels[severity] }
})

// A test that failed without a finding of its own.
const failureOf = ({ path, message }) => ({ rule: 'evidence.error', severity: 'error', message: message ?? 'the test failed', file: path, related: [] })

function findingsOf({ status, findings, ...unit }, command) {
  const failed = command === 'test' && (status === 'failed' || status === 'error')
  return failed && !findings.some(({ severity }) => severity === 'error') ? [...findings, failureOf(unit)] : findings
}

const noticesOf = unit => unit.incomplete.map(reason => ({ level: 'warning', message: text(reason), locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(unit.path) } } }] }))

const artifactOf = ({ path, bytes, sha256 }) => ({ location: { uri: uriOf(path) }, length: bytes, hashes: { 'sha-256': sha256 } })

/** The text of a SARIF log. */
export function sarif({ command, version, units, problems, possible, explain }) {
  const findings = units.flatMap(unit => findingsOf(unit, command))
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort()
  const artifacts = units.filter(({ sha256 }) => sha256 != null).map(artifactOf)
  return `${JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'opspec', version, semanticVersion: version, rules: rules.map(rule => ruleOf(explain(rule))) } },
      columnKind: 'utf16CodeUnits',
      invocations: [{
        executionSuccessful: possible,
        toolExecutionNotifications: [...problems.map(message => ({ level: 'error', message: text(message) })), ...units.flatMap(noticesOf)]
      }],
      ...artifacts.length > 0 && { artifacts },
      results: findings.map(finding => resultOf(finding, rules))
    }]
  }, null, 2)}\n`
}
