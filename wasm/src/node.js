// opspec/node: what only Node can do.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid } from './errors.js'
import { readZip } from './node-zip.js'

async function addFolder(files, folder, prefix) {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    // No links: what lies outside the folder is no part of the bundle.
    if (entry.isDirectory() && entry.name !== '__MACOSX' && entry.name !== 'node_modules' && !entry.name.startsWith('.')) {
      await addFolder(files, join(folder, entry.name), `${prefix}${entry.name}/`)
    } else if (entry.isFile()) {
      files.set(prefix + entry.name, new Uint8Array(await readFile(join(folder, entry.name))))
    }
  }
}

/**
 * The files of a bundle, a folder or a .zip, as env.check, env.test and the like take them.
 * @param {string} path
 * @returns {Promise<Map<string, Uint8Array>>}
 */
export async function readBundle(path) {
  if (typeof path !== 'string') throw invalid('path: must be a string')
  if (!(await stat(path)).isDirectory()) return readZip(new Uint8Array(await readFile(path)))
  const files = new Map()
  await addFolder(files, path, '')
  return files
}
