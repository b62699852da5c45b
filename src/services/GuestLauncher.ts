/**
 * What a backend offers to the run driver: fresh guests.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { LogChannel } from "../domain/RunEvent.ts"

/** How a guest ended. */
export interface GuestExit {
  /** Its exit code, where it exited. */
  readonly code?: number | undefined
  /** The signal that ended it, where one did. */
  readonly signal?: string | undefined
  /** Whether it ended for want of memory. */
  readonly outOfMemory: boolean
}

/** What a guest tells, as it comes. Methods never throw. */
export interface GuestListener {
  /** Text of the channel: whole lines or parts of them, in order. Untrusted. */
  readonly onText: (text: string) => void
  /** Bytes that the program wrote below the guest's capture, such as to file descriptor 1. */
  readonly onStray: (channel: LogChannel, bytes: Uint8Array) => void
  /** The guest is gone and everything that it had said was told; called once, and at once where it is gone already. */
  readonly onExit: (exit: GuestExit) => void
}

/**
 * A fresh world in which one program runs. Closing the scope that launched it ends it and all that it started, and waits
 * until that is so; text that it had sent before still reaches the listener.
 */
export interface Guest {
  /** Sends whole lines. Never throws; does nothing once the guest is gone. */
  readonly send: (text: string) => void
  /**
   * Tells a guest that has waited that a program will most likely follow soon, so that it wakes while the host still reads
   * that. Never throws.
   */
  readonly wake?: () => void
  /** Says who listens from now on; what came before is told first. */
  readonly listen: (listener: GuestListener) => void
  /** Busy time since it was launched, in milliseconds: of its event loop for a thread, of the CPU for a process. */
  readonly busyMs: () => number
  /** Peak memory in MiB, where the substrate can say. */
  readonly peakMemoryMb: () => number | undefined
  /**
   * Begins its end, at once and for good: what it does from now on is nobody's. Closing its scope then only waits. For
   * those whose end can be begun without waiting; never throws.
   */
  readonly kill?: () => void
  /**
   * Asks the guest to wait with what it says, and to go on: a host that is behind reads no more. What is told meanwhile is
   * taken all the same. Never throw.
   */
  readonly pause?: () => void
  readonly resume?: () => void
}

/** A guest could not be started. */
export class LaunchFailure extends Schema.TaggedError<LaunchFailure>()("LaunchFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** Launches guests of one language on one substrate. */
export class GuestLauncher extends Context.Service<
  GuestLauncher,
  {
    /** The language of the programs that its guests run: `typescript` or `python` are the well-known ones. */
    readonly language: string
    /** What its guests are made of: `worker-thread`, `process` or `container` are the well-known ones. */
    readonly isolation: string
    /** How long a guest may be kept ready for a program, in milliseconds; absent: for as long as the runtime lives. */
    readonly standbyMs?: number | undefined
    /** One fresh guest, ended with the scope. */
    readonly launch: Effect.Effect<Guest, LaunchFailure, Scope.Scope>
  }
>()("effect-code-runtime/GuestLauncher") {}
