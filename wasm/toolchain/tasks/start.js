// npm start: serves the page on localhost, everything it needs built first. Arguments go to Vite (-- --port 3000).
import { join } from 'node:path'
import { npmPackages, packageFiles, toolchain } from './prepare.js'
import { main, root, serve } from './shell.js'

main(async args => {
  npmPackages()
  toolchain('wasm', 'sources')
  const end = await packageFiles({ watch: true })
  try {
    return await serve(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'web', '--host', 'localhost', ...args])
  } finally {
    await end()
  }
})
