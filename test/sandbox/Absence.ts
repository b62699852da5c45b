import { Sandbox } from "effect-code-runtime"

/** What a machine may lack; a sandbox or a container that should work there and does not is no absence. */
const absences: ReadonlySet<string> = new Set(["platform", "engine", "user-namespaces", "identity"])

/** Why this machine cannot have a backend; undefined for an error that is a failure. */
export const whyNotHere = (error: unknown): string | undefined =>
  error instanceof Sandbox.SandboxUnavailable && absences.has(error.reason) ? error.message : undefined
