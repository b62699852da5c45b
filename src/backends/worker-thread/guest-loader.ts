/**
 * The entry of a guest thread of the built library: runs the guest's code as V8 has compiled it before, where that was given.
 */
import { MessagePort, workerData } from "node:worker_threads"

const { code, compiled, compiler }: { readonly [name: string]: unknown } = workerData
delete workerData.code
delete workerData.compiled
delete workerData.compiler
if (typeof code !== "string") throw new Error("a guest thread is started by its launcher")

const { Script } = process.getBuiltinModule("node:vm")
const script = new Script(code, {
  filename: "code-runtime",
  ...(compiled instanceof Uint8Array ? { cachedData: compiled } : {})
})
const guest: unknown = script.runInThisContext()
if (typeof guest !== "function") throw new Error("the code of a guest is a function")
guest(require)

// Only a thread that no program comes to is asked for what V8 has compiled by then.
if (compiler instanceof MessagePort) {
  compiler.once("message", () => {
    compiler.postMessage(script.createCachedData())
    compiler.close()
  })
}
