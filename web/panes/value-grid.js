// A tensor of two axes and more as the rows and columns of its last two.
import { h } from '../dom.js'
import { elementText, readTensor } from '../values.js'

const most = 8 // rows, and columns, that are shown
const widest = 24 // characters of a text

const short = text => text.length > widest ? `${text.slice(0, widest)}…` : text

/** A table, or null where one line says as much: no tensor, one axis, nothing in it. */
export function valueGrid(value) {
  const tensor = readTensor(value)
  if (!tensor || tensor.dims.length < 2 || tensor.size === 0 || tensor.dims.some(dim => !(dim > 0))) return null
  const [rows, columns] = tensor.dims.slice(-2)
  const outer = tensor.dims.slice(0, -2)
  const numbers = (count, more) => [...Array(Math.min(count, most)).keys(), ...count > most ? [more] : []]
  const cell = (row, column) => {
    const index = row * columns + column
    return typeof row === 'string' || typeof column === 'string' ? '…' : index < tensor.size ? short(elementText(tensor.at(index), tensor.element)) : ''
  }
  const across = numbers(columns, '…')
  return h('table', { class: 'grid' },
    outer.some(dim => dim > 1) && h('caption', {}, `The first of ${outer.reduce((all, dim) => all * dim, 1).toLocaleString('en')}: [${[...outer.map(() => 0), ':', ':'].join(', ')}]`),
    h('thead', {}, h('tr', {}, h('td', {}), across.map(column => h('th', { scope: 'col' }, String(column))))),
    h('tbody', {}, numbers(rows, '…').map(row => h('tr', {}, h('th', { scope: 'row' }, String(row)), across.map(column => h('td', {}, cell(row, column)))))))
}
