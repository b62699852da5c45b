/**
 * A proof by Node that an array has no keys beside its indices and its length: a million of them are looked at in no time
 * where Node is told to leave the elements out, and in a fifth of a second where V8 lists the keys.
 */

/** To list the keys of so many elements costs more than to let Node show the others. */
const manyElements = 1000

// A program can replace what a module exports, not what was taken from it before.
const { inspect, types } = process.getBuiltinModule("node:util")
const { isProxy } = types
const { freeze } = Object
const { getOwnPropertyDescriptor, getPrototypeOf, has } = Reflect
const { toStringTag: tag, hasInstance } = Symbol
const ArrayConstructor = Array
const arrayPrototype = Array.prototype
const objectPrototype = Object.prototype
const functionPrototype = Function.prototype

const keysAlone = freeze({
  maxArrayLength: 0,
  showHidden: true,
  depth: 0,
  customInspect: false,
  colors: false,
  numericSeparator: false,
  compact: 3,
  breakLength: Number.POSITIVE_INFINITY
})

/** What Node shows of a dense array without its elements; any other text proves nothing. */
const textOfDenseArray = (length: number): string => `[ ... ${length} more items, [length]: ${length} ]`

const valueOf = (object: object, key: string): unknown => getOwnPropertyDescriptor(object, key)?.value

/** Whether Node would run nothing of the program's to find the name of an ordinary array. */
const isCalledArray = (array: ReadonlyArray<unknown>): boolean =>
  getOwnPropertyDescriptor(array, "constructor") === undefined &&
  getPrototypeOf(array) === arrayPrototype &&
  getPrototypeOf(arrayPrototype) === objectPrototype &&
  !has(array, tag) &&
  valueOf(arrayPrototype, "constructor") === ArrayConstructor &&
  valueOf(ArrayConstructor, "name") === "Array" &&
  getOwnPropertyDescriptor(ArrayConstructor, hasInstance) === undefined &&
  getPrototypeOf(ArrayConstructor) === functionPrototype

/** Whether Node shows nothing of a long array but how many elements it has; holes are not looked for. */
export const isDense = (array: ReadonlyArray<unknown>): boolean =>
  array.length > manyElements &&
  !isProxy(array) &&
  isCalledArray(array) &&
  inspect(array, keysAlone) === textOfDenseArray(array.length)
