import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { FileSource } from '../outside.js'
import { isIgnored, readIgnore } from './ignore.js'
import { CommandError } from './options.js'

const { readdirSync, readFileSync, realpathSync, statSync } = fs

const MOST_FILE = 2 ** 31 - 1 // what one read gives
const LARGE = 64 << 20 // bytes of a file that is not read as a whole where that can be

const unreadable = (path, error) => new CommandError(`${path} cannot be read: ${error.message.replace(/^[A-Z]+: /, '').replace(/,.*$/, '')}`)

/** Bytes of a file, or of standard input for '-'. Throws a CommandError. */
export function readPath(path) {
  try {
    if (path === '-') return new Uint8Array(readFileSync(0))
    const stat = statSync(path)
    if (stat.isDirectory()) throw new Error('it is a folder')
    const { size } = stat
    if (size > MOST_FILE) throw new Error(`it has ${size} bytes, more than can be read at once`)
    return new Uint8Array(readFileSync(path))
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** The path as other tools of a repository name it: from its root in a workflow, else from the working folder. */
export function portablePath(path) {
  if (path === '-') return path
  const root = process.env.GITHUB_WORKSPACE || process.cwd()
  const inside = relative(root, resolve(path))
  const outside = inside === '' || inside.startsWith('..') || isAbsolute(inside)
  return (outside ? path : inside).split(sep).join('/')
}

export const sha256 = bytes => createHash('sha256').update(bytes).digest('hex')

/** Whether the file is too large to be read as a whole, and begins as no text and no archive does. */
export function isLarge(path) {
  if (path === '-') return false
  let file = null
  try {
    if (statSync(path).size <= LARGE) return false
    file = new FileSource(fs, path)
    const head = new Uint8Array(4)
    file.readNow(0, head)
    return head.some(byte => byte < 9) && !(head[0] === 0x50 && head[1] === 0x4b)
  } catch {
    return false
  } finally {
    file?.close()
  }
}

/** A file that is read piece by piece. */
export function openFile(path) {
  try {
    return new FileSource(fs, path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** The same, and its digest. */
export function openPath(path) {
  const file = openFile(path)
  try {
    const hash = createHash('sha256')
    const piece = new Uint8Array(1 << 20)
    for (let at = 0; at < file.size; at += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, file.size - at))
      file.readNow(at, part)
      hash.update(part)
    }
    return { file, hash: hash.digest('hex') }
  } catch (error) {
    file.close()
    throw new CommandError(`${path} cannot be read: ${error.message}`)
  }
}

/**
 * Files beside a document, read when asked for; names that lead out of the folder, by links too, are not there. Large ones
 * are FileSources, and `onLarge` is told.
 */
export function filesBeside(path, onLarge = () => {}) {
  const folder = path === '-' ? '.' : dirname(path)
  return name => {
    if (name.startsWith('/') || name.split('/').includes('..')) return null
    const full = join(folder, name)
    try {
      const root = realpathSync(folder)
      if (!realpathSync(full).startsWith(root.endsWith(sep) ? root : root + sep) || !statSync(full).isFile()) return null
      if (statSync(full).size <= LARGE) return new Uint8Array(readFileSync(full))
      onLarge()
      return new FileSource(fs, full)
    } catch {
      return null
    }
  }
}

// ---- What lies in folders -------------------------------------------------------------------------------------------

const kindOfJson = bytes => {
  const head = new TextDecoder().decode(bytes.subarray(0, 65536))
  if (!/"kind"\s*:\s*"(runlocal\.operator-extension|opspec\.evidence)"/.test(head) && bytes.length <= 65536) return null
  try {
    const { kind } = JSON.parse(new TextDecoder().decode(bytes))
    return kind === 'runlocal.operator-extension' ? 'spec' : kind === 'opspec.evidence' ? 'evidence' : null
  } catch {
    // Not JSON, but it names a kind of ours: the check will say what is wrong.
    return /"kind"\s*:\s*"runlocal\.operator-extension"/.test(head) ? 'spec' : /"kind"\s*:\s*"opspec\.evidence"/.test(head) ? 'evidence' : null
  }
}

/** 'spec' or 'evidence' when a .json counts among the files of a folder, else null. */
export function jsonRole(name, bytes) {
  const kind = kindOfJson(bytes)
  return kind ?? (name.endsWith('.opspec.json') ? 'spec' : null)
}

// What cannot be read counts, so that it is said.
function roleOf({ name, path }) {
  try {
    return jsonRole(name, readPath(path))
  } catch {
    return 'evidence'
  }
}

const isDataSet = name => /^test_data_set_\d+$/.test(name)

// Entries of a folder by name: no links, nothing ignored.
function entriesOf(folder, ignore) {
  const out = []
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)) {
    if (entry.isSymbolicLink() || entry.name === 'node_modules' || entry.name === '.git') continue
    const path = join(folder, entry.name)
    if (isIgnored(path, entry.isDirectory(), ignore)) continue
    if (entry.isDirectory() || entry.isFile()) out.push({ name: entry.name, path, isFolder: entry.isDirectory() })
  }
  return out
}

function filesBelow(folder, prefix, ignore, out) {
  const lists = readIgnore(folder, ignore)
  for (const { name, path, isFolder } of entriesOf(folder, lists)) {
    if (isFolder) {
      if (name !== '__MACOSX' && !name.startsWith('.')) filesBelow(path, `${prefix}${name}/`, lists, out)
    } else out.set(prefix + name, readPath(path))
  }
  return out
}

/** All files of a bundle's folder by name. */
export const bundleFiles = folder => filesBelow(folder, '', [], new Map())

const wholeExtensions = /\.(onnx|pb|zip)$/i

/**
 * What a folder holds, in order: { path, kind: 'bundle' | 'data' | 'file' }, with `problem` where a folder inside cannot be read. A bundle is a folder that holds an
 * operator-extension document, data one that holds data sets. `skipped` counts the .json files that are none of ours.
 */
export function walk(root) {
  const found = []
  const counts = { skipped: 0 }
  const stack = [{ folder: root, ignore: [] }]
  while (stack.length > 0) {
    const { folder, ignore } = stack.pop()
    const lists = readIgnore(folder, ignore)
    let entries
    try {
      entries = entriesOf(folder, lists)
    } catch (error) {
      found.push({ path: folder, kind: 'file', problem: unreadable(folder, error) })
      continue
    }
    const roles = new Map()
    for (const entry of entries) {
      if (!entry.isFolder && entry.name.endsWith('.json')) roles.set(entry, roleOf(entry))
    }
    if ([...roles.values()].includes('spec')) {
      found.push({ path: folder, kind: 'bundle' })
      continue
    }
    const data = entries.some(({ name, isFolder }) => isFolder && isDataSet(name)) && entries.some(({ name }) => name.endsWith('.onnx'))
    if (data) found.push({ path: folder, kind: 'data' })
    const folders = []
    for (const entry of entries) {
      if (entry.isFolder) folders.push({ folder: entry.path, ignore: lists })
      else if (entry.name.endsWith('.json')) {
        if (roles.get(entry) === null) counts.skipped++
        else found.push({ path: entry.path, kind: 'file' })
      } else if (wholeExtensions.test(entry.name)) found.push({ path: entry.path, kind: 'file', data })
    }
    stack.push(...folders.reverse())
  }
  return { found: found.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0), skipped: counts.skipped }
}

/** 'file', 'folder', or throws a CommandError. */
export function pathKind(path) {
  if (path === '-') return 'file'
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file or folder' : error.message}`)
  }
}
