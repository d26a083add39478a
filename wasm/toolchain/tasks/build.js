// npm run build: what the package ships, the module in both forms and the page in web/dist.
import { npmPackages, packageFiles, page, toolchain } from './prepare.js'
import { main } from './shell.js'

main(async args => {
  npmPackages()
  toolchain('wasm', 'sources')
  await packageFiles()
  page(args)
})
