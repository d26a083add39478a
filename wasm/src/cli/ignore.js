import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// .gitignore, as far as walking a folder needs it: comments, !, trailing /, leading or inner /, *, ?, **, [classes].

function toRegExp(pattern) {
  let out = ''
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    if (c === '*' && pattern[i + 1] === '*') {
      const slash = pattern[i + 2] === '/'
      out += slash ? '(?:.*/)?' : '.*'
      i += slash ? 2 : 1
    } else if (c === '*') out += '[^/]*'
    else if (c === '?') out += '[^/]'
    else if (c === '[' && pattern.indexOf(']', i + 1) > 0) {
      const end = pattern.indexOf(']', i + 1)
      out += `[${pattern.slice(i + 1, end).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`
      i = end
    } else if (c === '\\' && i + 1 < pattern.length) out += escape(pattern[++i])
    else out += escape(c)
  }
  return out
}

const escape = c => c.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

function parse(text) {
  const rules = []
  for (const raw of text.split(/\r?\n/)) {
    let line = raw.replace(/(?<!\\)\s+$/, '')
    if (line === '' || line.startsWith('#')) continue
    const negated = line.startsWith('!')
    if (negated) line = line.slice(1)
    const folderOnly = line.endsWith('/')
    if (folderOnly) line = line.slice(0, -1)
    const anchored = line.includes('/')
    const body = toRegExp(line.replace(/^\//, ''))
    rules.push({ negated, folderOnly, expression: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${body}$`) })
  }
  return rules
}

/** The rules of a folder's .gitignore added to those above it. */
export function readIgnore(folder, above) {
  try {
    return [...above, { folder, rules: parse(readFileSync(join(folder, '.gitignore'), 'utf8')) }]
  } catch {
    return above
  }
}

/** Whether `path`, which lies below the folders of `lists`, is ignored. The last rule that fits decides. */
export function isIgnored(path, isFolder, lists) {
  let ignored = false
  for (const { folder, rules } of lists) {
    const name = path.slice(folder.length + (folder.endsWith('/') ? 0 : 1)).replaceAll('\\', '/')
    for (const { negated, folderOnly, expression } of rules) {
      if (folderOnly && !isFolder) continue
      if (expression.test(name)) ignored = !negated
    }
  }
  return ignored
}
