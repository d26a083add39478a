#!/usr/bin/env node
// The command `opspec`.
import { main } from './cli/main.js'

// Who reads the output may have had enough: `opspec ops | head`.
process.stdout.on('error', error => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await main(process.argv.slice(2))
