import { optionsOf, stringArgument, textOrBytes } from './arguments.js'
import { diffDocuments } from './diff-documents.js'
import { change, difference } from './diff-rules.js'
import { OpspecError } from './errors.js'

// What changes for nodes when one specification takes another's place.

const decoder = new TextDecoder()

// ---- Reading -------------------------------------------------------------------------------------------------------

// Numbers keep their text, as int64 values do not fit a double: { $number: "1" }. The text is known to be JSON.
function readExact(source) {
  const text = typeof source === 'string' ? source.replace(/^\ufeff/, '') : decoder.decode(source)
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, token => token[0] === '"' ? token : `{"$number":"${token}"}`))
}

const isForm = ({ rule, severity }) => severity === 'error' && /^(json|schema)\./.test(rule)

function readSpec(env, source, argument, as) {
  const document = textOrBytes(source, argument)
  const { findings, kind, complete, incomplete } = env.check(document, { full: false, as })
  const faults = findings.filter(isForm)
  if (faults.length > 0) throw new OpspecError('malformed', `${argument}: ${faults[0].message}`, { findings: faults })
  if (kind !== 'spec') throw new OpspecError('unsupported', `${argument}: of JSON documents only operator-extension documents can be compared, this is ${kind === 'unknown' ? 'of unknown kind' : `a ${kind}`}`)
  if (!complete) throw new OpspecError('limit', `${argument}: ${incomplete[0]}`)
  return readExact(document)
}

// ---- Values --------------------------------------------------------------------------------------------------------

// One text for all spellings of a number: 1, 1.0 and 10e-1.
function exactNumber(text) {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return kept === '' ? '0' : `${sign}${kept}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - kept.length)}`
}

// The value as an attribute of this kind has it, as text: equal texts are equal values.
function valueKey(value, kind) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => valueKey(item, kind)).join(',')}]`
  if (value.$number !== undefined) return /^floats?$/.test(kind) ? String(Math.fround(Number(value.$number))) : exactNumber(value.$number)
  return `{${Object.keys(value).sort().map(key => `${JSON.stringify(key)}:${valueKey(value[key], kind)}`).join(',')}}`
}

const same = (a, b) => valueKey(a, '') === valueKey(b, '')

// For messages.
function shown(value) {
  const text = JSON.stringify(value).replace(/\{"\$number":"([^"]*)"\}/g, '$1')
  return text.length > 60 ? `${[...text].slice(0, 57).join('')}...` : text
}

const list = words => words.map(word => `"${word}"`).join(', ')

// ---- Comparing -----------------------------------------------------------------------------------------------------

const takes = { single: [1, 1], optional: [0, 1], variadic: [0, Infinity] }

// Types without the freedom of their spelling.
const plainType = text => text.replace(/\s+/g, '').replace(/(map\(\w+,)tensor\((\w+)\)/g, '$1$2')

class Comparison {
  constructor(a, b) {
    this.a = a
    this.b = b
    this.changes = []
  }

  add(rule, pointer, message) {
    this.changes.push(change(rule, message, { pointer }))
  }

  // Pointers are those of the second document; where it has no such place, of what contained it.
  run() {
    this.operator()
    this.parameters('inputs', 'input')
    this.parameters('outputs', 'output')
    this.typeSets()
    this.typeSharing()
    this.attributes()
    this.texts()
    return difference(this.changes)
  }

  operator() {
    const standard = name => name === 'ai.onnx' ? '' : name
    for (const key of ['domain', 'op_type', 'overload']) {
      const [before, after] = [this.a.operator[key], this.b.operator[key]]
      if (standard(before) !== standard(after)) this.add('diff.operator.identity', `/operator/${key}`, `${key} was "${before}" and is "${after}".`)
    }
    const [before, after] = [this.a.version, this.b.version]
    if (before === after) return
    const since = text => /^[1-9]\d*$/.test(text) ? BigInt(text) : 1n
    const order = since(after) - since(before)
    const rule = order > 0n ? 'diff.version.since-raised' : order < 0n ? 'diff.version.since-lowered' : 'diff.version.changed'
    this.add(rule, '/version', `The version was ${before} and is ${after}${order === 0n ? '' : `: the since version was ${since(before)} and is ${since(after)}`}.`)
  }

  // ---- Inputs and outputs ------------------------------------------------------------------------------------------

  // [before, after] of what is one parameter in both, by name; a new name in an old name's place is a renaming.
  pairs(key) {
    const [before, after] = [this.a[key], this.b[key]]
    const find = (where, { name }) => where.findIndex(item => item.name === name)
    const out = []
    before.forEach((parameter, i) => {
      let j = find(after, parameter)
      if (j < 0 && after[i] !== undefined && find(before, after[i]) < 0) j = i
      if (j >= 0) out.push([i, j])
    })
    return out
  }

  parameters(key, word) {
    const [before, after] = [this.a[key], this.b[key]]
    const pairs = this.pairs(key)
    const kept = new Set(pairs.map(([i]) => i))
    const old = new Set(pairs.map(([, j]) => j))
    before.forEach(({ name }, i) => {
      if (!kept.has(i)) this.add(`diff.${word}.removed`, `/${key}`, `The ${word} "${name}" was removed.`)
    })
    after.forEach(({ name, cardinality }, j) => {
      if (old.has(j)) return
      const needed = cardinality === 'single'
      this.add(`diff.${word}.${needed ? 'required' : 'optional'}-added`, `/${key}/${j}`, `The ${word} "${name}" is new${needed ? ` and every node has to ${word === 'input' ? 'give' : 'name'} it` : `; it is ${cardinality}`}.`)
    })
    // A place that changed because a parameter before it went or came is told there.
    const gone = i => before.filter((_, at) => at < i && !kept.has(at)).length
    const came = j => after.filter(({ cardinality }, at) => at < j && !old.has(at) && cardinality === 'single').length
    for (const [i, j] of pairs) this.parameter(key, word, i, j, j - i !== came(j) - gone(i))
  }

  parameter(key, word, i, j, moved) {
    const [before, after] = [this.a[key][i], this.b[key][j]]
    const pointer = `/${key}/${j}`
    if (moved) this.add(`diff.${word}.moved`, pointer, `The ${word} "${after.name}" was number ${i} and is number ${j}.`)
    if (before.name !== after.name) this.add(`diff.${word}.renamed`, `${pointer}/name`, `The ${word} "${before.name}" is called "${after.name}" now.`)
    if (before.cardinality !== after.cardinality) {
      const [[oldLow, oldHigh], [low, high]] = [takes[before.cardinality], takes[after.cardinality]]
      const narrowed = low > oldLow || high < oldHigh
      this.add(`diff.${word}.cardinality-${narrowed ? 'narrowed' : 'widened'}`, `${pointer}/cardinality`, `The ${word} "${after.name}" was ${before.cardinality} and is ${after.cardinality}.`)
    }
    this.description(before, after, pointer, `The ${word} "${after.name}"`)
  }

  description(before, after, pointer, what) {
    if (before.description !== after.description) this.add('diff.text.description', `${pointer}/description`, `${what} is described in other words.`)
  }

  // ---- Types -------------------------------------------------------------------------------------------------------

  // All parameters that are in both: { key, i, j, before, after } with the names of their type parameters.
  get typed() {
    return ['inputs', 'outputs'].flatMap(key => this.pairs(key).map(([i, j]) => ({ key, i, j, name: this.b[key][j].name, before: this.a[key][i].type_parameter, after: this.b[key][j].type_parameter })))
  }

  // Allowed types by their plain spelling; null = any, or an unknown type parameter.
  static types(spec, name) {
    const parameter = name === null || !Object.hasOwn(spec.type_parameters, name) ? undefined : spec.type_parameters[name]
    return parameter === undefined ? null : new Map(parameter.allowed_types.map(type => [plainType(type), type]))
  }

  typeSets() {
    const groups = new Map()
    for (const item of this.typed) {
      const id = JSON.stringify([item.before, item.after])
      if (!groups.has(id)) groups.set(id, [])
      groups.get(id).push(item)
    }
    for (const group of groups.values()) this.typeSet(group)
    for (const [name, parameter] of Object.entries(this.b.type_parameters)) {
      if (Object.hasOwn(this.a.type_parameters, name)) this.description(this.a.type_parameters[name], parameter, `/type_parameters/${name}`, `The type parameter "${name}"`)
    }
  }

  typeSet(group) {
    const [{ before, after, key, j }] = group
    const [old, now] = [Comparison.types(this.a, before), Comparison.types(this.b, after)]
    const names = list(group.map(({ name }) => name))
    const pointer = now === null ? `/${key}/${j}/type_parameter` : `/type_parameters/${after}/allowed_types`
    const missing = (from, to) => [...from].filter(([type]) => !to.has(type)).map(([, type]) => type)
    if (old === null && now === null) return
    if (old === null) this.add('diff.type.narrowed', pointer, `${names} had any type and allows ${[...now.values()].join(', ')} now.`)
    else if (now === null) this.add('diff.type.widened', pointer, `${names} had a set of types and has any now.`)
    else {
      const [gone, fresh] = [missing(old, now), missing(now, old)]
      if (gone.length > 0) this.add('diff.type.narrowed', pointer, `${gone.join(', ')} is no longer allowed for ${names}.`)
      if (fresh.length > 0) this.add('diff.type.widened', pointer, `${names} allows ${fresh.join(', ')}, too.`)
      if (gone.length === 0 && fresh.length === 0 && before !== after && !Object.hasOwn(this.a.type_parameters, after) && !Object.hasOwn(this.b.type_parameters, before)) {
        this.add('diff.type.renamed', pointer.replace(/\/allowed_types$/, ''), `The type parameter "${before}" is called "${after}" now.`)
      }
    }
  }

  // Who shares a type with whom. With one allowed type there is nothing to share.
  typeSharing() {
    const { typed } = this
    const several = (spec, name) => (Comparison.types(spec, name)?.size ?? 0) > 1
    typed.forEach((item, at) => {
      const earlier = typed.slice(0, at)
      const partners = (spec, when) => several(spec, item[when]) ? earlier.filter(other => other[when] === item[when]) : []
      const [old, now] = [partners(this.a, 'before'), partners(this.b, 'after')]
      const lost = old.filter(other => !now.includes(other) && several(this.b, item.after))
      const won = now.filter(other => !old.includes(other) && several(this.a, item.before))
      const pointer = `/${item.key}/${item.j}/type_parameter`
      const names = others => list(others.map(({ name }) => name))
      if (item.key === 'outputs') {
        // With one input that stays its type stays.
        const inputs = others => others.filter(({ key }) => key === 'inputs')
        const stays = inputs(now).some(other => old.includes(other))
        if (!stays && inputs([...lost, ...won]).length > 0) this.add('diff.type.output-rule', pointer, `The output "${item.name}" had the type of ${names(inputs(old)) || 'no input'} and has that of ${names(inputs(now)) || 'no input'}.`)
        return
      }
      if (won.length > 0) this.add('diff.type.joined', pointer, `The input "${item.name}" must have the type of ${names(won)} now.`)
      if (lost.length > 0) this.add('diff.type.separated', pointer, `The input "${item.name}" need not have the type of ${names(lost)} any more.`)
    })
  }

  // ---- Attributes --------------------------------------------------------------------------------------------------

  attributes() {
    const [before, after] = [this.a.attributes, this.b.attributes]
    for (const name of Object.keys(before)) {
      if (!Object.hasOwn(after, name)) this.add('diff.attribute.removed', '/attributes', `The attribute "${name}" was removed.`)
    }
    for (const [name, attribute] of Object.entries(after)) {
      const pointer = `/attributes/${name}`
      if (Object.hasOwn(before, name)) this.attribute(name, before[name], attribute, pointer)
      else if (attribute.required) this.add('diff.attribute.required-added', pointer, `The attribute "${name}" is new and every node has to write it.`)
      else this.add('diff.attribute.optional-added', pointer, `The attribute "${name}" is new; it may be left out.`)
    }
  }

  attribute(name, before, after, pointer) {
    this.description(before, after, pointer, `The attribute "${name}"`)
    if (!before.required && after.required) this.add('diff.attribute.made-required', `${pointer}/required`, `The attribute "${name}" can no longer be left out.`)
    if (before.required && !after.required) this.add('diff.attribute.made-optional', `${pointer}/required`, `The attribute "${name}" can be left out.`)
    if (before.kind !== after.kind) {
      this.add('diff.attribute.kind', `${pointer}/kind`, `The attribute "${name}" was of kind ${before.kind} and is of kind ${after.kind}.`)
      return
    }
    const key = value => valueKey(value, after.kind)
    if (!before.required && !after.required && key(before.default) !== key(after.default)) {
      this.add('diff.attribute.default', `${pointer}/default`, `The default of "${name}" was ${shown(before.default)} and is ${shown(after.default)}.`)
    }
    this.values(name, before.allowed_values, after.allowed_values, key, `${pointer}/allowed_values`)
  }

  values(name, before, after, key, pointer) {
    if (before === null && after === null) return
    const missing = (from, to) => {
      const known = new Set(to.map(key))
      return from.filter(value => !known.has(key(value)))
    }
    if (before === null) this.add('diff.attribute.values-narrowed', pointer, `The attribute "${name}" took every value and takes ${shown(after)} now.`)
    else if (after === null) this.add('diff.attribute.values-widened', pointer, `The attribute "${name}" takes every value now.`)
    else {
      const [gone, fresh] = [missing(before, after), missing(after, before)]
      if (gone.length > 0) this.add('diff.attribute.values-narrowed', pointer, `The attribute "${name}" no longer takes ${gone.map(shown).join(', ')}.`)
      if (fresh.length > 0) this.add('diff.attribute.values-widened', pointer, `The attribute "${name}" takes ${fresh.map(shown).join(', ')}, too.`)
    }
  }

  // ---- The rest ----------------------------------------------------------------------------------------------------

  texts() {
    const { a, b } = this
    const changed = key => !same(a[key], b[key])
    if (changed('name')) this.add('diff.text.description', '/name', `The name was "${a.name}" and is "${b.name}".`)
    if (changed('authority')) this.add('diff.authority.changed', '/authority', `The authority was ${a.authority} and is ${b.authority}.`)
    if (changed('reference')) this.add('diff.reference.changed', '/reference', `The reference ${a.reference === null ? 'is new' : b.reference === null ? 'was removed' : 'changed'}.`)
    if (changed('tests')) this.add('diff.tests.changed', '/tests', `The evidence was ${shown(a.tests)} and is ${shown(b.tests)}.`)
    for (const key of ['input_conditions', 'shape_rules']) this.entries(key)
    for (const key of ['boundary_behavior', 'numerical_behavior', 'nondeterminism', 'state_effects']) {
      if (changed(key)) this.add('diff.text.behavior', `/${key}`, `${key} was ${shown(a[key])} and is ${shown(b[key])}.`)
    }
  }

  entries(key) {
    const [before, after] = [this.a[key], this.b[key]]
    for (const text of before) if (!after.includes(text)) this.add('diff.text.condition', `/${key}`, `${key} no longer says ${shown(text)}.`)
    after.forEach((text, i) => {
      if (!before.includes(text)) this.add('diff.text.condition', `/${key}/${i}`, `${key} says ${shown(text)} now.`)
    })
  }
}

/** Env.diff. */
export function diff(env, engine, a, b, given) {
  const { as } = optionsOf(given)
  if (as !== undefined) stringArgument(as, 'as')
  const documents = diffDocuments(env, engine, a, b, given)
  return documents ?? new Comparison(readSpec(env, a, 'a', as), readSpec(env, b, 'b', as)).run()
}
