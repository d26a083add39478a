#!/usr/bin/env node
// The command `opspec`.
import { main } from './cli/main.js'

process.exitCode = await main(process.argv.slice(2))
