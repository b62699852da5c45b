import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { Limits, WorkerThread } from "effect-code-runtime"
import { encodeStart } from "../../src/domain/Frame.ts"

const programs = {
  logs: 'for (;;) console.log("")',
  writes: 'for (;;) process.stderr.write("x")'
}

describe("a program that floods its host", () => {
  for (const [name, program] of Object.entries(programs)) {
    it.effect(`waits for it: ${name}`, () =>
      Effect.gen(function* () {
        const limits = yield* Limits.make({})
        const scope = yield* Scope.make()
        const guest = yield* Scope.provide(WorkerThread.launcher(limits).launch, scope)
        const begun = Deferred.makeUnsafe<void>()
        let texts = 0
        guest.listen({
          onText: () => {
            texts++
            Deferred.doneUnsafe(begun, Exit.void)
          },
          onStray: () => {},
          onExit: () => {}
        })
        const code = `(async function(){"use strict";${program}\n})`
        guest.send(encodeStart({ code, columnOffset: 0 }, { program }, limits))
        yield* Deferred.await(begun)
        // The host is busy with something else: long enough for a hundred thousand messages.
        for (const until = performance.now() + 500; performance.now() < until;);
        texts = 0
        yield* Scope.close(scope, Exit.void)
        // All that it had said came, and it was not much.
        assert.isAbove(texts, 0)
        assert.isBelow(texts, 20_000)
      })
    )
  }
})
