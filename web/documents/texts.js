// Texts that are shown by lines, a window of them at a time: a line may be as long as the data of a tensor, a text as long as a model.

const longest = 1000 // characters of a line that are shown

export class Lines {
  #starts
  hits = []

  constructor(text) {
    this.text = text
    const starts = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    if (starts.at(-1) === text.length && starts.length > 1) starts.pop()
    this.#starts = Float64Array.from(starts)
  }

  get length() {
    return this.#starts.length
  }

  /** [{ number, text, left }]; left: characters of the line that are not shown. */
  window(from, to) {
    const out = []
    for (let line = Math.max(0, from); line < Math.min(to, this.length); line++) {
      const start = this.#starts[line]
      const next = line + 1 < this.length ? this.#starts[line + 1] : this.text.length
      const end = next > start && this.text[next - 1] === '\n' ? next - 1 : next
      out.push({ number: line + 1, text: this.text.slice(start, Math.min(end, start + longest)), left: Math.max(0, end - start - longest) })
    }
    return out
  }

  /** How many lines hold the words, whatever their case. */
  find(words) {
    this.hits = []
    if (words === '') return 0
    const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi')
    let line = 0
    for (let found = pattern.exec(this.text); found !== null; found = pattern.exec(this.text)) {
      while (line + 1 < this.length && this.#starts[line + 1] <= found.index) line++
      this.hits.push(line)
      if (line + 1 >= this.length) break
      pattern.lastIndex = this.#starts[line + 1]
    }
    return this.hits.length
  }
}
