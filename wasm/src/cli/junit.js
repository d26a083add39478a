// JUnit's XML: a test case for each file that was checked, or for each test that was run.

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' }

// XML 1.0 has no form for most control characters, lone surrogates, U+FFFE and U+FFFF: they are shown as \uXXXX.
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const visible = text => text.replace(impossible, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const attribute = text => visible(String(text)).replace(/[&<>"\t\n\r]/g, character => escapes[character])
const content = text => visible(text).replace(/[&<>\r]/g, character => escapes[character])

const attributes = list => Object.entries(list).map(([name, value]) => ` ${name}="${attribute(value)}"`).join('')

function placeOf({ file, path, region }) {
  if (region?.startLine !== undefined) return `${file}:${region.startLine}:${region.startColumn}`
  return path ? `${file}: ${path}` : file
}

const findingText = finding => `${placeOf(finding)}: ${finding.severity}: ${finding.message} [${finding.rule}]`

// JUnit knows one reason a case: the first says what, the text has all.
function reasonOf({ status, message, incomplete, findings }) {
  const failing = findings.filter(({ fails }) => fails)
  const word = status === 'skipped' ? 'skipped' : status === 'error' || (failing.length === 0 && incomplete.length > 0) ? 'error' : 'failure'
  const first = message ?? failing[0]?.message ?? incomplete[0] ?? ''
  const type = failing[0]?.rule ?? (incomplete.length > 0 ? 'incomplete' : status)
  const text = [...failing.map(findingText), ...incomplete.map(reason => `incomplete: ${reason}`)].join('\n')
  if (word === 'skipped') return `      <skipped${attributes({ message: first })}/>\n`
  return `      <${word}${attributes({ message: first, type })}>${content(text)}</${word}>\n`
}

function caseOf(unit) {
  const { name, group, status, ms = 0, incomplete, findings } = unit
  const head = `    <testcase${attributes({ classname: group, name, time: (ms / 1000).toFixed(3) })}`
  const quiet = status === 'passed' || status === 'skipped'
  const others = quiet ? [...findings.map(findingText), ...incomplete.map(reason => `incomplete: ${reason}`)] : findings.filter(({ fails }) => !fails).map(findingText)
  const told = others.length > 0 ? `      <system-out>${content(others.join('\n'))}</system-out>\n` : ''
  const body = (status === 'passed' ? '' : reasonOf(unit)) + told
  return body === '' ? `${head}/>\n` : `${head}>\n${body}    </testcase>\n`
}

/** The text of a report. */
export function junit({ command, units, problems }) {
  const unmade = problems.map(message => ({ name: command, group: 'opspec', status: 'error', message, incomplete: [], findings: [] }))
  const all = [...units, ...unmade]
  const bodies = all.map(caseOf)
  const count = word => bodies.filter(body => body.includes(`      <${word} `)).length
  const time = (all.reduce((sum, { ms = 0 }) => sum + ms, 0) / 1000).toFixed(3)
  const counts = { tests: all.length, failures: count('failure'), errors: count('error'), skipped: count('skipped'), time }
  const { skipped, ...top } = counts
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites${attributes({ name: 'opspec', ...top })}>
  <testsuite${attributes({ name: `opspec ${command}`, ...top, skipped })}>
${bodies.join('')}  </testsuite>
</testsuites>
`
}
