// The same for a host that speaks Promises: a failed program resolves, misuse rejects.
import { PromiseAdapter, WorkerThread } from "effect-code-runtime"

await using runtime = await PromiseAdapter.make(WorkerThread.layer())

const bindings: ReadonlyArray<PromiseAdapter.PromiseBindingNamespace> = [
  {
    global: "tools",
    functions: {
      add: (args) => {
        if (typeof args === "object" && args !== null && "a" in args && "b" in args)
          return Number(args.a) + Number(args.b)
        throw new Error("add takes { a, b }")
      },
      // The signal aborts when nobody waits for the answer any more.
      wait: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
    },
    errorClass: { name: "ToolError", memberNameProperty: "tool" }
  }
]

console.log(await runtime.run({ program: "return await tools.add({ a: 1, b: 2 })", bindings }))

const failed = await runtime.run({
  program:
    "try { await tools.add([]) } catch (error) { console.log(error instanceof ToolError, error.tool) }\nmissing()",
  bindings
})
console.log(failed.logs, failed.error?.kind)
console.log(failed.error?.message)

const stop = new AbortController()
setTimeout(() => stop.abort("the user pressed stop"), 50)
console.log(await runtime.run({ program: "await tools.wait()", bindings, signal: stop.signal }))
