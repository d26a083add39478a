// The code blocks of kernels/README.md. A block's first line names its language and then what it is:
//
//   ```json cap.opspec.json     a file
//   ```js one-line/kernel.js    a file of a way to write the kernel: a folder with the document and the evidence
//   ```sh one-line              commands that run in that folder
//   ```sh                       commands that run beside the folders
//
// As a program (node guide.js --out FOLDER GUIDE) it writes cap.c, the row that is linked into a module for the tests.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** [{ language, name, text, before }]; before: the paragraph that leads to it. */
export function blocksOf (markdown) {
  return [...markdown.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(({ index, 1: language, 2: name = '', 3: text }) => (
    { language, name, text, before: markdown.slice(0, index).trimEnd().split('\n\n').at(-1) }
  ))
}

/** Writes the files among the blocks. */
export function writeFiles (blocks, folder) {
  for (const { language, name, text } of blocks) {
    if (language === 'sh' || name === '') continue
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , , folder, guide] = process.argv
  writeFiles(blocksOf(readFileSync(guide, 'utf8')).filter(({ name }) => name === 'cap.c'), folder)
}
