// The layout of graphs that the page draws.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { layout } from '../../web/documents/layout.js'
import { Picture } from '../../web/documents/picture.js'
import { generator } from '../support/rewrite.js'

const everything = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity }
const relu = (input, output, name) => ({ opType: 'Relu', name, input: [input], output: [output] })
const chain = count => ({ input: [{ name: 'v0' }], node: Array.from({ length: count }, (_, i) => relu(`v${i}`, `v${i + 1}`, `n${i}`)), output: [{ name: `v${count}` }] })
const picture = graph => new Picture(graph, 'graph', () => '')
const shown = (it, chosen = -1) => it.window(everything, chosen, () => null)
const titles = it => shown(it).boxes.map(({ title }) => title)

// What must hold of every layout: lines lead from a layer to the next, all that is joined is drawn or said to be far, and nothing
// lies on something else.
function holds (widths, values) {
  const { layers, layer, center, width, below, far } = layout(widths, values)
  assert.equal(layers.flat().length, width.length)
  layers.forEach((places, at) => {
    places.forEach((place, i) => {
      assert.equal(layer[place], at)
      assert.ok(Number.isFinite(center[place]) && center[place] - width[place] / 2 > -1e-6)
      if (i > 0) assert.ok(center[place] - width[place] / 2 >= center[places[i - 1]] + width[places[i - 1]] / 2 + 23.999)
      for (const { to } of below[place]) assert.equal(layer[to], at + 1)
    })
  })
  values.forEach(({ from, to }, value) => {
    const reached = new Set()
    const waiting = [from]
    while (waiting.length > 0) {
      for (const next of below[waiting.pop()]) {
        if (next.value !== value) continue
        if (next.to < widths.length) reached.add(next.to)
        else waiting.push(next.to)
      }
    }
    for (const box of to) assert.ok(reached.has(box) !== far.some(end => end.value === value && end.to === box), `value ${value} to ${box}`)
  })
}

describe('layout of a graph', () => {
  it('keeps its promises for 200 random graphs, also those with circles', () => {
    const next = generator(7).below
    for (let round = 0; round < 200; round++) {
      const boxes = 1 + next(60)
      const values = Array.from({ length: next(80) }, () => ({ from: next(boxes), to: [...new Set(Array.from({ length: 1 + next(4) }, () => next(boxes)))] }))
      holds(Array.from({ length: boxes }, () => 20 + next(200)), values)
    }
  })

  it('says lines that pass very many layers at both ends', () => {
    const graph = chain(60)
    graph.node.push({ opType: 'Add', name: 'end', input: ['v60', 'v1'], output: ['sum'] })
    const { boxes } = shown(picture(graph))
    assert.deepEqual(boxes.find(({ name }) => name === 'end').before, ['↑ v1 (Relu)'])
    assert.deepEqual(boxes.find(({ name }) => name === 'n0').after, ['↓ v1 (Add)'])
  })

  it('keeps a deep graph with lines that pass layers narrow', () => {
    const node = Array.from({ length: 4000 }, (_, i) => ({ opType: 'Add', input: [`v${i}`, `v${Math.max(0, i - 7)}`], output: [`v${i + 1}`] }))
    assert.ok(picture({ input: [{ name: 'v0' }], node, output: [{ name: 'v4000' }] }).size.width < 1000)
  })

  it('draws 100,000 nodes in a height that can be scrolled, and answers a window of them', () => {
    const it = picture(chain(100_000))
    assert.ok(it.size.height <= 15_000_000)
    const { boxes, lines } = it.window({ left: 0, top: 4_000_000, right: 500, bottom: 4_000_800 }, -1, () => null)
    assert.ok(boxes.length > 8 && boxes.length < 20 && lines.length > 8, `${boxes.length} boxes, ${lines.length} lines`)
  })
})

describe('picture of a graph', () => {
  it('has inputs, nodes and outputs, and no constants or initializers', () => {
    const it = picture({
      input: [{ name: 'x' }, { name: 'w' }], initializer: [{ name: 'w' }], output: [{ name: 'y' }],
      node: [{ opType: 'Constant', output: ['c'] }, { opType: 'Gemm', domain: '', input: ['x', 'w', 'c'], output: ['y'] }]
    })
    assert.deepEqual(titles(it), ['x', 'Gemm', 'y'])
    assert.equal(it.size.constants, 1)
    assert.equal(it.pathOf(it.boxAt('node[1].input[0]')), 'graph.node[1]')
    assert.equal(it.boxAt('node[0]'), -1)
  })

  it('draws constants where there is nothing else', () => {
    assert.deepEqual(titles(picture({ node: [{ opType: 'Constant', output: ['c'] }], output: [{ name: 'c' }] })), ['Constant', 'c'])
  })

  it('draws what comes from outside, and what graphs inside of a node take', () => {
    const inner = { node: [relu('captured', 'r'), { opType: 'Loop', input: ['r'], attribute: [{ g: { input: [{ name: 'i' }], node: [{ opType: 'Add', input: ['i', 'deep'], output: ['s'] }], output: [{ name: 's' }] } }] }], output: [{ name: 'r' }] }
    const it = picture({ input: [{ name: 'flag' }], node: [relu('flag', 'captured'), { opType: 'If', input: ['flag'], attribute: [{ g: inner }], output: ['y'] }], output: [{ name: 'y' }] })
    assert.deepEqual(titles(it).sort(), ['If', 'Relu', 'deep', 'flag', 'y'])
    const chosen = it.boxAt('node[1]')
    assert.deepEqual(shown(it, chosen).lines.filter(({ own }) => own).map(({ text }) => text).sort(), ['captured', 'deep', 'flag', 'y'])
    assert.equal(it.pathOf(shown(it).boxes.find(({ title }) => title === 'deep').box), null)
  })

  it('draws functions, names of values being texts there', () => {
    assert.deepEqual(titles(picture({ input: ['a'], output: ['b'], node: [relu('a', 'b', 'only')] })), ['a', 'Relu', 'b'])
  })

  it('answers where keys lead', () => {
    const it = picture({ input: [{ name: 'x' }], node: [relu('x', 'a', 'left'), relu('x', 'b', 'right'), { opType: 'Add', name: 'both', input: ['a', 'b'], output: ['y'] }], output: [{ name: 'y' }] })
    const named = box => { const { title, name } = shown(it).boxes.find(other => other.box === box); return name || title }
    const walk = (from, ...keys) => named(keys.reduce((box, key) => it.step(box, key), from))
    assert.equal(walk(-1, 'ArrowDown'), 'x')
    assert.equal(walk(-1, 'Home', 'ArrowUp'), 'x')
    assert.deepEqual(['ArrowLeft', 'ArrowRight'].map(key => walk(it.boxAt('node[0]'), key)).sort(), ['left', 'right'])
    assert.equal(walk(it.boxAt('node[1]'), 'ArrowDown'), 'both')
    assert.equal(walk(it.boxAt('node[2]'), 'ArrowDown', 'ArrowDown'), 'y')
    assert.equal(walk(it.boxAt('node[2]'), 'ArrowUp', 'ArrowUp'), 'x')
    assert.equal(walk(-1, 'End'), 'y')
  })

  it('takes graphs that are wrong: circles, names made twice, an output that nothing makes, nothing at all', () => {
    assert.equal(titles(picture({ node: [relu('b', 'a'), relu('a', 'b')] })).length, 2)
    assert.equal(titles(picture({ node: [relu('x', 'x'), relu('x', 'x')], input: [{ name: 'x' }] })).length, 3)
    assert.deepEqual(titles(picture({ node: [], output: [{ name: 'y' }] })).sort(), ['y', 'y'])
    assert.deepEqual([titles(picture({})).length, picture({}).size.boxes], [0, 0])
    assert.equal(picture({}).step(-1, 'ArrowDown'), -1)
  })
})
