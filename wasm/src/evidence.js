import { createEnvWith, Env } from './env.js'
import { fixFindings } from './engine.js'
import { invalid, OpspecError } from './errors.js'
import { readBundleArgument } from './files.js'
import { isolateInChild } from './isolate-node.js'
import { isMisbehaviour } from './kernels.js'
import { isNode, now } from './platform.js'
import { drive } from './session.js'

// Running a bundle's evidence: here when no code of the bundle takes part, else where the code is shut in.

const scripts = /(^|\/)kernel\.m?js$/
const plugins = /(^|\/)kernel\.wasm$/

// ---- A bundle in an engine --------------------------------------------------------------------------------------

class OpenTest {
  constructor(env, { zip, files }) {
    this.engine = Env.inner(env).engine
    const { engine } = this
    engine.guard(() => {
      const block = zip === null ? { address: 0, size: 0 } : engine.block(zip)
      const [bits, names] = engine.useFiles(files)
      this.address = engine.exports.opspec_new_test(engine.port, block.address, block.size, bits, names)
      engine.check(engine.resultStatus)
      const { specs, cases } = engine.resultJson()
      this.specs = specs
      this.cases = cases
    })
  }

  file(name) {
    const { engine } = this
    return engine.guard(() => {
      engine.check(engine.exports.opspec_get_test_file(engine.port, this.address, engine.putText(name)))
      return engine.resultBytes()
    })
  }

  names() {
    const { engine } = this
    return engine.guard(() => {
      engine.check(engine.exports.opspec_list_test_files(engine.port, this.address))
      return engine.resultJson()
    })
  }

  async run(index, options) {
    const { engine } = this
    const { exports, port } = engine
    engine.kernels.cause = undefined
    const trial = engine.guard(() => {
      const started = exports.opspec_new_trial(port, this.address, index, 1)
      engine.check(engine.resultStatus)
      return started
    })
    try {
      await drive(engine, {
        step: budget => exports.opspec_step_trial(port, trial, budget),
        answer: (failed, message) => exports.opspec_answer_trial(port, trial, failed, message),
        signal: options.signal,
        timeoutMs: options.timeoutMs,
        gone: () => false
      })
      const { cause } = engine.kernels
      return engine.guard(() => {
        engine.check(exports.opspec_end_trial(port, trial, cause !== undefined && isMisbehaviour(cause) ? 1 : 0))
        const result = engine.resultJson()
        fixFindings(result.findings)
        return result
      })
    } finally {
      if (!engine.dead) exports.opspec_free_trial(trial)
    }
  }

  close() {
    if (!this.engine.dead) this.engine.exports.opspec_free_test(this.address)
  }
}

// ---- Reports ----------------------------------------------------------------------------------------------------

export function testReport(tests) {
  const summary = { passed: 0, failed: 0, skipped: 0, errors: 0 }
  for (const { status } of tests) summary[status === 'error' ? 'errors' : status]++
  return { ok: summary.passed > 0 && summary.failed === 0 && summary.errors === 0, tests, summary }
}

const round = ms => Math.round(ms * 1000) / 1000

// The documents that stand by themselves: { text, refused }, refused being the result of every case of a faulty one.
// Files that are missing from the bundle are the concern of the cases that name them.
function judge(env, test) {
  const decoder = new TextDecoder()
  return test.specs.map(({ file }) => {
    const text = decoder.decode(test.file(file))
    const errors = env.validateSpec(text).findings.filter(({ severity }) => severity === 'error')
    const refused = errors.length === 0 ? null : { status: 'error', message: `the document ${file} has errors`, findings: errors.map(finding => ({ ...finding, file })) }
    return { text, refused }
  })
}

// Gives each good document an operator: with its kernel, or declared so that checks know its signature.
function register(env, documents, kernels) {
  documents.forEach((document, index) => {
    if (document.refused !== null) return
    const { kernel, problem } = kernels[index] ?? {}
    try {
      env.registerOperator(document.text, kernel)
    } catch (error) {
      // A standard operator that the core runs needs no registration.
      if (kernel !== undefined || error.code !== 'invalid_argument') document.refused = { status: 'error', message: error.message }
    }
    if (problem !== undefined) document.refused = { status: 'error', message: problem }
  })
}

/**
 * Runs all cases of a bundle in an Env of its own; its kernels are already functions.
 * @param {Env} env made for this alone
 * @param {{ zip: Uint8Array | null, files: object | null }} bundle
 * @param {{ evaluate?: (source: string, name: string) => Promise<object>, skip?: number, onStart?: (index: number, name: string, path: string, backend: string) => void,
 *   onTest?: (test: object) => void, signal?: AbortSignal, timeoutMs?: number }} options
 */
export async function runBundle(env, bundle, options) {
  const test = new OpenTest(env, bundle)
  try {
    const documents = judge(env, test)
    register(env, documents, await evaluateKernels(test, documents, options.evaluate))
    const tests = []
    for (let index = options.skip ?? 0; index < test.cases.length; index++) {
      const { spec, path, name } = test.cases[index]
      const kernel = spec === undefined ? undefined : codeOf(test.specs[spec])
      const backend = kernel === undefined ? 'builtin' : plugins.test(kernel) ? 'wasm' : 'js'
      options.onStart?.(index, name, path, backend)
      const start = now()
      const result = documents[spec]?.refused ?? await runCase(test, index, options)
      tests.push({ path, name, backend, ...result, ms: round(now() - start) })
      options.onTest?.(tests.at(-1))
    }
    return tests
  } finally {
    test.close()
  }
}

// The first that there is of kernel.wasm and kernel.js.
const codeOf = spec => spec.kernels.find(name => plugins.test(name)) ?? spec.kernels.find(name => scripts.test(name))

async function evaluateKernels(test, documents, evaluate) {
  const kernels = []
  for (const [index, spec] of test.specs.entries()) {
    const name = codeOf(spec)
    if (name === undefined || documents[index].refused !== null) continue
    try {
      if (plugins.test(name)) {
        kernels[index] = { kernel: await WebAssembly.compile(test.file(name)) }
        continue
      }
      const kernel = await evaluate(new TextDecoder().decode(test.file(name)), name)
      if (kernel === null || typeof kernel !== 'object') throw new Error('has no default export that is an object')
      kernels[index] = { kernel }
    } catch (error) {
      kernels[index] = { problem: `${name}: ${error?.message ?? String(error)}` }
    }
  }
  return kernels
}

async function runCase(test, index, options) {
  try {
    const { status, message, findings } = await test.run(index, options)
    return { status, ...message !== undefined && { message }, ...findings.length > 0 && { findings } }
  } catch (error) {
    if (error.code === 'aborted' || error.code === 'crashed') throw error
    return { status: 'error', message: error.message }
  }
}

// ---- env.test -----------------------------------------------------------------------------------------------------

function isolator(options) {
  if (options.isolate !== undefined) return options.isolate
  if (isNode) return isolateInChild
  throw new OpspecError('unsupported', 'this bundle brings a kernel.js or kernel.wasm, which runs only where it is shut in: in Node, or in a page that gives createEnv({ isolate })')
}

export async function testBundle(env, given, options) {
  const bundle = await readBundleArgument(given)
  const { module, options: own } = Env.inner(env)
  const test = new OpenTest(env, bundle)
  let files
  try {
    // No code of the bundle would run.
    if (!test.specs.some(spec => codeOf(spec) !== undefined)) return testReport(await runBundleHere(module, own, bundle, options))
    files = test.names().map(name => [name, test.file(name)])
  } finally {
    test.close()
  }
  const isolate = isolator(own)
  const job = { version: 1, files, limits: own.limits, wasm: isolatedWasm(own.wasm) }
  const tests = await isolate(job, { signal: options.signal, timeoutMs: options.timeoutMs })
  if (!Array.isArray(tests)) throw invalid('isolate: must answer the list of tests')
  return testReport(tests)
}

// The module's bytes or address, where they are not the package's own file.
function isolatedWasm(wasm) {
  return wasm instanceof URL ? wasm.href : wasm
}

async function runBundleHere(module, own, bundle, options) {
  const env = await createEnvWith(module, { limits: own.limits })
  try {
    return await runBundle(env, bundle, { signal: options.signal, timeoutMs: options.timeoutMs })
  } finally {
    env.dispose()
  }
}
