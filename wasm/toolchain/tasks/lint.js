// npm run lint [-- --fix]: the rules of tests/lint on every file that git knows or would take.
import { npmPackages, toolchain } from './prepare.js'
import { main } from './shell.js'

main(async args => {
  npmPackages()
  toolchain('format')
  const { lint } = await import('../../../tests/lint/lint.js')
  return lint({ fix: args.includes('--fix') })
})
