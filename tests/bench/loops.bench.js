// Every loop of kernels/math on its own, without models or tensors: npm run bench -- loops
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = process.env.OPSPEC_WASM_BUILD ?? fileURLToPath(new URL('../../build/wasm-tests', import.meta.url))

if (existsSync(`${folder}/build.ninja`)) {
  execFileSync('cmake', ['--build', folder, '--target', 'bench_math'], { stdio: ['ignore', 'ignore', 'inherit'] })
  execFileSync(process.execPath, [`${folder}/kernels/math/bench_math.js`], { stdio: 'inherit' })
} else {
  console.log(`skipped: the build wasm-tests is not in ${folder}; npm test makes it`)
}
