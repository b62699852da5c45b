/**
 * Ends a compilation that takes too much memory before V8 does: a thread that reaches the limit of its heap usually ends
 * alone, but where it allocates on before V8 gets to stop it, V8 ends the whole process.
 */
import { getHeapStatistics } from "node:v8"
import ts from "typescript"

/** Thrown at the first syntax node for which there is no memory left. */
export class OutOfHeap extends Error {}

/** A look at the heap takes some microseconds, a node about one. */
const nodesBetweenLooks = 1_024

let highest = Infinity
let nodes = 0

/** The bytes of the heap that are in use, those that V8 has not collected yet included. */
export const heapBytes = (): number => getHeapStatistics().used_heap_size

const look = (): void => {
  nodes += 1
  if (nodes % nodesBetweenLooks === 0 && heapBytes() > highest) throw new OutOfHeap()
}

/** The heap may grow by so many bytes until this is said again. Throws `OutOfHeap` out of whatever makes nodes then. */
export const grant = (bytes: number): void => {
  highest = heapBytes() + bytes
}

type Maker = new (first: unknown, second: unknown, third: unknown) => object

const isMaker = (value: unknown): value is Maker => typeof value === "function"

// Parser, binder and transformers make all their nodes and symbols by these, and take them anew or for the first time later.
const allocator: unknown = Reflect.get(ts, "objectAllocator")
if (typeof allocator !== "object" || allocator === null) throw new Error("TypeScript has no object allocator")
for (const kind of ["Node", "Token", "Identifier", "PrivateIdentifier", "Symbol"]) {
  const name = `get${kind}Constructor`
  const get: unknown = Reflect.get(allocator, name)
  const made: unknown = typeof get === "function" ? Reflect.apply(get, allocator, []) : undefined
  if (!isMaker(made)) throw new Error(`TypeScript has no ${name}`)
  const counted = class extends made {
    constructor(first: unknown, second: unknown, third: unknown) {
      super(first, second, third)
      look()
    }
  }
  Reflect.set(allocator, name, () => counted)
}
