// Makes a realm safe from what is about to run in it: after shutRealm the language's objects, and what else the globals lead to,
// cannot be changed, so that code of this package in the same realm finds what it was written for. Only for realms that
// end with the job, as nothing of it can be undone.

const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect

const isObject = value => (typeof value === 'object' && value !== null) || typeof value === 'function'

// Objects of the language that no global names.
function hidden() {
  const iterators = [[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](), 'x'.matchAll(/x/g)]
  const functions = [() => {}, function * () {}, async () => {}, async function * () {}]
  return [...iterators, ...functions, (function * () {})(), (async function * () {})(), new Uint8Array(0), (function () { return arguments })()].map(getPrototypeOf)
}

// Assigning to a name that a frozen prototype has is refused, where it used to make a property of the object's own:
// `error.name = 'MyError'`. For the prototypes of nearly everything it goes on doing that, and for what classes in the old style
// set of others.
function letOverride(prototype, keys = ownKeys(prototype)) {
  for (const key of keys) {
    const { value, writable, configurable, enumerable } = getOwnPropertyDescriptor(prototype, key) ?? {}
    if (!writable || !configurable) continue
    const get = () => value
    const set = function (other) {
      if (this === prototype || !isObject(this)) throw new TypeError(`${String(key)} of the language cannot be changed here`)
      defineProperty(this, key, { value: other, writable: true, enumerable: true, configurable: true })
    }
    defineProperty(prototype, key, { get, set, enumerable, configurable: true })
  }
}

// Everything that can be reached from these by names, prototypes, getters and setters, the global object itself excepted.
function reachable(roots) {
  const seen = new Set([globalThis])
  const stack = [...roots]
  while (stack.length > 0) {
    const item = stack.pop()
    if (!isObject(item) || seen.has(item)) continue
    seen.add(item)
    stack.push(getPrototypeOf(item))
    for (const key of ownKeys(item)) {
      const { value, get, set } = getOwnPropertyDescriptor(item, key)
      stack.push(value, get, set)
    }
  }
  seen.delete(globalThis)
  return seen
}

// With whole descriptors: contexts of Node take a name without a value for undefined.
function lockGlobals() {
  for (const key of ownKeys(globalThis)) {
    const { configurable, ...rest } = getOwnPropertyDescriptor(globalThis, key)
    if (configurable) defineProperty(globalThis, key, { ...rest, configurable: false, ...'value' in rest && { writable: false } })
  }
}

const others = [Array, Map, Set, Promise, RegExp, String, Number, Date, getPrototypeOf(Uint8Array), ArrayBuffer]
const native = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError]

/** Once, before any code that is not trusted. @param {object[]} more objects that such code will be given */
export function shutRealm(more) {
  const globals = ownKeys(globalThis).flatMap(key => Object.values(getOwnPropertyDescriptor(globalThis, key)))
  const all = reachable([...globals, getPrototypeOf(globalThis), ...hidden(), ...more])
  for (const { prototype } of [Object, Function, ...native]) letOverride(prototype)
  for (const { prototype } of others) letOverride(prototype, ['constructor', 'toString', 'valueOf'])
  for (const item of reachable([...all])) {
    try {
      Object.freeze(item)
    } catch {
      // An array buffer's view with elements: none of the language's.
    }
  }
  lockGlobals()
}

