// The standard's outputs (JSON Schema, core, section 12), made of the units that the module lists: one for each schema and each
// keyword that was applied, parents first.

// Of schemas without $id, so that absolute locations are absolute.
const noBase = 'urn:opspec:schema'
const kinds = { schema: 0, value: 3, children: 4 }

const escapeFragment = text => text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^!$&-;=?-Z_a-z~]/gu, encodeURIComponent)
const lastToken = pointer => pointer.slice(pointer.lastIndexOf('/') + 1).replaceAll('~1', '/').replaceAll('~0', '~')

function read(rows, valid) {
  const units = []
  for (const [parent, passed, kind, length, token, base, place, instance, error, annotation] of rows) {
    const above = units[parent]
    const fragment = escapeFragment(place + (kind === kinds.schema ? '' : token))
    // What failed annotates nothing, and what passed has no errors.
    const dropped = above !== undefined && (above.dropped || above.valid !== valid)
    units.push({
      above, valid: passed === 1, kind, length, error, annotation, instance, children: [], kept: 0, shown: false,
      name: token.slice(1),
      location: (above?.location ?? '') + token,
      absolute: (base || noBase) + (fragment === '' && base !== '' ? '' : '#') + fragment,
      dropped, annotates: valid && passed === 1 && !dropped && kind >= kinds.value
    })
    above?.children.push(units.at(-1))
  }
  return units
}

// Names of members that were looked at, places of elements that `contains` has found, or how many elements in a row.
function annotationOf({ kind, annotation, name, children, length }) {
  if (kind === kinds.value) return annotation
  const seen = [...new Set(children.filter(({ valid }) => valid || name !== 'contains').map(({ instance }) => lastToken(instance)))]
  if (name === 'contains') return seen.map(Number)
  if (name.endsWith('roperties')) return seen
  return name === 'prefixItems' && seen.length < length ? seen.length - 1 : true
}

function written(unit, whole) {
  const { valid, location, absolute, instance, error } = unit
  const out = { valid, keywordLocation: location, absoluteKeywordLocation: absolute, instanceLocation: instance }
  if (unit.annotates) out.annotation = annotationOf(unit)
  if (!valid && (error !== '' || whole)) out.error = error || 'Something below does not pass.'
  return out
}

// Which units a tree has: all, or those that say something and those that hold several such.
function choose(units, form, valid) {
  for (let at = units.length; at-- > 0;) {
    const unit = units[at]
    const own = valid ? unit.annotates : !unit.valid && unit.error !== ''
    const gone = unit.dropped || (!valid && unit.valid)
    unit.shown = form === 'verbose' || (!gone && (own || unit.kept > 1 || unit.above === undefined))
    if (unit.above !== undefined && (form === 'verbose' || (!gone && (own || unit.kept > 0)))) unit.above.kept++
  }
  if (form !== 'verbose' && units[0].kept === 1 && units[0].error === '') units[0].shown = false
}

function tree(units) {
  let top
  for (const unit of units) {
    if (!unit.shown) continue
    unit.out = written(unit, false)
    let above = unit.above
    while (above !== undefined && !above.shown) above = above.above
    if (above === undefined) top ??= unit.out
    else (above.out[above.valid ? 'annotations' : 'errors'] ??= []).push(unit.out)
  }
  return top
}

/** form: 'flag', 'basic', 'detailed' or 'verbose'. */
export function outputOf(form, valid, rows) {
  if (form === 'flag' || rows.length === 0) return { valid }
  const units = read(rows, valid)
  if (form === 'basic') {
    const listed = units.filter(unit => valid ? unit.annotates : !unit.dropped && !unit.valid)
    return { valid, [valid ? 'annotations' : 'errors']: listed.map(unit => written(unit, true)) }
  }
  choose(units, form, valid)
  return tree(units)
}
