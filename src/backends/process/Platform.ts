/**
 * What processes of programs need of the host's system.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"

/** The host's system cannot run programs in processes. */
export class UnsupportedPlatform extends Schema.TaggedError<UnsupportedPlatform>()("UnsupportedPlatform", {
  message: Schema.String
}) {}

/** Fails where there is no Linux with `/proc`, from which CPU time and left-over processes are read. */
export const check: Effect.Effect<void, UnsupportedPlatform> = Effect.suspend(() =>
  process.platform === "linux" && existsSync("/proc/self/stat")
    ? Effect.void
    : Effect.fail(new UnsupportedPlatform({ message: "programs in processes need Linux with /proc mounted" }))
)
