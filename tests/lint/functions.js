// Sizes of functions, by a rough scanner that relies on the formatters' indentation.

const limit = 150

// C: from the first line of a top-level signature that ends in `{` up to the `}` in the first column.
function cFunctions(lines) {
  const found = []
  let start = -1
  lines.forEach((line, index) => {
    if (start < 0 && /\)\s*\{$/.test(line)) start = signatureStart(lines, index)
    else if (start >= 0 && line.startsWith('}')) {
      found.push({ start, end: index })
      start = -1
    }
  })
  return found
}

// The line of the first column that the signature ending at `index` begins with, or -1 when it is none.
function signatureStart(lines, index) {
  let at = index
  while (at > 0 && /^\s/.test(lines[at])) at--
  const whole = !lines.slice(at, index).some(line => /[;{}]$/.test(line))
  return whole && /^[A-Za-z_][^=]*\w\(/.test(lines[at]) ? at : -1
}

// JS: a line that opens a function or a method up to the line that closes it at the same indentation.
function jsFunctions(lines) {
  const opening = /^(\s*)(?:export\s+)?(?:default\s+)?(?:(?:async\s+)?function\b.*|(?:const|let)\s+\w+\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>\s*|(?:static\s+|async\s+|get\s+|set\s+|\*\s*)*#?\w+\s*\([^)]*\)\s*)\{$/
  const found = []
  lines.forEach((line, index) => {
    const match = opening.exec(line)
    if (!match || /^\s*(if|for|while|switch|catch|describe|it|test)\b/.test(line)) return
    const closing = `${match[1]}}`
    const end = lines.findIndex((other, at) => at > index && other.startsWith(closing))
    if (end > 0) found.push({ start: index, end })
  })
  return found
}

export function functionFindings(files) {
  return files.flatMap(({ path, text }) => {
    const scan = /\.c$|\.h$/.test(path) ? cFunctions : /\.m?js$/.test(path) ? jsFunctions : null
    if (scan === null) return []
    return scan(text.split('\n')).map(({ start, end }) => ({ path, line: start + 1, size: end - start + 1 }))
      .filter(({ size }) => size > limit)
      .map(({ size, ...place }) => ({ ...place, message: `a function of ${size} lines; the limit is ${limit}` }))
  })
}
