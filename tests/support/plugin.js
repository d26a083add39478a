// Builds plug-ins with the compiler at hand.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const compilers = [process.env.OPSPEC_CLANG, 'clang-19', 'clang'].filter(Boolean)

/** A clang that knows wasm32, or undefined. */
export const compiler = compilers.find(name => {
  try {
    return execFileSync(name, ['--print-targets'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).includes('wasm32')
  } catch {
    return false
  }
})

/** Path of an emcc, or undefined: what npm test installs, or one on the path. */
export const emcc = [process.env.OPSPEC_TOOLCHAIN, join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'opspec/toolchain')].filter(Boolean).map(path => join(path, 'bin'))
  .concat((process.env.PATH ?? '').split(delimiter)).map(path => join(path, 'emcc')).find(existsSync)

/** Why no plug-in can be built here, or false. */
export const skip = compiler === undefined && 'no clang for wasm32 (OPSPEC_CLANG may name one)'

const flags = ['--target=wasm32', '-O2', '-std=c11', '-nostdlib', '-ffreestanding', '-ffp-contract=off', '-fvisibility=hidden', '-Wl,--no-entry', '-Wall', '-Wextra', '-Werror', `-I${root}core/include`, `-I${root}tests/operators`]

/** The bytes of a plug-in: a file of tests/operators, or text of C. */
export function buildPlugin (source, more = []) {
  const folder = mkdtempSync(join(tmpdir(), 'opspec-plugin-'))
  try {
    let path = join(root, 'tests/operators', source)
    if (!/^\w+\.c$/.test(source)) {
      path = join(folder, 'plugin.c')
      writeFileSync(path, source)
    }
    const out = join(folder, 'plugin.wasm')
    execFileSync(compiler, [...flags, ...more, path, '-o', out], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
    return new Uint8Array(readFileSync(out))
  } catch (error) {
    throw new Error(error.stderr || error.message, { cause: error })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A plug-in of one operator org.test.Plug, float to float of the same shape, whose compute has this body. */
export const plug = (compute, { before = '', register = 'return op_plugin_add(registry, &row, NULL);' } = {}) => `
#define OPSPEC_PLUGIN_IMPLEMENTATION
#include <opspec/plugin.h>
static os_status infer(op_infer *ctx) { op_infer_copy(ctx, 0, 0); return OS_OK; }
static os_status compute(op_run *ctx);
${before}
static op_row row = {.domain = "org.test", .op_type = "Plug", .since = 1, .infer = infer, .compute = compute};
static os_status compute(op_run *ctx) {
  const op_tensor *x = op_run_input(ctx, 0);
  op_tensor *y = op_run_output(ctx, 0);
  for (int64_t i = 0; i < y->count; i++) ((float *)y->data)[i] = 2 * ((const float *)x->data)[i];
  ${compute}
  return OS_OK;
}
OP_PLUGIN(registry) { (void)registry, (void)row; ${register} }
`
