// What a node costs beside its work: built-in rows and JavaScript kernels: npm run bench -- calls
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { customSpec } from '../support/spec.js'
import * as onnx from '../support/onnx.js'
import { interleave, machine, ms, table } from './timing.js'

/** `count` nodes in a row on four floats. Neighbours of different kinds, so that nothing is fused away. */
function chain (count, opTypes, domain) {
  const nodes = Array.from({ length: count }, (_, i) =>
    onnx.node(opTypes[i % opTypes.length], [`v${i}`], [`v${i + 1}`], {}, domain === undefined ? {} : { domain }))
  return onnx.model({
    opsets: domain === undefined ? { '': 17 } : { '': 17, [domain]: 1 },
    ir: 8,
    nodes,
    inputs: [onnx.value('v0', 'float32', [4])],
    outputs: [onnx.value(`v${count}`, 'float32', [4])]
  })
}

machine()
const env = await createEnv()
env.registerOperator(customSpec({ domain: 'test.bench', opType: 'Pass' }), {
  inferShapes: ([x]) => [{ type: x.type, shape: x.shape }],
  compute: ([x]) => [x]
})
const x = new Tensor('float32', Float32Array.of(1, 2, 3, 4), [4])
const jobs = {}
for (const [name, opTypes, domain] of [['built-in', ['Softmax', 'LogSoftmax']], ['JS', ['Pass'], 'test.bench']]) {
  for (const count of [10, 1010]) {
    const session = await env.createSession(chain(count, opTypes, domain))
    jobs[`${name} ${count}`] = () => session.run({ v0: x })
  }
}
const t = await interleave(jobs, { rounds: 15, slice: 60 })
const each = name => (t[`${name} 1010`] - t[`${name} 10`]) / 1000
table(['a node of four floats', 'time'], [
  ['built-in (softmax, its loop included)', ms(each('built-in'))],
  ['JS kernel that hands its input on', ms(each('JS'))],
  ['a run of 10 nodes', ms(t['built-in 10'])]
])
env.dispose()
