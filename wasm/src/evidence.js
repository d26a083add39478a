import { createEnvWith, Env } from './env.js'
import { fixFindings } from './engine.js'
import { detailsOf, invalid, OpspecError } from './errors.js'
import { readBundleArgument } from './files.js'
import { isolateInChild } from './isolate-node.js'
import { isMisbehaviour } from './kernels.js'
import { isNode, now } from './platform.js'
import { drive } from './session.js'

// Running a bundle's evidence: here when no code of the bundle takes part, else where the code is shut in.

// A bundle's kernels by backend, in the order in which one is chosen. `code`: it is shut in.
const kernelFiles = {
  wasm: { pattern: /(^|\/)kernel\.wasm$/, name: 'kernel.wasm', code: true },
  js: { pattern: /(^|\/)kernel\.m?js$/, name: 'kernel.js', code: true },
  function: { pattern: /(^|\/)kernel\.onnx$/, name: 'kernel.onnx', code: false }
}

export const backends = ['auto', 'builtin', ...Object.keys(kernelFiles), 'all']

/** Throws for what is no backend. */
export function checkBackend(backend = 'auto') {
  if (backend === 'reference') throw new OpspecError('unsupported', "backend: 'reference', which starts the program that a document names, is not part of this version")
  if (!backends.includes(backend)) throw invalid(`backend: must be one of ${backends.join(', ')}`)
  return backend
}

// ---- A bundle in an engine --------------------------------------------------------------------------------------

export class OpenTest {
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
    const job = {
      step: budget => exports.opspec_step_trial(port, trial, budget),
      answer: (failed, message) => exports.opspec_answer_trial(port, trial, failed, message),
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      gone: () => false
    }
    try {
      await drive(engine, job)
      const { cause } = job
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

// ---- Backends ---------------------------------------------------------------------------------------------------

const fileOf = (spec, backend) => spec.kernels.find(name => kernelFiles[backend]?.pattern.test(name))

// Backends that the operator of a document is run with.
function backendsOf(spec, wanted) {
  const own = Object.keys(kernelFiles).filter(backend => fileOf(spec, backend) !== undefined)
  if (wanted === 'all') return [...own, 'builtin']
  return wanted === 'auto' ? [own[0] ?? 'builtin'] : [wanted]
}

// One pass over the cases for each backend: which one each document has in it, undefined where it has none left.
function passesOf(specs, wanted) {
  const lists = specs.map(spec => backendsOf(spec, wanted))
  const count = Math.max(1, ...lists.map(({ length }) => length))
  return Array.from({ length: count }, (_, pass) => lists.map(list => list[pass]))
}

const needsIsolation = (specs, wanted) => specs.some(spec => backendsOf(spec, wanted).some(backend => kernelFiles[backend]?.code === true && fileOf(spec, backend) !== undefined))

async function readKernel(test, name, backend, evaluate) {
  const bytes = test.file(name)
  if (backend === 'wasm') return WebAssembly.compile(bytes)
  if (backend === 'function') return bytes
  const kernel = await evaluate(new TextDecoder().decode(bytes), name)
  if (kernel === null || typeof kernel !== 'object') throw new Error('has no default export that is an object')
  return kernel
}

const refusal = ({ message, findings }) => ({ status: 'error', message, ...findings !== undefined && { findings } })

// Whether the build has a kernel for the operator of a document. A row without a schema of its own is seen once the document
// is registered.
function implemented(env, { domain, opType }, document) {
  let registration
  try {
    registration = env.registerOperator(document)
  } catch {
    // One of the standard's needs no document, and takes none.
  }
  const found = env.operators().some(operator => operator.domain === domain && operator.name === opType && operator.kernel)
  registration?.dispose()
  return found
}

// Gives a document its operator: with a kernel, or declared so that checks know its signature. Answers
// { registration?, refused? }: refused is the result of its cases.
async function prepare(env, test, spec, { text, refused }, backend, { evaluate, onLoad }) {
  if (backend === undefined) return {}
  if (refused !== null) return { refused }
  const name = fileOf(spec, backend)
  if (name === undefined && backend !== 'builtin') return { refused: { status: 'skipped', message: `the bundle has no ${kernelFiles[backend].name}` } }
  try {
    if (kernelFiles[backend]?.code === true) onLoad?.(name)
    return { registration: env.registerOperator(text, name === undefined ? undefined : await readKernel(test, name, backend, evaluate)) }
  } catch (thrown) {
    const error = detailsOf(thrown)
    // A standard operator that the core runs needs no registration.
    if (name === undefined && error.code === 'invalid_argument') return {}
    if (name === undefined) return { refused: refusal(error) }
    const place = error.path === undefined ? '' : ` (${error.path})`
    return { refused: { ...refusal(error), message: `${name}: ${error.message}${place}` } }
  }
}

// A data set belongs to no document: what its model names is built in.
const dataBackend = wanted => ['auto', 'all', 'builtin'].includes(wanted) ? {} : { refused: { status: 'skipped', message: 'a data set has no kernel of its own' } }

// Everything that will be run, known before any of it is: { index, name, path, backend }. An index is that of a case, plus
// the number of cases for each pass before.
function planTests(env, { specs, cases }, documents, wanted, passes) {
  // With all backends, the built-in one counts where there is one, or where there is no other.
  const lacksBuiltin = specs.map((spec, i) => wanted === 'all' && documents[i].refused === null && spec.kernels.length > 0 && !implemented(env, spec, documents[i].text))
  const isLeft = (spec, backend) => backend === undefined || (backend === 'builtin' && lacksBuiltin[spec])
  return passes.flatMap((chosen, pass) => cases.flatMap(({ spec, path, name }, i) => {
    const index = pass * cases.length + i
    if (spec === undefined) return pass === 0 ? [{ index, name, path, backend: 'builtin' }] : []
    return isLeft(spec, chosen[spec]) ? [] : [{ index, name, path, backend: chosen[spec] }]
  }))
}

/**
 * Runs all cases of a bundle in an Env of its own, once for each backend.
 * @param {Env} env made for this alone
 * @param {{ zip: Uint8Array | null, files: object | null }} bundle
 * @param {{ backend?: string, evaluate?: (source: string, name: string) => Promise<object>, skip?: number,
 *   onLoad?: (name: string) => void, onPlan?: (tests: object[]) => void, onStart?: (index: number) => void, onTest?: (test: object) => void, signal?: AbortSignal,
 *   timeoutMs?: number }} options skip: how many turns of a case were taken elsewhere
 */
export async function runBundle(env, bundle, options) {
  const test = new OpenTest(env, bundle)
  const wanted = checkBackend(options.backend)
  try {
    const documents = judge(env, test)
    const tests = []
    const { length } = test.cases
    const passes = passesOf(test.specs, wanted)
    const plan = planTests(env, test, documents, wanted, passes)
    options.onPlan?.(plan)
    for (const [pass, chosen] of passes.entries()) {
      const due = plan.filter(({ index }) => index >= Math.max(options.skip ?? 0, pass * length) && index < (pass + 1) * length)
      if (due.length === 0) continue
      const prepared = []
      for (const [i, spec] of test.specs.entries()) prepared.push(await prepare(env, test, spec, documents[i], chosen[i], options))
      for (const { index, name, path, backend } of due) {
        const { spec } = test.cases[index % length]
        const { refused } = spec === undefined ? dataBackend(wanted) : prepared[spec]
        options.onStart?.(index)
        const start = now()
        const result = refused ?? await runCase(test, index % length, options)
        tests.push({ path, name, backend, ...result, ms: round(now() - start) })
        options.onTest?.(tests.at(-1))
      }
      for (const { registration } of prepared) takeBack(registration)
    }
    return tests
  } finally {
    test.close()
  }
}

// What a kernel's dispose throws comes too late to change what its tests have shown.
function takeBack(registration) {
  try {
    registration?.dispose()
  } catch (error) {
    if (!detailsOf(error).ours) throw error
  }
}

async function runCase(test, index, options) {
  try {
    const { status, message, findings } = await test.run(index, options)
    return { status, ...message !== undefined && { message }, ...findings.length > 0 && { findings } }
  } catch (error) {
    const { code, message } = detailsOf(error)
    if (code === 'aborted' || code === 'crashed') throw error
    return { status: 'error', message }
  }
}

// ---- env.test -----------------------------------------------------------------------------------------------------

function isolator(options) {
  if (options.isolate !== undefined) return options.isolate
  if (isNode) return isolateInChild
  throw new OpspecError('unsupported', 'this bundle brings a kernel.js or kernel.wasm, which runs only where it is shut in: in Node, or in a page that gives createEnv({ isolate })')
}

export async function testBundle(env, given, options) {
  const wanted = checkBackend(options.backend)
  const bundle = await readBundleArgument(given)
  const { module, options: own } = Env.inner(env)
  let test
  try {
    test = new OpenTest(env, bundle)
  } catch (error) {
    if (!['malformed', 'limit', 'unsupported'].includes(error.code)) throw error
    return testReport([unreadable(error)])
  }
  let files
  try {
    if (!needsIsolation(test.specs, wanted)) return testReport(await runBundleHere(module, own, bundle, options))
    files = test.names().map(name => [name, test.file(name)])
  } finally {
    test.close()
  }
  const isolate = isolator(own)
  const job = { version: 1, files, limits: own.limits, wasm: isolatedWasm(own.wasm), ...wanted !== 'auto' && { backend: wanted } }
  const tests = await isolate(job, { signal: options.signal, timeoutMs: options.timeoutMs })
  if (!Array.isArray(tests)) throw invalid('isolate: must answer the list of tests')
  return testReport(tests)
}

// Of what is no bundle, such as an archive with a link.
const unreadable = error => ({ path: '', name: 'bundle', backend: 'builtin', ...refusal(error), ms: 0 })

// The module's bytes or address, where they are not the package's own file.
function isolatedWasm(wasm) {
  return wasm instanceof URL ? wasm.href : wasm
}

async function runBundleHere(module, own, bundle, options) {
  const env = await createEnvWith(module, { limits: own.limits })
  try {
    return await runBundle(env, bundle, { backend: options.backend, signal: options.signal, timeoutMs: options.timeoutMs })
  } finally {
    env.dispose()
  }
}
