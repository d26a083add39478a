// Where a JSON Pointer leads in a text that is known to be JSON.

const token = /"[^"\\]*(?:\\[^][^"\\]*)*"|[[\]{}]|[^\s,:"[\]{}]+/g
const between = /[\s,:]*/y

function skip(text, at) {
  between.lastIndex = at
  between.exec(text)
  return between.lastIndex
}

// Behind the value that starts at `at`.
function endOf(text, at) {
  let depth = 0
  token.lastIndex = at
  for (let found; (found = token.exec(text)) !== null;) {
    if (found[0] === '[' || found[0] === '{') depth++
    else if (found[0] === ']' || found[0] === '}') depth--
    if (depth === 0) return token.lastIndex
  }
  return text.length
}

// Where the member or element of the value at `at` starts; -1 when there is none.
function child(text, at, name) {
  const object = text[at] === '{'
  if (!object && text[at] !== '[') return -1
  let place = skip(text, at + 1)
  for (let index = 0; place < text.length && text[place] !== '}' && text[place] !== ']'; index++) {
    let key = String(index)
    if (object) {
      const end = endOf(text, place)
      key = JSON.parse(text.slice(place, end))
      place = skip(text, end)
    }
    if (key === name) return place
    place = skip(text, endOf(text, place))
  }
  return -1
}

/** [start, end) in UTF-16 code units; null when the pointer leads nowhere. */
export function rangeOf(text, pointer) {
  let at = skip(text, 0) // which is over a byte-order mark, too
  for (const part of pointer.split('/').slice(1)) {
    at = child(text, at, part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (at < 0) return null
  }
  return [at, endOf(text, at)]
}
