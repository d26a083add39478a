// Where findings stand as other programs count: lines from 1, columns from 1 in UTF-16 code units, offsets in bytes.

const STRIDE = 4096

// Bytes of the character at `at`; what starts no valid sequence counts as one, as in the engine's positions.
function lengthAt(bytes, at) {
  const first = bytes[at]
  const length = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1
  for (let i = 1; i < length; i++) {
    if ((bytes[at + i] & 0xc0) !== 0x80) return 1
  }
  return length
}

/** Lines and columns of one text by byte offset. Lines end at LF, CR LF or CR; a byte-order mark is in no column. */
export class Places {
  constructor(bytes) {
    this.bytes = bytes
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    this.marks = [{ byte: start, line: 1, column: 1 }]
    for (let place = { ...this.marks[0] }; place.byte < bytes.length;) {
      this.#step(place)
      if (place.byte >= this.marks[this.marks.length - 1].byte + STRIDE) this.marks.push({ ...place })
    }
  }

  #step(place) {
    const { bytes } = this
    const code = bytes[place.byte]
    if (code === 10 || code === 13) {
      place.byte += code === 13 && bytes[place.byte + 1] === 10 ? 2 : 1
      place.line++
      place.column = 1
      return
    }
    const length = lengthAt(bytes, place.byte)
    place.byte += length
    place.column += length === 4 ? 2 : 1
  }

  at(byte) {
    let low = 0
    for (let high = this.marks.length; high - low > 1;) {
      const middle = (low + high) >> 1
      if (this.marks[middle].byte <= byte) low = middle
      else high = middle
    }
    const place = { ...this.marks[low] }
    const end = Math.min(byte, this.bytes.length)
    while (place.byte < end) {
      const { line, column } = place
      this.#step(place)
      if (place.byte > end) return { line, column }
    }
    return { line: place.line, column: place.column }
  }

  /** { startLine, startColumn, endLine, endColumn, byteOffset, byteLength }; the end is behind the last character. */
  region(byteStart, byteEnd) {
    const start = this.at(byteStart)
    const end = this.at(byteEnd)
    return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column, byteOffset: byteStart, byteLength: byteEnd - byteStart }
  }
}

/** Puts regions to findings of one document or bundle. `bytesOf(file)`: its content, '' = the document itself, or null. */
export class Locator {
  #places = new Map()
  #bytesOf

  constructor(bytesOf) {
    this.#bytesOf = bytesOf
  }

  #of(file) {
    if (!this.#places.has(file)) {
      const bytes = this.#bytesOf(file)
      this.#places.set(file, bytes == null ? null : new Places(bytes))
    }
    return this.#places.get(file)
  }

  #region({ file = '', range, bytes }) {
    if (range === undefined) return bytes === undefined ? undefined : { byteOffset: bytes[0], byteLength: bytes[1] - bytes[0] }
    const places = this.#of(file)
    const { start, end } = range
    if (places !== null) return places.region(start.byte, end.byte)
    return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column, byteOffset: start.byte, byteLength: end.byte - start.byte }
  }

  #edit(edit) {
    const region = { byteOffset: edit.byteStart, byteLength: edit.byteEnd - edit.byteStart }
    if (edit.text === undefined) return { ...edit, region }
    return { ...edit, region: this.#of(edit.file ?? '')?.region(edit.byteStart, edit.byteEnd) ?? region }
  }

  /** The finding with `region` where its place is known, its related places and edits likewise. */
  locate(finding) {
    return {
      ...finding,
      region: this.#region(finding),
      related: finding.related.map(item => ({ ...item, region: this.#region(item) })),
      ...finding.fix !== undefined && { fix: { ...finding.fix, edits: finding.fix.edits.map(edit => this.#edit(edit)) } }
    }
  }
}
