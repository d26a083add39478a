// A small model with a graph inside each branch, and one like it whose last node takes what nothing makes.
import * as onnx from '../support/onnx.js'

const { graph, model, node, tensor, value } = onnx

const branch = name => graph({ name, nodes: [node('Neg', ['hidden'], [`${name}_out`], {}, { name: `${name}_neg` })], outputs: [value(`${name}_out`, 'float32', ['N', 4])] })

const network = {
  opsets: { '': 21 },
  nodes: [
    node('MatMul', ['x', 'w'], ['hidden'], {}, { name: 'dense' }),
    node('If', ['flag'], ['chosen'], { then_branch: { graph: branch('yes') }, else_branch: { graph: branch('no') } }, { name: 'branch' }),
    node('LeakyRelu', ['chosen'], ['y'], { alpha: 0.25 }, { name: 'activation' })
  ],
  initializers: [tensor('w', 'float32', [3, 4], Float32Array.from({ length: 12 }, (_, i) => i / 2))],
  inputs: [value('x', 'float32', ['N', 3]), value('flag', 'bool', [])], outputs: [value('y', 'float32', ['N', 4])]
}

export const wrongNetwork = { ...network, nodes: [...network.nodes.slice(0, 2), node('LeakyRelu', ['nowhere'], ['y'], {}, { name: 'activation' })] }

export const small = model(network)
