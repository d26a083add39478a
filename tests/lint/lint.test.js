import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { functionFindings } from './functions.js'
import { includeFindings } from './includes.js'
import { textFindings } from './text.js'

const messages = (check, ...files) => check(files.map(([path, text]) => ({ path, text }))).map(({ path, line, message }) => `${path}:${line}: ${message}`)

function assertFinding(found, pattern) {
  assert.equal(found.length, 1, found.join('\n'))
  assert.match(found[0], pattern)
}

describe('lint: includes', () => {
  const headers = [['core/base/arena.h', ''], ['core/json/json.h', ''], ['core/run/session.h', ''], ['kernels/math/loops.h', ''], ['core/include/opspec/operator.h', '']]
  const check = (path, text) => messages(includeFindings, ...headers, [path, text])

  const allowed = {
    'a folder to the left': ['core/json/scan.c', '#include "arena.h"\n'],
    'own header first': ['core/run/session.c', '#include "session.h"\n#include "arena.h"\n\n#include <stdlib.h>\n'],
    'a kernel and its loops': ['kernels/elementwise.c', '#include "loops.h"\n\n#include <opspec/operator.h>\n'],
    'intrinsics in simd.h': ['kernels/math/simd.h', '#ifdef __wasm_simd128__\n#include <wasm_simd128.h>\n#endif\n#include <math.h>\n'],
    'protobuf where graphs are lowered': ['core/run/lower.c', '#include "onnx.pb-c.h"\n'],
    'a test that begins with what it tests': ['tests/c/session_test.c', '#include "session.h"\n#include "check.h"\n'],
    'a test and anything': ['tests/c/run_test.c', '#include "session.h"\n']
  }
  for (const [name, [path, text]] of Object.entries(allowed)) {
    it(`takes ${name}`, () => assert.deepEqual(check(path, text), []))
  }

  const refused = {
    'a folder to the right': ['core/json/scan.c', '#include "session.h"\n', /may not include core\/run\/session\.h/],
    'core internals in a kernel': ['kernels/elementwise.c', '#include "arena.h"\n', /may not include core\/base\/arena\.h/],
    'other public headers in a kernel': ['kernels/elementwise.c', '#include <opspec/opspec.h>\n', /nothing else/],
    'public headers in math': ['kernels/math/loops.c', '#include <opspec/operator.h>\n', /libc and simd\.h only/],
    'intrinsics elsewhere': ['kernels/math/loops.c', '#include <wasm_simd128.h>\n', /not for this file/],
    'protobuf in run': ['core/run/session.c', '#include "onnx.pb-c.h"\n', /not for this file/],
    'protobuf in spec': ['core/spec/load.c', '#include <protobuf-c/protobuf-c.h>\n', /not for this file/],
    'emscripten in core': ['core/base/arena.c', '#include <emscripten.h>\n', /not for this file/],
    'an unknown system header': ['core/base/arena.c', '#include <windows.h>\n', /neither libc/],
    'a path': ['core/json/scan.c', '#include "../base/arena.h"\n', /bare basename/],
    'system before project': ['core/json/scan.c', '#include <stdlib.h>\n#include "arena.h"\n', /arena\.h stands before stdlib\.h/],
    'own header second': ['core/run/session.c', '#include "arena.h"\n#include "session.h"\n', /session\.h stands before arena\.h/],
    'disorder': ['core/run/plan.c', '#include <string.h>\n#include <stdlib.h>\n', /stdlib\.h stands before/]
  }
  for (const [name, [path, text, pattern]] of Object.entries(refused)) {
    it(`refuses ${name}`, () => assertFinding(check(path, text), pattern))
  }

  it('refuses two files of one name', () => assertFinding(messages(includeFindings, ['core/base/a.c', ''], ['core/json/a.c', '']), /same name/))
  it('refuses the name of a libc header', () => assertFinding(messages(includeFindings, ['core/base/limits.h', '']), /hides/))
})

describe('lint: text', () => {
  const check = text => messages(textFindings, ['core/base/arena.c', text])
  it('takes plain code', () => assert.deepEqual(check('int x; // 1/2 of it, see https://example.org/tmp\n'), []))
  it('refuses notes of unfinished work', () => assertFinding(check('// TO' + 'DO later\n'), /unfinished/))
  it('refuses paths of one machine', () => assertFinding(check('char *p = "/tm' + 'p/x";\n'), /one machine/))
  it('refuses trailing white space', () => assertFinding(check('int x; \n'), /white space/))
  it('refuses a missing last newline', () => assertFinding(check('int x;'), /newline/))
  it('refuses long files', () => assertFinding(check('int x;\n'.repeat(1001)), /1001 lines/))
  it('takes files at the limit', () => assert.deepEqual(check('int x;\n'.repeat(1000)), []))
})

describe('lint: functions', () => {
  const body = count => '  x();\n'.repeat(count)
  const shapes = {
    'a C function': ['core/a.c', 'static int f(int a) {\n', '}\n'],
    'a C function over two lines': ['core/a.c', 'os_status os_f(const char *a,\n               int b) {\n', '}\n'],
    'a JS function': ['wasm/src/a.js', 'export async function f(a, { b } = {}) {\n', '}\n'],
    'a JS arrow': ['wasm/src/a.js', 'const f = async (a, b) => {\n', '}\n'],
    'a JS method': ['wasm/src/a.js', '  async #f(a) {\n', '  }\n']
  }
  for (const [name, [path, head, tail]] of Object.entries(shapes)) {
    it(`measures ${name}`, () => {
      const lines = head.split('\n').length - 1
      assert.deepEqual(messages(functionFindings, [path, head + body(149 - lines) + tail]), [])
      assertFinding(messages(functionFindings, [path, head + body(150 - lines) + tail]), /a function of 151 lines/)
    })
  }
})
