/**
 * A host in a process of its own: it runs each program that it is told, and tells what came of it. Whatever a program
 * does to it, the test lives. Its argument is `computeMs`.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { PromiseAdapter, WorkerThread } from "../../src/index.ts"

/** What the host is asked. */
export interface Order {
  readonly program: string
}

/** What it tells. */
export interface Told {
  readonly outcome: PromiseAdapter.PromiseRunResult
  /** What the run after it returned. */
  readonly next: unknown
  /** The longest time for which the host's event loop did not turn, in milliseconds. */
  readonly stalledMs: number
  /** Errors that reached the host itself. */
  readonly trouble: ReadonlyArray<string>
}

const trouble: Array<string> = []
process.on("uncaughtException", (error) => trouble.push(`uncaught: ${String(error)}`))
process.on("unhandledRejection", (error) => trouble.push(`unhandled: ${String(error)}`))

const [, , computeMs = 1000] = process.argv.map(Number)
const runtime = await PromiseAdapter.make(
  WorkerThread.layer({
    computeMs,
    maxWallMs: 3 * computeMs,
    maxMemoryMb: 128,
    maxOutputBytes: 1 << 20,
    maxBindingBytes: 1 << 20
  })
)
const bindings: ReadonlyArray<PromiseAdapter.PromiseBindingNamespace> = [
  {
    global: "tools",
    functions: {
      echo: (args) => args,
      fail: () => Promise.reject(new Error("refused")),
      never: () => new Promise(() => {})
    },
    errorClass: { name: "ToolError", memberNameProperty: "tool" }
  }
]

let last = performance.now()
let stalledMs = 0
setInterval(() => {
  stalledMs = Math.max(stalledMs, performance.now() - last)
  last = performance.now()
}, 10)

const isOrder = (value: unknown): value is Order => typeof value === "object" && value !== null && "program" in value

process.on("message", (order: unknown) => {
  if (!isOrder(order)) return
  stalledMs = 0
  last = performance.now()
  void Effect.runPromiseExit(
    Effect.gen(function* () {
      const outcome = yield* Effect.promise(() => runtime.run({ program: order.program, bindings }))
      const next = yield* Effect.promise(() => runtime.run({ program: "return 7" }))
      const told: Told = { outcome, next: next.value ?? next.error, stalledMs, trouble: trouble.splice(0) }
      process.send?.(told)
    })
  ).then((exit) => Exit.isFailure(exit) && process.send?.({ failed: String(exit) }))
})
process.on("disconnect", () => process.exit(0))
process.send?.("ready")
