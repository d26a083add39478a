// Rules on plain text: sizes of files, words that are not to be committed, names of headers.

const lineLimit = 1000
const sources = /\.([ch]|js|mjs|ts|css|cmake|sh)$/

// Built in two halves, so that this file passes its own rule.
const words = new RegExp(`\\b(TO${''}DO|FIX${''}ME|XX${''}X)\\b`)
const machinePath = /(^|[\s'"`(=:])\/(work|tmp|root|farm|home)\/[a-z]/i
const conflict = /^(<{7}|>{7}) /

// Data that others wrote, or that is one line by nature.
const exempt = /^package-lock\.json$|^tests\/(fuzz\/corpus|golden)\/|\.(onnx|pb|zip|png|svg|wasm)$/

export function textFindings(files) {
  return files.filter(({ path }) => !exempt.test(path)).flatMap(({ path, text }) => {
    const lines = text.split('\n')
    const findings = []
    if (sources.test(path) && lines.length - 1 > lineLimit) {
      findings.push({ path, line: lineLimit, message: `${lines.length - 1} lines; the limit is ${lineLimit}` })
    }
    lines.forEach((content, index) => {
      const at = message => findings.push({ path, line: index + 1, message })
      if (words.test(content)) at('a note of unfinished work: finish it or describe the limit')
      if (machinePath.test(content) && !path.endsWith('.md')) at('a path of one machine')
      if (conflict.test(content)) at('a conflict marker')
      if (/[ \t]\r?$/.test(content) && !path.endsWith('.md')) at('white space at the end of the line')
    })
    if (text !== '' && !text.endsWith('\n')) findings.push({ path, line: lines.length, message: 'no newline at the end' })
    return findings
  })
}
