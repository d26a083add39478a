// The files of a bundle to start from: Y = X where X is not negative, else slope * X. Texts by kind of kernel.

const json = value => `${JSON.stringify(value, null, 2)}\n`

const document = ({ domain, opType, slug }) => json({
  kind: 'runlocal.operator-extension',
  protocol_version: '1.0',
  name: slug,
  version: '1',
  authority: 'specification',
  operator: { domain, op_type: opType, overload: '' },
  inputs: [{ name: 'X', cardinality: 'single', type_parameter: 'T', description: 'Values, of any shape.' }],
  outputs: [{ name: 'Y', cardinality: 'single', type_parameter: 'T', description: 'The values, negative ones scaled.' }],
  type_parameters: { T: { allowed_types: ['tensor(float)'], description: 'Element type, the same for input and output.' } },
  attributes: {
    slope: { kind: 'float', required: false, default: 0.25, allowed_values: null, description: 'What negative values are multiplied by.' }
  },
  input_conditions: [],
  shape_rules: ['`Y` has the shape of `X`.'],
  boundary_behavior: 'NaN stays NaN, a zero keeps its sign, positive infinity stays as it is. An empty `X` yields an empty `Y`.',
  numerical_behavior: 'Every element is computed in float: x where x is not negative, else slope * x, rounded once.',
  nondeterminism: 'None: the same input gives the same bits.',
  state_effects: 'None.',
  reference: null,
  tests: ['default-slope.json', 'own-slope.json', 'edges.json']
})

const evidence = (description, attributes, shape, input, output) => {
  const tensor = data => ({ type: 'tensor(float)', shape, data })
  return json({ kind: 'opspec.evidence', version: '1', description, attributes, inputs: [tensor(input)], outputs: [tensor(output)] })
}

const common = names => ({
  [`${names.slug}.opspec.json`]: document(names),
  'default-slope.json': evidence('Without the attribute a quarter of a negative value is left.', {}, [2, 3], [-4, -1, 0, 0.5, 2, 8], [-1, -0.25, 0, 0.5, 2, 8]),
  'own-slope.json': evidence('The node gives the slope.', { slope: 2 }, [3], [-1.5, 3, -8], [-3, 3, -16]),
  'edges.json': evidence('Values at the edge of the type.', { slope: 0.5 }, [5], ['NaN', 'Infinity', '-Infinity', -0, 1e-30], ['NaN', 'Infinity', '-Infinity', -0, 1e-30])
})

const js = names => ({
  'kernel.js': `// ${names.opType}: one element. Shapes, broadcasting and types follow from the document; see ElementwiseKernel and Kernel in
// opspec's index.d.ts for what else a kernel can have.
export default {
  elementwise: (x, { slope }) => x < 0 ? slope * x : x
}
`
})

const c = ({ domain, opType }) => ({
  'src/kernel.c': `// ${opType}: Y = X where X is not negative, else slope * X. opspec/operator.h says all that a kernel may use.
#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/plugin.h>

// Type and shape of the output: those of the input.
static os_status infer(op_infer *ctx) {
  op_infer_copy(ctx, 0, 0);
  return OS_OK;
}

static os_status compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  const float slope = (float)op_attr_float(op_run_node(ctx), "slope", 0.25);
  const float *from = x->data;
  float *to = y->data;
  for (int64_t i = 0; i < y->count; i++) to[i] = from[i] < 0 ? slope * from[i] : from[i];
  return OS_OK;
}

static const op_row row = {
    .domain = ${JSON.stringify(domain)},
    .op_type = "${opType}",
    .since = 1,
    .traits = OP_PURE,
    .infer = infer,
    .compute = compute,
};

OP_PLUGIN(registry) { return op_plugin_add(registry, &row, NULL); }
`,
  'src/build.js': `// node src/build.js: makes kernel.wasm with clang (for wasm32, with wasm-ld) or emcc, whichever is at hand. CC names another.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const common = ['-O2', '-std=c11', '-Wall', '-Wextra', '-ffp-contract=off', '-I', folder, \`\${folder}kernel.c\`, '-o', fileURLToPath(new URL('../kernel.wasm', import.meta.url))]
const clang = ['--target=wasm32', '-nostdlib', '-ffreestanding', '-fvisibility=hidden', '-Wl,--no-entry', ...common]
const emcc = ['-sSTANDALONE_WASM', '--no-entry', ...common]

const compilers = process.env.CC ? [process.env.CC] : ['clang', 'clang-21', 'clang-20', 'clang-19', 'clang-18', 'clang-17', 'clang-16', 'emcc']
const errors = []
const made = compilers.some(compiler => {
  const { status, stderr, error } = spawnSync(compiler, /emcc/.test(compiler) ? emcc : clang, { encoding: 'utf8', shell: process.platform === 'win32' })
  if (error === undefined && status !== 0) errors.push(\`\${compiler}: \${stderr}\`)
  if (status === 0) console.log(\`kernel.wasm, by \${compiler}\`)
  return status === 0
})
if (!made) {
  console.error(errors[0] ?? \`none of \${compilers.join(', ')} is here; install clang with lld, or Emscripten\`)
  process.exitCode = 1
}
`
})

const kernelFunction = ({ domain, opType }) => ({
  'src/kernel.onnxtxt': `<
  domain: ${JSON.stringify(domain)},
  opset_import: ["" : 21]
>
${opType} <slope> (X) => (Y)
{
  zero = Constant <value_float: float = 0.0> ()
  factor = Constant <value_float: float = @slope> ()
  below = Less (X, zero)
  scaled = Mul (factor, X)
  Y = Where (below, scaled, X)
}
`
})

const steps = {
  js: { source: '`kernel.js`', build: '' },
  c: { source: '`src/kernel.c`', build: 'node src/build.js          # src/kernel.c -> kernel.wasm, with clang or emcc\n' },
  function: { source: '`kernel.onnx` (made from `src/kernel.onnxtxt`)', build: 'npx opspec convert src/kernel.onnxtxt --as function --to protobuf -o kernel.onnx\n' }
}

const readme = ({ domain, opType, slug }, { source, build }) => `# ${opType}

Operator \`${opType}\` of \`${domain}\`. \`${slug}.opspec.json\` says what it is, ${source} computes it, the other JSON files are its
evidence: inputs and what must come out.

\`\`\`sh
${build}npx opspec check .         # is the document in order?
npx opspec test .          # does the kernel do what the evidence says?
\`\`\`
`

export const kernelKinds = Object.keys(steps)

/**
 * Names and texts of the files.
 * @param {'js' | 'c' | 'function'} kind
 * @param {{ domain: string, opType: string, slug: string }} names
 */
export function bundleTexts(kind, names) {
  return { ...common(names), ...{ js, c, function: kernelFunction }[kind](names), 'README.md': readme(names, steps[kind]) }
}

/** { slug: "my-op", opType: "MyOp" } of "my-op", "MyOp" or "my_op"; null for what is no name. */
export function namesOf(text) {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text)) return null
  const words = text.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replace(/([A-Z])([A-Z][a-z])/g, '$1-$2').split(/[-_]+/).filter(Boolean)
  return { slug: words.join('-').toLowerCase(), opType: words.map(word => word[0].toUpperCase() + word.slice(1)).join('') }
}
