/**
 * What the suite is made of: rules, the cases that cover each rule's words, and what a case may expect.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PromiseCodeRuntime } from "../adapters/PromiseAdapter.ts"
import type {
  BindingNamespace,
  CodeRunRequest,
  CodeRunUsage,
  FailureKind,
  FailureReason,
  UnsettledCall
} from "../domain/CodeRun.ts"
import type { Json } from "../domain/Json.ts"
import type { LimitsInput } from "../domain/Limits.ts"
import type { CodeRuntime } from "../services/CodeRuntime.ts"
import type { Host } from "./Host.ts"

/** How one run ended, success or failure alike. */
export interface Outcome {
  /** Absent: no value, which is not null. */
  readonly value?: Json
  readonly kind?: FailureKind
  readonly reason?: FailureReason
  /** Empty where the run succeeded. */
  readonly message: string
  readonly logs: ReadonlyArray<string>
  readonly usage: CodeRunUsage
  readonly unsettledCalls: ReadonlyArray<UnsettledCall>
}

/** What must come of one run. Without `kind` it must succeed. */
export interface Expectation {
  /** The exact value. */
  readonly value?: Json
  /** No value at all. */
  readonly noValue?: true
  /** The failure, or one of several that the rule allows. */
  readonly kind?: FailureKind | ReadonlyArray<FailureKind>
  /** Whatever it is, value or failure: the rule only asks that the run ends and harms nobody. */
  readonly anyEnd?: true
  readonly message?: RegExp | string | ReadonlyArray<RegExp | string>
  readonly messageNot?: RegExp | ReadonlyArray<RegExp>
  /** The exact logs. */
  readonly logs?: ReadonlyArray<string>
  /** All logs, joined. */
  readonly text?: string
}

/** A program, or a program with its own expectation over that of its case. */
export type Attempt = string | readonly [program: string, expectation: Expectation]

/** What a case with steps of its own works with. */
export interface Bench {
  readonly language: string
  readonly isolation: string
  /** A runtime with the case's limits. */
  readonly runtime: CodeRuntime["Service"]
  readonly host: Host
  /** The text of one of the case's named programs, in the backend's language. */
  readonly program: (name: string) => string
  /** One run, judged by what holds for every run. `bindings` are the host's standard ones where left out. */
  readonly run: (
    request: string | CodeRunRequest,
    runtime?: CodeRuntime["Service"],
    limits?: LimitsInput
  ) => Effect.Effect<Outcome, Unmet>
  /** Another runtime of the backend, disposed with the scope. */
  readonly make: (limits?: LimitsInput) => Effect.Effect<CodeRuntime["Service"], unknown, Scope.Scope>
  /** The backend behind the Promise adapter, disposed with the scope. */
  readonly promises: (limits?: LimitsInput) => Effect.Effect<PromiseCodeRuntime, unknown, Scope.Scope>
  readonly expect: (outcome: Outcome, expectation: Expectation) => Effect.Effect<void, Unmet>
}

interface Common {
  /** Unique, begins with its rule's id. */
  readonly id: string
  /** The words of the rule that it covers. */
  readonly claim: string
  readonly limits?: LimitsInput
  /**
   * What a backend that cannot keep the rule does here would harm the suite's own process (a kill, a full memory). Where it
   * is declared as a limit it is not run; the backend's own tests show it from a safe distance.
   */
  readonly unsafe?: true
  /** Milliseconds, where the suite's default is too short. */
  readonly timeoutMs?: number
}

/** A case of one or more programs, each run once. */
export interface ProgramCase extends Common {
  /** A column for each language that has the rule. */
  readonly programs: { readonly [language: string]: ReadonlyArray<Attempt> }
  readonly bindings?: (host: Host) => ReadonlyArray<BindingNamespace>
  readonly expect?: Expectation
  /** Expectations of one language over the shared ones. */
  readonly expectIn?: { readonly [language: string]: Expectation }
  /** More to judge after each run; throws `Unmet`. */
  readonly check?: (outcome: Outcome, host: Host) => void
}

/** A case with steps of its own. Its programs have names; without programs it is for every language. */
export interface StepCase extends Common {
  readonly programs?: { readonly [language: string]: { readonly [name: string]: string } }
  readonly steps: (bench: Bench) => Effect.Effect<void, unknown, Scope.Scope>
}

/** One case of the suite. */
export type Case = ProgramCase | StepCase

/** One rule of the contract. */
export interface Rule {
  readonly id: string
  /** The rule in words. */
  readonly text: string
  /** The only languages that have it; absent: all. */
  readonly only?: ReadonlyArray<string>
  readonly cases: ReadonlyArray<Case>
}

/** A case did not get what its rule promises. */
export class Unmet extends Error {
  readonly _tag = "Unmet"
  override readonly name = "Unmet"
}

/** Any value in a few words. */
export const brief = (value: unknown, longest = 300): string => {
  let text: string
  try {
    text = JSON.stringify(value) ?? String(value)
  } catch {
    text = "(a value that cannot be shown)"
  }
  return text.length > longest ? `${text.slice(0, longest)}... (${text.length} characters)` : text
}

/** Throws `Unmet` where a condition does not hold. */
export function ensure(condition: boolean, expected: string, got?: unknown): asserts condition {
  if (!condition) throw new Unmet(got === undefined ? expected : `expected ${expected}; got ${brief(got)}`)
}

/** Whether two JSON values are the same, at any depth; the order of keys is free. */
export const sameJson = (left: unknown, right: unknown): boolean => {
  const pairs: Array<readonly [unknown, unknown]> = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
      if (!Object.is(a, b)) return false
      continue
    }
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const before = new Map<string, unknown>(Object.entries(a))
    const after = new Map<string, unknown>(Object.entries(b))
    if (before.size !== after.size) return false
    for (const [key, value] of before) {
      if (!after.has(key)) return false
      pairs.push([value, after.get(key)])
    }
  }
  return true
}

/** Throws `Unmet` where two JSON values differ. */
export const equal = (got: unknown, expected: unknown, what = "the value"): void =>
  ensure(sameJson(expected, got), `${what} ${brief(expected)}`, got)

/** A program from a template literal: raw text, without its common indentation. */
export const code = (strings: TemplateStringsArray, ...values: ReadonlyArray<string | number>): string => {
  const raw = String.raw(strings, ...values)
    .replace(/^\n/u, "")
    .replace(/\n[ \t]*$/u, "")
  const lines = raw.split("\n")
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const common = Math.min(...indents, Number.MAX_SAFE_INTEGER)
  return lines.map((line) => line.slice(line.trim() === "" ? line.length : common)).join("\n")
}

/** A place in a value: `.rows[3].at`, whatever its root is called and however its keys are quoted. */
export const place = (...keys: ReadonlyArray<string | number>): RegExp =>
  new RegExp(
    keys
      .map((key) => {
        if (typeof key === "number") return String.raw`\[${key}\]`
        const literal = key.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)
        return String.raw`(?:\.${literal}|\[["']${literal}["']\])`
      })
      .join("")
  )

/** A frame of a TypeScript program. */
export const atTs = (line: number, column?: number): RegExp =>
  new RegExp(String.raw`program\.ts:${line}${column === undefined ? "" : `:${column}`}(?!\d)`)

/** A frame of a Python program, in either of its two forms. */
export const atPy = (line: number): RegExp => new RegExp(String.raw`program\.py(?::|", line )${line}(?!\d)`)

/** What no message may tell: paths of the host, frames of the guest's own code. */
export const hostTrace: RegExp =
  /file:\/\/|node:internal|node_modules|\/(?:home|usr|root|opt|tmp|work|proc)\/|<frozen |guest\.(?:ts|js|py)|guest-\w+\.[tj]s/
