// Places a graph in layers, top to bottom: what a box uses stands above it. Values that pass layers by get a place in each of them,
// so that their lines do not cross boxes; those that would pass very many are not drawn as lines but said at both ends.
const longest = 24  // layers that a line passes
const large = 100_000 // places from which on they are gone over less often
const sweeps = 3
const passes = 4
const bend = 32     // layers on both sides of one that have their middle where it has
const gap = 24      // pixels between what stands side by side
const wire = 8      // pixels that a passing line takes

/**
 * widths: pixels, by box. values: [{ from, to: boxes }]. Boxes stand in an order in which, if possible, makers come first.
 * Answers { layers: [[place numbers, left to right]], layer, center, width (all by place number: boxes first, then passing lines),
 * below: [[places that a line leads to, in the next layer, with its value]], far: [{ value,
 * from, to }] }.
 */
export function layout(widths, values) {
  const layer = layersOf(widths.length, values)
  const places = new Places(widths, layer)
  const far = []
  values.forEach(({ from, to }, value) => {
    const passing = [] // by layer beyond that of `from`
    for (const box of to) {
      const span = layer[box] - layer[from]
      if (span < 1 || span > longest) {
        far.push({ value, from, to: box })
        continue
      }
      let at = from
      for (let step = 1; step < span; step++) {
        if (passing[step] === undefined) {
          passing[step] = places.add(layer[from] + step)
          places.join(at, passing[step], value)
        }
        at = passing[step]
      }
      places.join(at, box, value)
    }
  })
  places.order()
  places.spread()
  return { layers: places.layers, layer: places.layer, center: places.center, width: places.width, below: places.below, far }
}

// The longest way from the top; what uses nothing stands right above its first user.
function layersOf(count, values) {
  const layer = new Array(count).fill(0)
  const made = Array.from({ length: count }, () => [])
  const uses = new Array(count).fill(0)
  for (const { from, to } of values) {
    made[from].push(to)
    for (const box of to) if (box > from) uses[box]++
  }
  for (let box = 0; box < count; box++) for (const to of made[box]) for (const user of to) if (user > box) layer[user] = Math.max(layer[user], layer[box] + 1)
  for (let box = count - 1; box >= 0; box--) {
    if (uses[box] > 0) continue
    let first = Infinity
    for (const to of made[box]) for (const user of to) if (user > box) first = Math.min(first, layer[user])
    if (first !== Infinity) layer[box] = first - 1
  }
  return layer
}

class Places {
  constructor(widths, layer) {
    this.width = [...widths]
    this.layer = [...layer]
    this.below = widths.map(() => [])
    this.above = widths.map(() => [])
    this.layers = []
    layer.forEach((at, box) => this.#in(at).push(box))
  }

  #in(layer) {
    while (this.layers.length <= layer) this.layers.push([])
    return this.layers[layer]
  }

  add(layer) {
    const place = this.width.push(wire) - 1
    this.layer.push(layer)
    this.below.push([])
    this.above.push([])
    this.#in(layer).push(place)
    return place
  }

  join(from, to, value) {
    this.below[from].push({ to, value })
    this.above[to].push(from)
  }

  // Each layer by where what it is joined to stands, down and up again: fewer lines cross.
  order() {
    const at = []
    const number = layer => layer.forEach((place, index) => { at[place] = index })
    this.layers.forEach(number)
    const mean = (list, index) => list.length === 0 ? index : list.reduce((sum, other) => sum + at[other], 0) / list.length
    const sort = (layer, joined) => {
      const wanted = new Map(layer.map((place, index) => [place, mean(joined(place), index)]))
      layer.sort((a, b) => wanted.get(a) - wanted.get(b))
      number(layer)
    }
    for (let sweep = 0; sweep < (this.width.length < large ? sweeps : 1); sweep++) {
      for (const layer of this.layers) if (layer.length > 1) sort(layer, place => this.above[place])
      for (const layer of [...this.layers].reverse()) if (layer.length > 1) sort(layer, place => this.below[place].map(({ to }) => to))
    }
  }

  // Centers, in pixels from the left.
  spread() {
    this.center = this.width.map(() => 0)
    for (const layer of this.layers) this.#place(layer, place => this.center[place])
    const mean = (list, place) => list.length === 0 ? this.center[place] : list.reduce((sum, other) => sum + this.center[other], 0) / list.length
    for (let pass = 0; pass < (this.width.length < large ? passes : 2); pass++) {
      const down = pass % 2 === 0
      for (const layer of down ? this.layers : [...this.layers].reverse()) this.#place(layer, place => mean(down ? this.above[place] : this.below[place].map(({ to }) => to), place))
    }
    this.#straighten()
    const left = this.center.reduce((least, center, place) => Math.min(least, center - this.width[place] / 2), Infinity)
    this.center = this.center.map(center => center - left)
  }

  // Each layer moves by what those around it lie beside the middle: many small steps to one side would make a deep graph wide.
  #straighten() {
    const sums = [[0, 0]] // of centers and of places, up to each layer
    for (const layer of this.layers) sums.push([layer.reduce((sum, place) => sum + this.center[place], sums.at(-1)[0]), sums.at(-1)[1] + layer.length])
    this.layers.forEach((layer, at) => {
      const low = sums[Math.max(0, at - bend)], high = sums[Math.min(this.layers.length, at + bend + 1)]
      const middle = (high[0] - low[0]) / Math.max(1, high[1] - low[1])
      for (const place of layer) this.center[place] -= middle
    })
  }

  // As near to what is wanted as the others in the layer allow: the mean of what comes out from the left and from the right, which
  // keeps the distances as both do.
  #place(layer, wanted) {
    const apart = (a, b) => (this.width[a] + this.width[b]) / 2 + gap
    const fromLeft = layer.map(wanted), fromRight = [...fromLeft]
    for (let i = 1; i < layer.length; i++) fromLeft[i] = Math.max(fromLeft[i], fromLeft[i - 1] + apart(layer[i - 1], layer[i]))
    for (let i = layer.length - 2; i >= 0; i--) fromRight[i] = Math.min(fromRight[i], fromRight[i + 1] - apart(layer[i], layer[i + 1]))
    layer.forEach((place, i) => { this.center[place] = (fromLeft[i] + fromRight[i]) / 2 })
  }
}
