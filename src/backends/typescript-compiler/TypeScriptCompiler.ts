/**
 * Compiles TypeScript programs in threads of their own, so that no program stalls, crashes or poisons the host.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type CompiledProgram, ProgramCompiler, ProgramRejected } from "../../services/ProgramCompiler.ts"
import * as CompilerThreads from "./CompilerThreads.ts"
import { makeLocate } from "./locate.ts"
import { plain } from "./plain.ts"
import * as PreparedThreads from "./PreparedThreads.ts"

type Answer = Effect.Effect<CompiledProgram, ProgramRejected>

/** The last answers, bounded by their number and by the characters that they hold. */
interface Cache {
  readonly get: (program: string) => Answer | undefined
  readonly set: (program: string, answer: Answer, characters: number) => void
}

const maxEntries = 256
const maxCharacters = 8 * 1024 * 1024

const makeCache = (): Cache => {
  const entries = new Map<string, { readonly answer: Answer; readonly characters: number }>()
  let total = 0
  return {
    get: (program) => {
      const entry = entries.get(program)
      if (entry === undefined) return undefined
      // A map walks its keys in the order of their insertion: the first one is the one not used for longest.
      entries.delete(program)
      entries.set(program, entry)
      return entry.answer
    },
    set: (program, answer, characters) => {
      if (characters > maxCharacters) return
      total += characters - (entries.get(program)?.characters ?? 0)
      entries.delete(program)
      entries.set(program, { answer, characters })
      for (const [oldest, entry] of entries) {
        if (total <= maxCharacters && entries.size <= maxEntries) break
        entries.delete(oldest)
        total -= entry.characters
      }
    }
  }
}

/** One compilation and those who wait for it. */
interface Job {
  readonly waiters: Set<(answer: Answer) => void>
  abandon: () => void
}

const answerOf = (program: string, outcome: CompilerThreads.Outcome): Answer => {
  switch (outcome._tag) {
    case "Compiled": {
      const { compiled } = outcome
      return Effect.succeed({
        code: compiled.code,
        columnOffset: compiled.columnOffset,
        locate: makeLocate(program, compiled)
      })
    }
    case "Rejected": {
      const { column, line, rejected } = outcome.rejected
      return Effect.fail(
        new ProgramRejected({
          message: rejected,
          ...(line === undefined ? {} : { line }),
          ...(column === undefined ? {} : { column })
        })
      )
    }
    case "Failure":
      return Effect.die(outcome.cause)
    case "Closed":
      return Effect.interrupt
  }
}

const charactersOf = (program: string, outcome: CompilerThreads.Outcome): number =>
  program.length +
  (outcome._tag === "Compiled" ? outcome.compiled.code.length + (outcome.compiled.mappings?.length ?? 0) : 0)

const compiler = (threads: LazyThreads): ProgramCompiler["Service"] => {
  const cache = makeCache()
  const jobs = new Map<string, Job>()

  const keep = (program: string, outcome: CompilerThreads.Outcome): Answer => {
    const answer = answerOf(program, outcome)
    // What depended on the state of the machine may go better next time.
    if (outcome._tag === "Compiled" || (outcome._tag === "Rejected" && outcome.cacheable)) {
      cache.set(program, answer, charactersOf(program, outcome))
    }
    return answer
  }

  const begin = (program: string): Job => {
    const job: Job = { waiters: new Set(), abandon: () => undefined }
    jobs.set(program, job)
    job.abandon = threads.get().compile(program, (outcome) => {
      jobs.delete(program)
      const answer = keep(program, outcome)
      for (const resume of job.waiters) resume(answer)
    })
    return job
  }

  const atOnce = (program: string): Answer | undefined => {
    const compiled = plain(program)
    return compiled === undefined ? undefined : keep(program, { _tag: "Compiled", compiled })
  }

  const wait = (program: string): Answer =>
    Effect.callback<CompiledProgram, ProgramRejected>((resume) => {
      const job = jobs.get(program) ?? begin(program)
      job.waiters.add(resume)
      return Effect.sync(() => {
        job.waiters.delete(resume)
        if (job.waiters.size > 0 || jobs.get(program) !== job) return
        jobs.delete(program)
        job.abandon()
      })
    })

  return ProgramCompiler.of({
    compile: (program) => Effect.suspend(() => cache.get(program) ?? atOnce(program) ?? wait(program))
  })
}

/** Threads that are made when a program needs them first. */
interface LazyThreads {
  readonly get: () => CompilerThreads.CompilerThreads
  readonly close: () => Promise<void>
}

/** Loading TypeScript costs more than all else that a runtime does, and many runtimes see only plain programs. */
const lazily = (make: () => CompilerThreads.CompilerThreads): LazyThreads => {
  let threads: CompilerThreads.CompilerThreads | undefined
  return {
    get: () => (threads ??= make()),
    close: async () => threads?.close()
  }
}

const layerOf = (make: () => CompilerThreads.CompilerThreads): Layer.Layer<ProgramCompiler> =>
  Layer.effect(
    ProgramCompiler,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => lazily(make)),
        ({ close }) => Effect.promise(close)
      ),
      compiler
    )
  )

/** @internal For tests of the limits. */
export const layerWith = (options: Partial<CompilerThreads.Options>): Layer.Layer<ProgramCompiler> =>
  layerOf(() => CompilerThreads.make({ ...PreparedThreads.defaults, ...options }))

/**
 * The compiler of TypeScript programs. A program that takes more than 10 seconds or more than 512 MB to compile, that has
 * more than 2,097,152 characters, becomes more than 33,554,432, or is nested too deeply, is rejected. Closing the scope ends the threads; compilations that are open then, and later ones,
 * are interrupted.
 */
export const layer: Layer.Layer<ProgramCompiler> = layerOf(PreparedThreads.take)
