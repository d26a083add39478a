// Where a matrix differs: one cell an element, darker the larger the difference.
import { h } from '../dom.js'
import { differences } from '../values.js'

const widest = 320
const mostCells = 1 << 16

// A canvas, or null where a picture would say nothing: no matrix, too small, too large, nothing differs.
export function heatPicture(expected, actual) {
  const found = differences(expected, actual)
  if (!found || found.dims.length !== 2) return null
  const [rows, columns] = found.dims
  if (rows * columns < 12 || rows < 2 || rows * columns > mostCells || found.largest === 0) return null
  const cell = Math.max(1, Math.min(16, Math.floor(widest / Math.max(rows, columns))))
  const canvas = h('canvas', { width: columns * cell, height: rows * cell, class: 'heat', role: 'img', 'aria-label': `Differences of ${rows} by ${columns} elements` })
  const context = canvas.getContext('2d')
  const probe = document.body.appendChild(h('span', { class: 'heat-colour' }))
  context.fillStyle = getComputedStyle(probe).color
  probe.remove()
  found.values.forEach((value, index) => {
    context.globalAlpha = Number.isFinite(value) ? Math.sqrt(value / found.largest) : 1
    context.fillRect((index % columns) * cell, Math.floor(index / columns) * cell, cell, cell)
  })
  return canvas
}
