import { model, node, value } from '../support/onnx.js'

const layer = 'features/block_of_layers'

/** A model that is a chain of nodes with names as exporters write them and an attribute each. */
export function chain (count) {
  const nodes = Array.from({ length: count }, (_, i) => node('LeakyRelu', [`${layer}/output_${i}`], [`${layer}/output_${i + 1}`], { alpha: 0.01 }, { name: `${layer}/node_${i}` }))
  return model({ nodes, inputs: [value(`${layer}/output_0`, 'float32', [8])], outputs: [value(`${layer}/output_${count}`, 'float32', [8])] })
}
