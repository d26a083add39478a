// QuickGelu: x * sigmoid(alpha * x), for float and double.
const gate = (x, alpha) => x * (1 / (1 + Math.exp(-alpha * x)))

export default {
  inferShapes([x]) {
    return [{ type: x.type, shape: x.shape }]
  },

  compute([x], { alpha }, ctx) {
    if (x.type !== 'float32' && x.type !== 'float64') ctx.fail(`this kernel has no ${x.type}`)
    return [{ type: x.type, dims: x.dims, data: x.data.map(value => gate(value, alpha)) }]
  }
}
