/**
 * Who listens to a guest.
 */
import type { GuestExit, GuestListener } from "../../services/GuestLauncher.ts"

/** Tells a guest's listener; what happens before there is one is kept and told first. */
export class Audience {
  #listener: GuestListener | undefined
  #early: Array<(listener: GuestListener) => void> = []
  #exit: GuestExit | undefined

  listen(listener: GuestListener): void {
    this.#listener = listener
    const early = this.#early
    this.#early = []
    for (const tell of early) tell(listener)
    if (this.#exit !== undefined) listener.onExit(this.#exit)
  }

  tell(tell: (listener: GuestListener) => void): void {
    if (this.#listener === undefined) this.#early.push(tell)
    else tell(this.#listener)
  }

  /** The last thing that is told. */
  end(exit: GuestExit): void {
    this.#exit = exit
    this.#listener?.onExit(exit)
  }
}
