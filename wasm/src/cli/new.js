import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openEnv } from './engine.js'
import { bundleTexts, kernelKinds, namesOf } from './new-bundle.js'
import { CommandError, oneOf } from './options.js'

// opspec new: a bundle to start from.

export const kernelOption = { value: 'KIND', read: oneOf('kernel', kernelKinds), help: 'js (one element in JavaScript), c (a plug-in), function (other operators)' }

// The headers of plug-ins, which lie in the package; they go along so that the bundle can be built anywhere.
function headers() {
  const folder = new URL('./include/opspec/', import.meta.url)
  return Object.fromEntries(readdirSync(folder).map(name => [`src/opspec/${name}`, readFileSync(new URL(name, folder))]))
}

function checkDomain(env, files, { slug }) {
  const { findings } = env.check(files[`${slug}.opspec.json`], { as: 'spec', full: false })
  const fault = findings.find(({ severity }) => severity === 'error')
  if (fault !== undefined) throw new CommandError(`--domain: ${fault.message}`)
}

function filesOf(env, kind, names) {
  const texts = bundleTexts(kind, names)
  checkDomain(env, texts, names)
  if (kind === 'c') return { ...texts, ...headers() }
  if (kind === 'function') return { ...texts, 'kernel.onnx': env.parse(texts['src/kernel.onnxtxt'], 'FunctionProto', 'onnxtxt') }
  return texts
}

export async function newBundle({ options, positionals, output }) {
  const [name] = positionals
  if (positionals.length !== 1) throw new CommandError('new: one name is needed, as in: opspec new soft-clamp --domain com.example')
  const names = namesOf(name)
  if (names === null) throw new CommandError(`new: '${name}' is no name; a letter, then up to 63 letters, digits, - or _`)
  if (options.domain === undefined) throw new CommandError('new: --domain says whose operator it is, as in --domain com.example')
  const folder = names.slug
  const refuse = () => { throw new CommandError(`new: ${folder} is there already; nothing was written`) }
  if (existsSync(folder)) refuse()
  const env = await openEnv(options)
  try {
    const files = filesOf(env, options.kernel ?? 'js', { ...names, domain: options.domain })
    try {
      mkdirSync(folder)
    } catch (error) {
      if (error.code === 'EEXIST') refuse()
      throw new CommandError(`new: ${folder} cannot be made: ${error.message}`)
    }
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content, { flag: 'wx' })
    }
    output.json({ folder, operator: { domain: options.domain, opType: names.opType }, kernel: options.kernel ?? 'js', files: Object.keys(files) })
    output.line(paint => `${paint('good', 'made')} ${folder}: operator ${names.opType} of ${options.domain}; ${join(folder, 'README.md')} says how to go on`)
    return 0
  } finally {
    env.dispose()
  }
}
