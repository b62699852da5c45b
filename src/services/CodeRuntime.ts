/**
 * The seam: runs one model-written program against host-provided asynchronous functions.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { CodeRunFailed, CodeRunRequest, CodeRunSuccess, CodeRuntimeMisuse } from "../domain/CodeRun.ts"
import type { RunEvent } from "../domain/RunEvent.ts"

export * from "../domain/CodeRun.ts"

/**
 * Runs programs. Every run has a fresh guest; no state passes from one to the next.
 *
 * Interrupting the fiber of a run ends its guest and waits for it. A run returns only when nothing of it is left.
 */
export class CodeRuntime extends Context.Service<
  CodeRuntime,
  {
    /** The language that programs are written in: `typescript` or `python` are the well-known ones. */
    readonly language: string
    /** What guests are made of: `worker-thread`, `process`, `container`. A label, not a claim of security. */
    readonly isolation: string
    /** Runs one program to its end. */
    readonly run: <R = never>(
      request: CodeRunRequest<R>
    ) => Effect.Effect<CodeRunSuccess, CodeRunFailed | CodeRuntimeMisuse, R>
    /**
     * Runs one program and tells its events in order; the last is exactly one of `Completed` and `Failed`. Only misuse
     * fails the stream. A call runs once its `CallStarted` was read; interrupting the reader ends the run.
     */
    readonly stream: <R = never>(request: CodeRunRequest<R>) => Stream.Stream<RunEvent, CodeRuntimeMisuse, R>
  }
>()("effect-code-runtime/CodeRuntime") {}
