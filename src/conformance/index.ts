/**
 * The suite that every backend passes: Vitest tests, some for each rule of the contract.
 *
 * Needs `vitest` and `@effect/vitest` beside this package.
 */
import { afterAll, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as PromiseAdapter from "../adapters/PromiseAdapter.ts"
import type { LimitsInput } from "../domain/Limits.ts"
import { CodeRuntime } from "../services/CodeRuntime.ts"
import {
  type Attempt,
  type Bench,
  brief,
  type Case,
  ensure,
  type Expectation,
  type ProgramCase,
  type Rule,
  Unmet
} from "./Case.ts"
import { Host } from "./Host.ts"
import { attempt, judgedRun, meet } from "./Judge.ts"
import { rules } from "./rules/index.ts"

export type { Attempt, Bench, Case, Expectation, Outcome, ProgramCase, Rule, StepCase } from "./Case.ts"
export { rules } from "./rules/index.ts"

/** What the suite needs to know of a backend. */
export interface ConformanceOptions<E> {
  /** What the tests are called by. */
  readonly name: string
  /** The language of its programs: a column of the rules, `typescript` or `python`. */
  readonly language: string
  /** The backend's runtime with these limits; what they leave out has the backend's defaults. */
  readonly make: (limits: LimitsInput) => Layer.Layer<CodeRuntime, E>
  /**
   * Limits of the substrate: ids of cases that the backend cannot keep, each with the reason. One that it keeps after all
   * fails, so that no claim outlives its cause.
   */
  readonly limits?: { readonly [caseId: string]: string }
  /** Runs these rules or cases alone, by the beginning of their ids; for work on one of them. */
  readonly only?: ReadonlyArray<string>
}

const defaultTimeoutMs = 120_000
/** How long a case that is declared as a limit is given: it may hang. */
const declaredMs = 15_000

type Verdict = "holds" | "declared" | "fails"

const isFor = (language: string, each: Case): boolean =>
  each.programs === undefined ? true : Object.hasOwn(each.programs, language)

const casesOf = (rule: Rule, language: string): ReadonlyArray<Case> =>
  rule.only !== undefined && !rule.only.includes(language) ? [] : rule.cases.filter((each) => isFor(language, each))

const programOf = (given: Attempt): readonly [string, Expectation] => (typeof given === "string" ? [given, {}] : given)

/** Every program of a case, each with a host of its own; all that went wrong is told together. */
const runPrograms = (
  each: ProgramCase,
  language: string,
  runtime: CodeRuntime["Service"]
): Effect.Effect<void, Unmet> =>
  Effect.gen(function* () {
    const wrong: Array<string> = []
    for (const given of each.programs[language] ?? []) {
      const [program, own] = programOf(given)
      const host = new Host()
      const bindings = each.bindings === undefined ? [host.tools()] : each.bindings(host)
      const exit = yield* judgedRun(runtime, { program, bindings }, each.limits ?? {}).pipe(
        Effect.tap((outcome) =>
          attempt(() => {
            meet(outcome, { ...each.expect, ...each.expectIn?.[language], ...own })
            each.check?.(outcome, host)
          })
        ),
        Effect.exit
      )
      if (Exit.isFailure(exit)) {
        if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause)
        const error = Cause.squash(exit.cause)
        wrong.push(
          `${error instanceof Error ? error.message : String(error)}\n    for the program ${brief(program, 400)}`
        )
      }
    }
    if (wrong.length > 0) return yield* Effect.fail(new Unmet(wrong.join("\n")))
  })

/**
 * Registers the tests of a backend: some for each rule that its language has, by the rule's number, and a table of which
 * rules hold, which are declared as limits of the substrate, and which fail.
 */
export const conformance = <E>(options: ConformanceOptions<E>): void => {
  const { language, make, name, only } = options
  const declared = options.limits ?? {}
  const verdicts = new Map<string, Array<readonly [caseId: string, Verdict]>>()
  const suite = Scope.makeUnsafe()
  const runtimes = new Map<string, Effect.Effect<CodeRuntime["Service"], E>>()

  const build = (limits: LimitsInput, scope: Scope.Scope): Effect.Effect<CodeRuntime["Service"], E> =>
    Effect.map(Layer.buildWithScope(Layer.fresh(make(limits)), scope), (context) => Context.get(context, CodeRuntime))

  /** Cases of equal limits share a runtime. */
  const runtimeFor = (limits: LimitsInput): Effect.Effect<CodeRuntime["Service"], E> =>
    Effect.suspend(() => {
      const key = JSON.stringify(limits)
      const found = runtimes.get(key)
      if (found !== undefined) return found
      return Effect.map(build(limits, suite), (runtime) => {
        runtimes.set(key, Effect.succeed(runtime))
        return runtime
      })
    })

  const steps = (each: Case, runtime: CodeRuntime["Service"]): Effect.Effect<void, unknown, Scope.Scope> => {
    if (!("steps" in each)) return runPrograms(each, language, runtime)
    const host = new Host()
    const bench: Bench = {
      language,
      isolation: runtime.isolation,
      runtime,
      host,
      program: (called) => {
        const text = each.programs?.[language]?.[called]
        ensure(text !== undefined, `${each.id} has no program ${called} in ${language}`)
        return text
      },
      run: (request, other = runtime, limits = each.limits ?? {}) =>
        judgedRun(
          other,
          typeof request === "string" ? { program: request, bindings: [host.tools()] } : request,
          limits
        ),
      make: (limits = each.limits ?? {}) => Effect.flatMap(Effect.scope, (scope) => build(limits, scope)),
      promises: (limits = each.limits ?? {}) =>
        Effect.acquireRelease(
          Effect.tryPromise({
            try: () => PromiseAdapter.make(Layer.fresh(make(limits))),
            catch: (error) => new Unmet(`the layer failed: ${String(error)}`)
          }),
          (made) => Effect.promise(() => made.dispose())
        ),
      expect: (outcome, expectation) => attempt(() => meet(outcome, expectation))
    }
    return each.steps(bench)
  }

  const judgeCase = (each: Case): Effect.Effect<void, unknown> =>
    Effect.scoped(
      Effect.flatMap(runtimeFor(each.limits ?? {}), (runtime) => Effect.suspend(() => steps(each, runtime)))
    )

  const register = (rule: Rule, each: Case): void => {
    const timeout = each.timeoutMs ?? defaultTimeoutMs
    const reason = declared[each.id]
    const told = (verdict: Verdict) =>
      Effect.sync(() => void verdicts.set(rule.id, [...(verdicts.get(rule.id) ?? []), [each.id, verdict]]))

    if (reason === undefined) {
      it.live(
        `${each.id}: ${each.claim}`,
        () => judgeCase(each).pipe(Effect.onExit((exit) => told(Exit.isSuccess(exit) ? "holds" : "fails"))),
        timeout
      )
      return
    }
    it.live(
      `${each.id}: declared as a limit: ${reason}`,
      () =>
        Effect.gen(function* () {
          if (each.unsafe !== true) {
            const bounded = Effect.timeoutOrElse(judgeCase(each), {
              duration: Math.min(timeout / 2, declaredMs),
              orElse: () => Effect.fail(new Unmet("it did not end"))
            })
            const exit = yield* Effect.exit(bounded)
            if (Exit.isSuccess(exit)) {
              yield* told("fails")
              return yield* Effect.fail(
                new Unmet(`${each.id} is declared as a limit but holds; take the declaration back`)
              )
            }
          }
          yield* told("declared")
        }),
      timeout
    )
  }

  const table = (): string => {
    const rows = rules
      .filter((rule) => verdicts.has(rule.id))
      .map((rule) => {
        const own = verdicts.get(rule.id) ?? []
        const failing = own.filter(([, verdict]) => verdict === "fails").map(([id]) => id)
        const limited = own.filter(([, verdict]) => verdict === "declared").map(([id]) => id)
        const word = failing.length > 0 ? "fails" : limited.length > 0 ? "holds but for declared limits" : "holds"
        const why = [...failing, ...limited.map((id) => `${id} (${declared[id]})`)].join("; ")
        return `  ${rule.id.padEnd(4)} ${word}${why === "" ? "" : `: ${why}`}`
      })
    return [`${name}: the rules of the contract`, ...rows].join("\n")
  }

  describe(name, () => {
    afterAll(async () => {
      await Effect.runPromise(Scope.close(suite, Exit.void))
      if (verdicts.size > 0) console.info(table())
    }, 60_000)

    const known = new Set(rules.flatMap((rule) => casesOf(rule, language)).map((each) => each.id))
    it("declares no limit that there is not", () => {
      const unknown = Object.keys(declared).filter((id) => !known.has(id))
      ensure(unknown.length === 0, "only cases of the suite as limits", unknown)
    })
    it(`has a case of every rule in ${language}`, () => {
      const bare = rules.filter(
        (rule) => (rule.only ?? [language]).includes(language) && casesOf(rule, language).length === 0
      )
      // P2 is TypeScript's; its edges are every language's.
      ensure(
        bare.length === 0,
        "a case for every rule",
        bare.map((rule) => rule.id)
      )
    })

    for (const rule of rules) {
      const own = casesOf(rule, language).filter(
        (each) => only === undefined || only.some((start) => each.id.startsWith(start))
      )
      if (own.length === 0) continue
      describe(`${rule.id}: ${rule.text}`, () => {
        for (const each of own) register(rule, each)
      })
    }
  })
}
