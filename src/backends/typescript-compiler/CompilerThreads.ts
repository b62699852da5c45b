/**
 * The threads that compile: one that stays, and more while a program keeps it busy.
 *
 * Their clocks are real ones on purpose: what they guard is a real thread that may never answer.
 */
import { Worker } from "node:worker_threads"
import type { Rejected } from "./compile.ts"
import type { Compiled } from "./locate.ts"

/** How a compilation ended. `Failure`: the thread did not start. `Closed`: the threads are ended. */
export type Outcome =
  | { readonly _tag: "Compiled"; readonly compiled: Compiled }
  | { readonly _tag: "Rejected"; readonly rejected: Rejected; readonly cacheable: boolean }
  | { readonly _tag: "Failure"; readonly cause: Error }
  | { readonly _tag: "Closed" }

/** What threads are made of and how long they are waited for; times in milliseconds. */
export interface Options {
  readonly entry: URL
  readonly timeLimitMs: number
  /** How long a program waits for a busy thread before another is started, and how long an abandoned one may still run. */
  readonly patienceMs: number
  /** How long a further thread stays without work. */
  readonly idleMs: number
  readonly maxThreads: number
  /** How much a program may make the heap grow. */
  readonly maxMemoryMb: number
  readonly stackSizeMb: number
}

/** Compiles programs, one at a time on each thread, in the order in which they came. */
export interface CompilerThreads {
  /** Begins a compilation; `done` is called once, at once only if the threads are closed. The returned function abandons it: then `done` is not called. */
  readonly compile: (program: string, done: (outcome: Outcome) => void) => () => void
  /** How many threads there are, booting ones included. */
  readonly size: () => number
  /** Ends all threads and waits until they have ended. Compilations that are open, and later ones, answer `Closed`. */
  readonly close: () => Promise<void>
}

interface Job {
  readonly program: string
  readonly done: (outcome: Outcome) => void
}

interface Thread {
  readonly worker: Worker
  ready: boolean
  job: Job | undefined
  since: number
  timer: NodeJS.Timeout | undefined
  cause: Error | undefined
}

const isRejected = (value: object): value is Rejected => "rejected" in value && typeof value.rejected === "string"

const isCompiled = (value: object): value is Compiled =>
  "code" in value && typeof value.code === "string" && "columnOffset" in value && typeof value.columnOffset === "number"

/** What a thread said of a program, and whether it is to be used again. */
const answerOf = (value: unknown): { readonly outcome: Outcome; readonly retire: boolean } => {
  if (typeof value === "object" && value !== null) {
    const retire = "retire" in value && value.retire === true
    if (isRejected(value)) return { outcome: { _tag: "Rejected", rejected: value, cacheable: true }, retire }
    if (isCompiled(value)) return { outcome: { _tag: "Compiled", compiled: value }, retire }
  }
  const cause = new Error("the compiler thread gave no answer that makes sense")
  return { outcome: { _tag: "Failure", cause }, retire: true }
}

const rejection = (message: string): Outcome => ({
  _tag: "Rejected",
  rejected: { rejected: `SyntaxError: ${message}` },
  cacheable: false
})

const isOutOfMemory = (cause: Error | undefined): boolean =>
  cause !== undefined && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"

const later = (ms: number, action: () => void): NodeJS.Timeout => setTimeout(action, ms).unref()

/** Starts the first thread. The host may exit while no compilation is open. */
export const make = (options: Options): CompilerThreads => {
  const threads = new Set<Thread>()
  const ending = new Set<Promise<unknown>>()
  const queue = new Set<Job>()
  let closed = false
  let growth: NodeJS.Timeout | undefined

  /** A thread keeps the host alive only while somebody waits for it. */
  const hold = (): void => {
    for (const thread of threads) {
      if (thread.job !== undefined || (!thread.ready && queue.size > 0)) thread.worker.ref()
      else thread.worker.unref()
    }
  }

  const end = (thread: Thread): void => {
    threads.delete(thread)
    clearTimeout(thread.timer)
    thread.job = undefined
    thread.worker.removeAllListeners()
    // Whatever it still has to say, a late error too, concerns nobody.
    thread.worker.on("error", () => undefined)
    const ended = thread.worker.terminate().catch(() => undefined)
    ending.add(ended)
    void ended.then(() => ending.delete(ended))
  }

  const settle = (thread: Thread, outcome: Outcome): void => {
    const { job } = thread
    clearTimeout(thread.timer)
    thread.job = undefined
    job?.done(outcome)
  }

  const start = (): void => {
    const worker = new Worker(options.entry, {
      name: "effect-code-runtime compiler",
      argv: [],
      env: {},
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      workerData: options.maxMemoryMb * 1_048_576,
      // A thread looks itself that it stays within `maxMemoryMb`. At V8's limit it usually ends alone, but now and then
      // V8 ends the whole process instead: no program may get there.
      resourceLimits: { maxOldGenerationSizeMb: options.maxMemoryMb * 2 + 128, stackSizeMb: options.stackSizeMb }
    })
    const thread: Thread = { worker, ready: false, job: undefined, since: 0, timer: undefined, cause: undefined }
    threads.add(thread)
    worker.on("message", (message: unknown) => {
      if (!thread.ready) thread.ready = true
      else {
        const { outcome, retire } = answerOf(message)
        const { job } = thread
        if (retire) end(thread)
        else settle(thread, outcome)
        if (retire) job?.done(outcome)
      }
      assign()
    })
    worker.on("error", (cause: unknown) => {
      thread.cause = cause instanceof Error ? cause : new Error(String(cause))
    })
    worker.on("exit", () => {
      const { cause, job, ready } = thread
      end(thread)
      if (!ready) {
        const failure = new Error("the compiler thread did not start", cause === undefined ? {} : { cause })
        const waiting = [...queue]
        queue.clear()
        for (const { done } of waiting) done({ _tag: "Failure", cause: failure })
      } else if (isOutOfMemory(cause)) job?.done(rejection("the compiler ran out of memory on the program"))
      else job?.done(rejection("the compiler ended on the program"))
      if (ready || queue.size > 0) assign()
    })
  }

  const give = (thread: Thread, job: Job): void => {
    clearTimeout(thread.timer)
    queue.delete(job)
    thread.job = job
    thread.since = performance.now()
    thread.timer = later(options.timeLimitMs, () => {
      end(thread)
      job.done(rejection(`the program takes too long to compile (more than ${options.timeLimitMs} ms)`))
      assign()
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.worker.postMessage(job.program)
  }

  const grow = (): void => {
    growth = undefined
    if (closed || queue.size === 0) return
    if ([...threads].every(({ ready }) => ready) && threads.size < options.maxThreads) start()
    assign()
  }

  /** Gives work to threads that have none, and sees that there are threads enough. */
  const assign = (): void => {
    if (closed) return
    if (threads.size === 0) start()
    for (const thread of threads) {
      if (!thread.ready || thread.job !== undefined) continue
      const [job] = queue
      if (job !== undefined) give(thread, job)
      else if (threads.size > 1) {
        clearTimeout(thread.timer)
        thread.timer = later(options.idleMs, () => {
          if (threads.size > 1) end(thread)
        })
      }
    }
    if (queue.size > 0 && growth === undefined && threads.size < options.maxThreads)
      growth = later(options.patienceMs, grow)
    hold()
  }

  const abandon = (job: Job): void => {
    if (queue.delete(job)) return hold()
    const thread = [...threads].find((each) => each.job === job)
    if (thread === undefined) return
    // It is likely to be done before a new thread could start; its answer is then dropped.
    const rest = Math.max(0, options.patienceMs - (performance.now() - thread.since))
    clearTimeout(thread.timer)
    thread.timer = later(rest, () => {
      end(thread)
      assign()
    })
  }

  start()
  hold()

  return {
    compile: (program, done) => {
      let open = true
      const job: Job = {
        program,
        done: (outcome) => {
          if (!open) return
          open = false
          done(outcome)
        }
      }
      if (closed) job.done({ _tag: "Closed" })
      else {
        queue.add(job)
        assign()
      }
      return () => {
        if (!open) return
        open = false
        abandon(job)
      }
    },
    size: () => threads.size,
    close: async () => {
      closed = true
      clearTimeout(growth)
      const open = [...queue, ...[...threads].flatMap(({ job }) => job ?? [])]
      queue.clear()
      for (const thread of threads) end(thread)
      for (const { done } of open) done({ _tag: "Closed" })
      await Promise.all(ending)
    }
  }
}
