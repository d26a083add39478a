// Reports in words, as os_report_pack (core/json/report_json.h) writes them. Members stand in the order of those in JSON.

const NONE = 0xFFFFFFFF
const severities = ['error', 'warning', 'info']

class Words {
  #engine
  #next // index of the next word
  #texts // address of the next text
  #ascii // all texts, where each byte is a character
  #used = 0

  constructor(engine) {
    const { resultAddress, resultSize, u32 } = engine
    const first = resultAddress >>> 2
    this.#engine = engine
    this.#next = first + 2
    this.#texts = resultAddress + 4 * u32[first + 1]
    const bytes = resultAddress + resultSize - this.#texts
    const all = engine.text(this.#texts, bytes)
    this.#ascii = all.length === bytes ? all : null
  }

  number() {
    return this.#engine.u32[this.#next++]
  }

  /** undefined where there is none. */
  text() {
    const length = this.number()
    if (length === NONE) return undefined
    const from = this.#used
    this.#used += length
    return this.#ascii === null ? this.#engine.text(this.#texts + from, length) : this.#ascii.slice(from, this.#used)
  }

  list(item) {
    const list = []
    for (let left = this.number(); left > 0; left--) list.push(item(this))
    return list
  }
}

const text = words => words.text()
const position = (words, line) => ({ line, column: words.number(), byte: words.number(), utf16: words.number() })

function place(words, to) {
  const file = words.text()
  if (file !== undefined) to.file = file
  const pointer = words.text()
  if (pointer !== undefined) to.pointer = pointer
  const line = words.number()
  if (line !== NONE) to.range = { start: position(words, line), end: position(words, words.number()) }
  return to
}

function edit(words) {
  const file = words.text()
  const rest = { byteStart: words.number(), byteEnd: words.number(), text: words.text() }
  return file === undefined ? rest : { file, ...rest }
}

const related = words => place(words, { message: words.text() })

function finding(words) {
  const to = place(words, { rule: words.text(), severity: severities[words.number()], message: words.text() })
  const expected = words.text()
  if (expected !== undefined) to.expected = expected
  const actual = words.text()
  if (actual !== undefined) to.actual = actual
  to.related = words.list(related)
  const title = words.text()
  if (title !== undefined) to.fix = { title, safe: words.number() === 1, edits: words.list(edit) }
  to.fingerprint = words.text()
  return to
}

/** The last call's result, where engine.hasWords. */
export function packedReport(engine) {
  const words = new Words(engine)
  const ok = words.number() === 1
  const complete = words.number() === 1
  const incomplete = words.list(text)
  const kind = words.text()
  const counts = { error: words.number(), warning: words.number(), info: words.number() }
  const rules = words.text()
  return { ok, complete, incomplete, kind, counts, findings: words.list(finding), rules }
}
