/**
 * The rule of lossless JSON for JavaScript values: one check and one writer, used by the host and inside every
 * JavaScript guest.
 *
 * Inside a guest a hostile program may replace any intrinsic, so this module captures what it needs when it is loaded,
 * uses no iterator and no array method afterwards, and keeps its working lists without a prototype.
 */

/** A value that JSON can carry without loss. */
export type Json = null | boolean | number | string | JsonArray | JsonObject

/** A dense list of JSON values. */
export interface JsonArray extends ReadonlyArray<Json> {}

/** An object of JSON values. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Why a value is not lossless JSON: where, what it is, and what to write instead. */
export interface Offence {
  readonly path: string
  readonly message: string
}

/**
 * Whether something other than the list of its keys proves that an array has none but its indices and its length; false
 * proves nothing. To list the keys of a long array makes a string of each index.
 */
export type DenseProof = (array: ReadonlyArray<unknown>) => boolean

const nothingProven: DenseProof = () => false

/** The answer of {@link inspect}: lossless, longer than the cap, or an offence. */
export type Inspection = "lossless" | "oversize" | Offence

const { ownKeys, get, getOwnPropertyDescriptor, getPrototypeOf, has, apply } = Reflect
const { setPrototypeOf, is, freeze, keys: enumerableNames, getOwnPropertyNames, getOwnPropertySymbols } = Object
const { isArray } = Array
const { isFinite } = Number
const stringifyNative = JSON.stringify
const parseNative = JSON.parse
const objectPrototype = Object.prototype
const arrayPrototype = Array.prototype
const StringConstructor = String
const SetConstructor = Set
const setHas = Set.prototype.has
const setAdd = Set.prototype.add
const setDelete = Set.prototype.delete
const slice = String.prototype.slice
const isIdentifier = RegExp.prototype.test
const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/u
const byteLengthNative: (text: string) => number = Buffer.byteLength
const { call } = Function.prototype
/** The getter of a property, found without calling it and without a descriptor for each property of each object. */
const getterOf: (container: object, key: string | number) => unknown = call.bind(
  getOwnPropertyDescriptor(objectPrototype, "__lookupGetter__")?.value
)
const isEnumerable: (container: object, key: string | number) => boolean = call.bind(
  objectPrototype.propertyIsEnumerable
)

/** A list that no setter on `Array.prototype` can reach. */
const bareList = <A>(): Array<A> => setPrototypeOf([], null)

/** Cycles are looked for only below this depth: every cycle reaches it, and no ordinary value pays for the search. */
const depthOfCycleSearch = 500

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function"

const isPlainPrototype = (prototype: object | null): boolean =>
  prototype === objectPrototype ||
  prototype === null ||
  // Object.prototype of another realm
  (getPrototypeOf(prototype) === null && getOwnPropertyDescriptor(prototype, "__lookupGetter__") !== undefined)

const isPlainArrayPrototype = (prototype: object | null): boolean =>
  prototype === arrayPrototype ||
  // Array.prototype of another realm is an array itself; the prototype of a subclass is not
  (prototype !== null && isArray(prototype) && isPlainPrototype(getPrototypeOf(prototype)))

interface Place {
  readonly container: object
  /** The names of an object's properties; an array has none. */
  readonly keys: ReadonlyArray<string | symbol> | undefined
  readonly length: number
  next: number
}

/** The working list of the last walk, for the next one: a list without a prototype costs more than a small walk. */
let spare: Array<Place> | undefined = bareList()

/** Takes the working list; a walk inside a walk, from the trap of a proxy, finds none and makes its own. */
const takeSpare = (): Array<Place> => {
  const places = spare ?? bareList<Place>()
  spare = undefined
  return places
}

const putSpare = (places: Array<Place>): void => {
  // Emptied, so that nothing of the value lives on.
  places.length = 0
  spare = places
}

const keyAt = (place: Place, index: number): string | number => {
  if (place.keys === undefined) return index
  const key = place.keys[index]
  return typeof key === "string" ? key : ""
}

const step = (key: string | number): string =>
  typeof key === "number"
    ? `[${key}]`
    : key.length <= 60 && apply(isIdentifier, identifier, [key])
      ? `.${key}`
      : `[${stringifyNative(key.length > 60 ? `${apply(slice, key, [0, 60])}...` : key)}]`

const stepsShown = 12

/** The path to the value that the innermost place is at, with a long middle left out. */
const pathTo = (root: string, places: ReadonlyArray<Place>, depth: number): string => {
  let path = root
  for (let i = 0; i < depth; i++) {
    if (i === stepsShown && depth > 2 * stepsShown) {
      path += "..."
      i = depth - stepsShown
    }
    const place = places[i]
    if (place !== undefined) path += step(keyAt(place, place.next - 1))
  }
  return path
}

const nameOfClass = (value: object): string => {
  for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
    const constructor = getOwnPropertyDescriptor(prototype, "constructor")?.value
    if (typeof constructor !== "function") continue
    const name = getOwnPropertyDescriptor(constructor, "name")?.value
    if (typeof name === "string" && name !== "") return name.length > 60 ? `${apply(slice, name, [0, 60])}...` : name
  }
  return "object of no known class"
}

/** What to write in place of an instance of a well-known class; `@` stands for it, `^` for what is done with it. */
const remedies: Readonly<Record<string, string>> = freeze<Record<string, string>>(
  setPrototypeOf(
    {
      Date: "^ @.toISOString()",
      Map: "^ Object.fromEntries(@), or [...@] to keep keys that are not strings",
      Set: "^ [...@]",
      WeakMap: "leave it out",
      WeakSet: "leave it out",
      WeakRef: "leave it out",
      Promise: "await it: await @",
      RegExp: "^ @.source",
      URL: "^ @.href",
      URLSearchParams: "^ @.toString()",
      Buffer: "^ @.toString('base64'), or Array.from(@)",
      ArrayBuffer: "^ Array.from(new Uint8Array(@))",
      SharedArrayBuffer: "^ Array.from(new Uint8Array(@))",
      DataView: "^ Array.from(new Uint8Array(@.buffer))",
      BigInt64Array: "^ Array.from(@, String)",
      BigUint64Array: "^ Array.from(@, String)",
      Response: "await its body: await @.json()",
      Headers: "^ Object.fromEntries(@)",
      String: "^ String(@)",
      Number: "^ Number(@)",
      Boolean: "^ @.valueOf()"
    },
    null
  )
)

const errorSuffix = /Error$|Exception$/u
const typedArray = /^(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array$/u

/** What to do with a value, `it`, in place of giving it as it is; `verb` says whether it is returned or passed. */
const remedyFor = (name: string, it: string, verb: string): string => {
  const known = remedies[name]
  if (known !== undefined) {
    let text = ""
    for (let i = 0; i < known.length; i++) text += known[i] === "@" ? it : known[i] === "^" ? verb : known[i]
    return text
  }
  if (apply(isIdentifier, typedArray, [name])) return `${verb} Array.from(${it})`
  if (apply(isIdentifier, errorSuffix, [name])) return `${verb} { name: ${it}.name, message: ${it}.message }`
  return `${verb} a plain object, such as { ...${it} }`
}

const article = (name: string): string => {
  const first = name[0] ?? ""
  return first === "A" || first === "E" || first === "I" || first === "O" ? `an ${name}` : `a ${name}`
}

/** A value as its remedy calls it: by its last name and what follows, `rows[3].at` as `at`; by its path where it has none. */
const shortName = (path: string): string => {
  for (let i = path.length - 1; i > 0; i--) {
    if (path[i] === '"') return path
    if (path[i] === ".") return path[i - 1] === "." ? path : apply(slice, path, [i + 1])
  }
  return path
}

/** What a value that may stand in no JSON is, in words, with the remedy. */
const describe = (value: unknown, path: string, root: string, verb: string): string => {
  const it = shortName(path)
  switch (typeof value) {
    case "undefined":
      return path === root ? `${path} is undefined; ${verb} null` : `${path} is undefined; leave it out or ${verb} null`
    case "number":
      return is(value, -0)
        ? `${path} is -0, which JSON does not keep; ${verb} 0`
        : `${path} is ${StringConstructor(value)}; ${verb} null or a finite number`
    case "bigint":
      return `${path} is a bigint; ${verb} String(${it}), or Number(${it}) if it is small`
    case "symbol":
      return `${path} is a symbol; ${verb} its description or leave it out`
    case "function":
      return `${path} is a function; call it, or leave it out`
    default: {
      const name = isObject(value) ? nameOfClass(value) : typeof value
      return `${path} is ${article(name)}; ${remedyFor(name, it, verb)}`
    }
  }
}

/**
 * Judges a value: may it cross as JSON without loss, in at most `cap` bytes?
 *
 * `root` is what the path of an offence starts with: `argument` for what is passed, any other name for what is returned. Depth is unbounded; a shared value counts as often as it would be
 * written. `oversize` is certain, `lossless` may still be longer than the cap once it is written: text is metered by its
 * bytes, this pass stops early at values that are surely too long. `isDense` may spare it the keys of arrays.
 */
export const inspect = (value: unknown, root: string, cap: number, isDense: DenseProof = nothingProven): Inspection => {
  if (typeof value !== "object" || value === null) {
    return measureScalar(value) <= cap ? "lossless" : walk(value, root, cap, noPlaces)
  }
  if (measure(value, depthOfMeasure, cap, isDense) <= cap) return "lossless"
  const places = takeSpare()
  const found = walk(value, root, cap, places)
  putSpare(places)
  return found
}

const noPlaces: Array<Place> = bareList()

/** Depth of the values that {@link measure} knows: deep enough for ordinary ones, and no stack is used up by it. */
const depthOfMeasure = 64

/** At most no cap, not even an infinite one; a sum with it stays so. */
const unknownSize = Number.NaN

/** The units of a value that holds no others, `unknownSize` where it is not lossless. */
const measureScalar = (value: unknown): number => {
  if (typeof value === "string") return value.length + 1
  if (typeof value === "number") return isFinite(value) && !is(value, -0) ? 1 : unknownSize
  return typeof value === "boolean" || value === null ? 1 : unknownSize
}

/**
 * The units of an object or array that is lossless at a glance, as {@link walk} counts them; `unknownSize` for every other
 * one, which the walk then judges, and any number above `cap` once it is passed. It keeps no places, so that ordinary
 * values cost much less than by the walk.
 */
const measure = (container: object, depth: number, cap: number, isDense: DenseProof): number => {
  if (depth === 0) return unknownSize
  const prototype = getPrototypeOf(container)
  let units = 1
  if (isArray(container)) {
    const { length } = container
    if (prototype !== arrayPrototype || !(isDense(container) || ownKeys(container).length === length + 1)) {
      return unknownSize
    }
    // As many keys as a dense array has, and an index each that is found: so they are the indices and the length.
    for (let i = 0; i < length && units <= cap; i++) {
      if (!isEnumerable(container, i) || getterOf(container, i) !== undefined) return unknownSize
      const item: unknown = container[i]
      units +=
        typeof item === "object" && item !== null ? measure(item, depth - 1, cap - units, isDense) : measureScalar(item)
    }
    return units
  }
  if (prototype !== objectPrototype && prototype !== null) return unknownSize
  // Two lists that V8 has at hand; that of all keys is made anew each time.
  const names = enumerableNames(container)
  if (getOwnPropertyNames(container).length !== names.length || getOwnPropertySymbols(container).length > 0) {
    return unknownSize
  }
  for (let i = 0; i < names.length && units <= cap; i++) {
    const name = names[i] ?? ""
    // With no getter nothing runs; what has a setter alone reads as undefined, which the walk judges.
    if (getterOf(container, name) !== undefined) return unknownSize
    const item: unknown = get(container, name)
    units +=
      name.length +
      1 +
      (typeof item === "object" && item !== null ? measure(item, depth - 1, cap - units, isDense) : measureScalar(item))
  }
  return units
}

const walk = (value: unknown, root: string, cap: number, places: Array<Place>): Inspection => {
  let depth = 0
  let units = 0
  let onPath: Set<object> | undefined
  let current = value
  // A value is returned, by a program or a host function, or it is passed as an argument.
  const verb = root === "argument" ? "pass" : "return"

  const offence = (message: (path: string) => string): Offence => {
    const path = pathTo(root, places, depth)
    return { path, message: message(path) }
  }

  for (;;) {
    // Judge `current`, which stands at the place on top.
    units++
    switch (typeof current) {
      case "string":
        units += current.length
        break
      case "boolean":
        break
      case "number":
        if (!isFinite(current) || is(current, -0)) return offence((path) => describe(current, path, root, verb))
        break
      case "object": {
        if (current === null) break
        const container = current
        const prototype = getPrototypeOf(container)
        if (depth >= depthOfCycleSearch) {
          if (onPath === undefined) {
            onPath = new SetConstructor()
            for (let i = 0; i < depth; i++) apply(setAdd, onPath, [places[i]?.container])
          }
          if (apply(setHas, onPath, [container])) {
            return cycleOffence(places, depth, root, container)
          }
          apply(setAdd, onPath, [container])
        }
        if (isArray(container)) {
          if (!isPlainArrayPrototype(prototype)) return offence((path) => describe(container, path, root, verb))
          const extra = extraOfArray(container)
          if (extra !== undefined) {
            return offence((path) =>
              extra === hole
                ? `${path} has a hole; fill it with null`
                : `${path} is an array with the extra property ${extra}; use an object, or leave the property out`
            )
          }
          places[depth++] = { container, keys: undefined, length: container.length, next: 0 }
        } else {
          if (!isPlainPrototype(prototype)) return offence((path) => describe(container, path, root, verb))
          const keys = ownKeys(container)
          places[depth++] = { container, keys, length: keys.length, next: 0 }
        }
        break
      }
      default:
        return offence((path) => describe(current, path, root, verb))
    }
    if (units > cap) return "oversize"

    // Go to the next value.
    for (;;) {
      if (depth === 0) return "lossless"
      const place = places[depth - 1]
      if (place === undefined) return "lossless"
      if (place.next < place.length) {
        const key = place.keys === undefined ? place.next : place.keys[place.next]
        place.next++
        if (typeof key === "symbol" || key === undefined) {
          depth--
          return offence((path) => `${path} has a symbol as a key; use a string`)
        }
        const own = getOwnPropertyDescriptor(place.container, key)
        if (own === undefined) return offence((path) => `${path} is a hole; fill it with null`)
        if (own.get !== undefined || own.set !== undefined) {
          return offence((path) => `${path} is a getter or a setter; return its value, such as { ...object }`)
        }
        if (own.enumerable !== true) {
          return offence((path) => `${path} is not enumerable; make it an ordinary property or leave it out`)
        }
        if (typeof key === "string") units += key.length + 1
        current = own.value
        break
      }
      depth--
      if (onPath !== undefined) apply(setDelete, onPath, [place.container])
    }
  }
}

/** A cycle's path, as short as it can be told: the first way back to the container. */
const cycleOffence = (places: ReadonlyArray<Place>, depth: number, root: string, container: object): Offence => {
  // Every container of the cycle is met again below; the first repeat of any container is the shortest account.
  const seen = new SetConstructor<object>()
  let end = 0
  let repeated = container
  for (; end < depth; end++) {
    const here = places[end]?.container
    if (here === undefined) continue
    if (apply(setHas, seen, [here])) {
      repeated = here
      break
    }
    apply(setAdd, seen, [here])
  }
  let first = 0
  while (first < end && places[first]?.container !== repeated) first++
  const path = pathTo(root, places, end)
  const back = pathTo(root, places, first)
  return { path, message: `${path} is ${back} again, a cycle; leave it out or use an id in its place` }
}

const hole = -1

/** A named property of an array, or `hole`; undefined for a dense array without extra properties. */
const extraOfArray = (array: ReadonlyArray<unknown>): string | typeof hole | undefined => {
  const keys = ownKeys(array)
  const expected = array.length + 1 // the indices, then "length"
  if (keys.length === expected && keys[array.length] === "length") return undefined
  for (let i = 0, index = 0; i < keys.length; i++) {
    const key = keys[i]
    if (key === "length") continue
    if (index < array.length && key === StringConstructor(index)) {
      index++
      continue
    }
    if (typeof key === "symbol") return "of a symbol"
    if (index < array.length) return undefined // a hole: the walk names its index
    return key ?? hole
  }
  return undefined
}

/** Whether a `toJSON` that native `JSON.stringify` would call can be reached from a plain value. */
const toJsonIsPlanted = (): boolean => has(objectPrototype, "toJSON") || has(arrayPrototype, "toJSON")

/**
 * The JSON text of a value that {@link inspect} found lossless: what `JSON.stringify` writes, at any depth, and with no
 * `toJSON` ever called.
 *
 * Throws a RangeError when the text would be longer than the engine's longest string.
 */
export const stringify = (value: Json): string => {
  if (typeof value !== "object" || value === null) return stringifyNative(value)
  if (!toJsonIsPlanted()) {
    try {
      const text = stringifyNative(value)
      // An own `toJSON` is data here, never a function; a foreign realm's prototype may still have planted one.
      if (typeof text === "string") return text
    } catch {
      // Too deep for the native writer, which recurses; or too long, which the loop below meets again.
    }
  }
  return stringifyByLoop(value)
}

const stringifyByLoop = (value: Json): string => {
  const places = bareList<Place>()
  let depth = 0
  let text = ""
  let current: unknown = value
  for (;;) {
    if (typeof current === "object" && current !== null) {
      const list = isArray(current)
      const keys = list ? undefined : ownKeys(current)
      const length = isArray(current) ? current.length : (keys?.length ?? 0)
      places[depth++] = { container: current, keys, length, next: 0 }
      text += list ? "[" : "{"
    } else {
      text += stringifyNative(current)
    }
    for (;;) {
      const place = places[depth - 1]
      if (depth === 0 || place === undefined) return text
      if (place.next < place.length) {
        const key = keyAt(place, place.next)
        if (place.next > 0) text += ","
        place.next++
        if (typeof key === "string") text += `${stringifyNative(key)}:`
        current = getOwnPropertyDescriptor(place.container, key)?.value
        break
      }
      text += place.keys === undefined ? "]" : "}"
      depth--
    }
  }
}

/** The value of a JSON text, at any depth. Throws a SyntaxError for anything else. */
export const parse = (text: string): unknown => parseNative(text)

/** UTF-8 bytes of a text. */
export const utf8Bytes = (text: string): number => byteLengthNative(text)

/** Exact UTF-8 bytes of a lossless value's JSON text. */
export const jsonBytes = (value: Json): number => byteLengthNative(stringify(value))
