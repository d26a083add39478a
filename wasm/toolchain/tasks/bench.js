// npm run bench [-- PART-OF-NAME]: runs the programs tests/bench/*.bench.js against the built module.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmPackages, packageFiles, toolchain } from './prepare.js'
import { main, root, run, say, TaskError } from './shell.js'

main(async ([part = '']) => {
  npmPackages()
  toolchain('wasm', 'sources')
  await packageFiles()
  const folder = join(root, 'tests/bench')
  const names = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.bench.js') && name.includes(part)) : []
  if (names.length === 0) throw new TaskError(`no benchmark is named *${part}*.bench.js in tests/bench`, 2)
  for (const name of names.sort()) {
    say(name)
    run(process.execPath, ['--expose-gc', join(folder, name)])
  }
})
