// What documents can do, for Node, a page and a worker: `make` is createEnv or createWorkerEnv.

const assert = (condition, text) => {
  if (!condition) throw new Error(text)
}
const same = (actual, expected, text) => assert(JSON.stringify(actual) === JSON.stringify(expected), `${text}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`)
const rules = ({ changes }) => changes.map(({ rule }) => rule)

const float = (name, dims) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: dims.map(dim => typeof dim === 'string' ? { dimParam: dim } : { dimValue: BigInt(dim) }) } } } })
const node = (opType, input, output, more) => ({ opType, input: [input], output: [output], ...more })
const model = (nodes, dims) => ({ irVersion: 10n, opsetImport: [{ version: 21n }], graph: { name: 'g', node: nodes, input: [float('x', dims)], output: [float('y', ['N'])] } })

export const cases = {
  async 'operator sets are written, clean, and compared' (env) {
    const [two, three] = await Promise.all([2, 3].map(version => env.writeOperatorSet({ domain: 'ai.onnx.ml', version })))
    const report = await env.check(three, { strict: true })
    same([report.kind, report.ok, report.findings.length], ['operator-set', true, 0], 'report')
    same(rules(await env.diff(two, three)), ['diff.opset.stable-changed', 'diff.opset.stable-changed', 'diff.opset.version-raised'], 'rules')
    same(await env.diff(two, two), { changes: [], breaking: false }, 'nothing')
  },
  async 'models are compared' (env) {
    const a = await env.encode(model([node('Relu', 'x', 'y', { name: 'r' })], ['N']), 'ModelProto')
    const b = await env.encode(model([node('Abs', 'x', 'q'), node('Relu', 'q', 'y', { name: 'r' })], [3]), 'ModelProto')
    same(rules(await env.diff(a, b)), ['diff.model.input-narrowed', 'diff.message.added', 'diff.message.changed'], 'rules')
  },
  async 'data are compared and written as evidence has them' (env, { Tensor }) {
    const map = new Map([['a', new Tensor('float32', [1, 2], [2])]])
    const bytes = await env.writeValue(map, 'm')
    const text = await env.format(bytes, 'map', 'evidence')
    same(text, '{"type":"map(string, float)","entries":[["a",{"type":"tensor(float)","shape":[2],"data":[1,2]}]]}', 'text')
    const again = await env.parse(text.replace('[1,2]', '[1,3]'), 'map', 'evidence')
    same(rules(await env.diff(bytes, again, { as: 'map' })), ['diff.value.elements', 'diff.message.text'], 'rules')
  },
  async 'hostile: many operators, many nodes of one name' (env) {
    const set = from => env.encode({ magic: 'ONNXOPSET', irVersion: 10n, domain: 'd', opsetVersion: 1n, operator: Array.from({ length: 20000 }, (_, i) => ({ opType: `Op${from + i}`, sinceVersion: 1n, status: 1 })) }, 'OperatorSetProto')
    same((await env.diff(await set(0), await set(10000))).changes.length, 20001, 'changes')
    const nodes = Array.from({ length: 20000 }, (_, i) => node('Relu', 'x', `y${i}`, { name: 'n' }))
    const [a, b] = await Promise.all([nodes, [...nodes].reverse()].map(list => env.encode(model(list, ['N']), 'ModelProto')))
    same((await env.diff(a, b)).changes.at(-1).rule, 'diff.message.more', 'rule')
  }
}
