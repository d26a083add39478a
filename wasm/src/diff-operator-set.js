import { change, plainChange } from './diff-rules.js'

// What changes for nodes when one operator set takes another's place. Both are objects as env.decode gives them.

const STABLE = 1

const domainOf = ({ domain = '' }) => domain === 'ai.onnx' ? '' : domain
const versionOf = ({ opsetVersion = 0 }) => BigInt(opsetVersion)
const sinceOf = ({ sinceVersion = 0 }) => BigInt(sinceVersion)
const isStable = ({ status = 0 }) => status === STABLE
const shown = text => JSON.stringify(text.length > 60 ? `${[...text].slice(0, 57).join('')}...` : text)

// name -> since version -> { operator, index }
function byName(operators) {
  const out = new Map()
  operators.forEach((operator, index) => {
    const { opType = '' } = operator
    if (!out.has(opType)) out.set(opType, new Map())
    const versions = out.get(opType)
    if (!versions.has(sinceOf(operator))) versions.set(sinceOf(operator), { operator, index })
  })
  return out
}

class SetComparison {
  constructor(a, b, rows) {
    this.a = a
    this.b = b
    this.rows = rows
    this.before = byName(a.operator ?? [])
    this.after = byName(b.operator ?? [])
    this.functionsBefore = new Set((a.functions ?? []).map(({ name = '' }) => name))
    this.functionsAfter = new Set((b.functions ?? []).map(({ name = '' }) => name))
    this.changes = []
  }

  add(rule, message, path) {
    this.changes.push(change(rule, message, { path }))
  }

  run() {
    this.identity()
    for (const [name, versions] of this.before) this.known(name, versions)
    for (const [name, versions] of this.after) this.fresh(name, versions)
    for (const row of this.rows) this.row(row)
    if (this.sameIdentity && this.changes.some(({ path }) => /^(operator|functions)\b/.test(path))) {
      this.add('diff.opset.same-version', `Both sets are version ${versionOf(this.b)} of the domain ${shown(this.b.domain ?? '')}, and they differ.`, 'opset_version')
    }
    return this.changes
  }

  identity() {
    const [from, to] = [versionOf(this.a), versionOf(this.b)]
    const other = domainOf(this.a) !== domainOf(this.b)
    if (other) this.add('diff.opset.domain', `The domain was ${shown(this.a.domain ?? '')} and is ${shown(this.b.domain ?? '')}.`, 'domain')
    if (to > from) this.add('diff.opset.version-raised', `The version was ${from} and is ${to}.`, 'opset_version')
    if (to < from) this.add('diff.opset.version-lowered', `The version was ${from} and is ${to}.`, 'opset_version')
    this.sameIdentity = !other && from === to
  }

  // ---- Operators -----------------------------------------------------------------------------------------------------

  // Versions of an operator that the first set has.
  known(name, versions) {
    const now = this.after.get(name) ?? new Map()
    const fresh = [...now.keys()].filter(since => !versions.has(since))
    for (const [since, { operator, index }] of versions) {
      const same = now.get(since)
      if (same !== undefined) this.same(name, since, operator, same)
      else this.gone(name, since, { operator, index }, now, fresh)
    }
  }

  gone(name, since, { operator, index }, now, fresh) {
    const stable = isStable(operator)
    if (fresh.length > 0) {
      const to = fresh.reduce((x, y) => x > y ? x : y)
      const message = `${name} since ${since}, ${stable ? 'stable' : 'experimental'}, was replaced by ${name} since ${to}.`
      this.add(`diff.opset.${stable ? 'stable' : 'experimental'}-changed`, message, `operator[${now.get(to).index}]`)
    } else if (this.functionsAfter.has(name)) {
      this.add(`diff.opset.${stable ? 'stable' : 'experimental'}-changed`, `${name} since ${since}, ${stable ? 'stable' : 'experimental'}, is a function now.`, `operator[${index}]`)
    } else {
      const more = now.size > 0 ? `; ${name} since ${[...now.keys()].join(', ')} stays` : ''
      this.add(`diff.opset.${stable ? 'stable' : 'experimental'}-removed`, `${name} since ${since}, ${stable ? 'stable' : 'experimental'}, was removed${more}.`, `operator[${index}]`)
    }
  }

  same(name, since, before, { operator: after, index }) {
    const [was, is] = [isStable(before), isStable(after)]
    if (was && !is) this.add('diff.opset.stable-demoted', `${name} since ${since} was stable and is experimental.`, `operator[${index}].status`)
    if (!was && is) this.add('diff.opset.promoted', `${name} since ${since} was experimental and is stable.`, `operator[${index}].status`)
    const [from, to] = [before.docString ?? '', after.docString ?? '']
    if (from === to) return
    const message = from === '' ? `${name} since ${since} is described now.` : to === '' ? `${name} since ${since} is no longer described.` : `${name} since ${since} is described in other words.`
    this.add(was && is ? 'diff.opset.text' : 'diff.message.text', message, `operator[${index}].doc_string`)
  }

  // Versions of an operator that only the second set has.
  fresh(name, versions) {
    const before = this.before.get(name) ?? new Map()
    const kept = [...before.keys()].some(since => versions.has(since))
    for (const [since, { index }] of versions) {
      if (before.has(since)) continue
      if (kept) this.add('diff.opset.revision-added', `${name} since ${since} is new, beside ${name} since ${[...before.keys()].join(', ')}.`, `operator[${index}]`)
      else if (before.size === 0) this.add('diff.opset.operator-added', `${name} since ${since} is new.`, `operator[${index}]`)
      if (versionOf(this.b) > versionOf(this.a) && since <= versionOf(this.a)) {
        this.add('diff.opset.since', `${name} since ${since} is new, though set ${versionOf(this.a)} did not have it.`, `operator[${index}].since_version`)
      }
    }
  }

  // ---- Functions and the rest ----------------------------------------------------------------------------------------

  isExperimental(name) {
    const some = versions => versions !== undefined && [...versions.values()].every(({ operator }) => !isStable(operator))
    return some(this.before.get(name)) && some(this.after.get(name))
  }

  row(row) {
    const { path, change: what } = row
    const place = /^functions\[(\d+)\](?:\.([a-z_]+)(\[\d+\]$)?)?/.exec(path)
    if (place !== null) return this.function(row, Number(place[1]), place[2], place[3] !== undefined)
    if (/^(domain|opset_version)$/.test(path) || (path === 'functions' && what === 'order')) return
    this.changes.push(plainChange(row))
  }

  function(row, index, field, whole) {
    const { path, message, change: what } = row
    const { name = '' } = ((what === 'removed' ? this.a : this.b).functions ?? [])[index] ?? {}
    if (field === undefined && what === 'added') return this.add('diff.opset.function-added', message, path)
    if (field === undefined && what === 'removed') return this.add(this.after.has(name) ? 'diff.opset.body-removed' : 'diff.opset.function-removed', message, path)
    if (['doc_string', 'metadata_props', 'value_info'].includes(field)) return this.add('diff.message.text', message, path)
    if (this.isExperimental(name)) return this.add('diff.opset.experimental-changed', message, path)
    // A new attribute with a default may be left out.
    if (field === 'attribute_proto' && what === 'added' && whole) return this.changes.push(plainChange(row))
    this.add(/^(input|output|attribute|attribute_proto)$/.test(field ?? '') ? 'diff.opset.function-signature' : 'diff.opset.function-body', message, path)
  }
}

/** The changes of two operator sets, whose rows the core has found. */
export const compareOperatorSets = (a, b, rows) => new SetComparison(a, b, rows).run()
