/**
 * Compiler threads that a host starts before it has loaded anything else: where a process is started for one program,
 * the compiler's boot is most of what is waited for.
 */
import * as CompilerThreads from "./CompilerThreads.ts"

/** The threads of a compiler that says nothing of its own. */
export const defaults: CompilerThreads.Options = {
  entry: new URL(import.meta.url.endsWith(".ts") ? "./compiler-thread.ts" : "./compiler-thread.js", import.meta.url),
  timeLimitMs: 10_000,
  patienceMs: 50,
  idleMs: 5_000,
  maxThreads: 3,
  maxMemoryMb: 512,
  stackSizeMb: 64
}

let prepared: CompilerThreads.CompilerThreads | undefined

/** Starts the first thread now; the next compiler takes it. One that nobody takes keeps no host alive. */
export const prepare = (): void => {
  prepared ??= CompilerThreads.make(defaults)
}

/** The threads that were prepared, once; otherwise new ones. */
export const take = (): CompilerThreads.CompilerThreads => {
  const threads = prepared ?? CompilerThreads.make(defaults)
  prepared = undefined
  return threads
}
