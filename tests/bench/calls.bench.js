// What a node costs beside its work: built-in rows, JavaScript kernels and plug-ins: npm run bench -- calls
import { createEnv, Tensor } from '../../wasm/js/index.js'
import { customSpec } from '../support/spec.js'
import * as onnx from '../support/onnx.js'
import { buildPlugin, skip } from '../support/plugin.js'
import { interleave, machine, ms, table } from './timing.js'

/** `count` nodes in a row on four floats. Neighbours of different kinds, so that nothing is fused away. */
function chain (count, opTypes, domain, shape = [4]) {
  const nodes = Array.from({ length: count }, (_, i) =>
    onnx.node(opTypes[i % opTypes.length], [`v${i}`], [`v${i + 1}`], {}, domain === undefined ? {} : { domain }))
  return onnx.model({
    opsets: domain === undefined ? { '': 17 } : { '': 17, [domain]: 1 },
    ir: 8,
    nodes,
    inputs: [onnx.value('v0', 'float32', shape)],
    outputs: [onnx.value(`v${count}`, 'float32', shape)]
  })
}

machine()
const env = await createEnv()
env.registerOperator(customSpec({ domain: 'test.bench', opType: 'Pass' }), {
  inferShapes: ([x]) => [{ type: x.type, shape: x.shape }],
  compute: ([x]) => [x]
})
const plugin = `
#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/plugin.h>
static os_status infer(op_infer *ctx) { op_infer_copy(ctx, 0, 0); return OS_OK; }
static os_status compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  memcpy(y->data, x->data, (size_t)x->count * sizeof(float));
  return OS_OK;
}
static const op_row row = {.domain = "test.bench", .op_type = "Plug", .since = 1, .infer = infer, .compute = compute};
OP_PLUGIN(registry) { return op_plugin_add(registry, &row, NULL); }
`
if (!skip) env.registerOperator(customSpec({ domain: 'test.bench', opType: 'Plug' }), buildPlugin(plugin, ['-mbulk-memory']))
const kinds = [['built-in', ['Softmax', 'LogSoftmax']], ['JS', ['Pass'], 'test.bench'], ...skip ? [] : [['plug-in', ['Plug'], 'test.bench']]]
const x = new Tensor('float32', Float32Array.of(1, 2, 3, 4), [4])
const jobs = {}
for (const [name, opTypes, domain] of kinds) {
  for (const count of [10, 1010]) {
    const session = await env.createSession(chain(count, opTypes, domain))
    jobs[`${name} ${count}`] = () => session.run({ v0: x })
  }
}
// What the loop itself takes, from rows that are many.
const rows = 64
const many = new Tensor('float32', new Float32Array(4 * rows), [rows, 4])
for (const count of [10, 1010]) {
  const session = await env.createSession(chain(count, ['Softmax', 'LogSoftmax'], undefined, [rows, 4]))
  jobs[`many ${count}`] = () => session.run({ v0: many })
}
const t = await interleave(jobs, { rounds: 15, slice: 60 })
const each = name => (t[`${name} 1010`] - t[`${name} 10`]) / 1000
table(['a node of four floats', 'time'], [
  ['built-in (softmax, its loop included)', ms(each('built-in'))],
  ['built-in beside its loop', ms(each('built-in') - (each('many') - each('built-in')) / (rows - 1))],
  ['JS kernel that hands its input on', ms(each('JS'))],
  ...skip ? [] : [['plug-in that copies its input', ms(each('plug-in'))]],
  ['a run of 10 nodes', ms(t['built-in 10'])]
])
env.dispose()
