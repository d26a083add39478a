import { Env } from '../env.js'
import { openEnv } from './engine.js'
import { CommandError } from './options.js'
import { writeFile } from './output.js'
import { readPath, sha256 } from './paths.js'

// opspec convert: a document in another form.

export const targets = ['canonical', 'json']

function place({ range }) {
  return range === undefined ? '' : `:${range.start.line}:${range.start.column}`
}

function convertText(env, bytes, kind, path, { to, output }) {
  try {
    return env.format(bytes, kind, to)
  } catch (error) {
    if (error.code !== 'malformed') throw error
    for (const finding of error.findings) output.problem(`${path}${place(finding)}: ${finding.message} [${finding.rule}]`)
    throw new CommandError(`${path} cannot be converted to ${to}: it is malformed`)
  }
}

export async function convert({ options, positionals, output }) {
  if (positionals.length !== 1) throw new CommandError('convert: which file?')
  if (options.to === undefined) throw new CommandError(`convert: --to says the form: ${targets.join(', ')}`)
  const [path] = positionals
  const { to, output: target = '-' } = options
  if (target === '-' && output.wantsJson) throw new CommandError('convert: --format json needs -o, as standard output takes the document')
  const bytes = readPath(path)
  const env = await openEnv(options)
  try {
    const sniffed = Env.sniff(env, bytes)
    const kind = options.as ?? sniffed.kind
    if (!['spec', 'evidence', 'json'].includes(kind)) throw new CommandError(`${path} cannot be converted to ${to}: ${sniffed.evidence || `it is ${kind}`}`)
    const text = convertText(env, bytes, kind, path, { to, output })
    // A digest is of these bytes: the canonical form ends without a line end.
    const content = to === 'canonical' ? text : `${text}\n`
    if (target === '-') process.stdout.write(content)
    else {
      writeFile(target, content)
      const written = { path: target, to, bytes: Buffer.byteLength(content), sha256: sha256(content) }
      output.json(written)
      output.summary(paint => paint('good', `${target}: ${to}, ${written.bytes} bytes, sha256 ${written.sha256}`))
    }
    return 0
  } finally {
    env.dispose()
  }
}
