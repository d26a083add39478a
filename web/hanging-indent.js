// Wrapped lines go on below the first character of their text, not at the left edge.
import { RangeSetBuilder } from '@codemirror/state'
import { Decoration, ViewPlugin } from '@codemirror/view'

const most = 40
const marks = Array.from({ length: most + 1 }, (_, columns) => Decoration.line({ attributes: { style: `text-indent: -${columns}ch; padding-left: calc(${columns}ch + 6px)` } }))

function indents({ state, visibleRanges }) {
  const builder = new RangeSetBuilder()
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at)
      const columns = Math.min(/^ */.exec(line.text)[0].length, most)
      if (columns > 0) builder.add(line.from, line.from, marks[columns])
      at = line.to + 1
    }
  }
  return builder.finish()
}

export const hangingIndent = ViewPlugin.fromClass(class {
  constructor(view) {
    this.decorations = indents(view)
  }

  update({ docChanged, viewportChanged, view }) {
    if (docChanged || viewportChanged) this.decorations = indents(view)
  }
}, { decorations: ({ decorations }) => decorations })
