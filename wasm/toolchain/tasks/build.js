// npm run build: what the package ships, the module in both forms and the page in web/dist.
import { join } from 'node:path'
import { npmPackages, toolchain, wasmModule } from './prepare.js'
import { main, root, run } from './shell.js'

main(async args => {
  npmPackages()
  toolchain('wasm', 'sources')
  wasmModule()
  run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', 'web', ...args])
})
