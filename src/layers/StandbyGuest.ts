/**
 * A guest that waited for its program. It may be dead already without its host having been told, or die of what happened
 * to it while it waited: as long as nothing was heard of its program another guest takes its place, and no program has run
 * twice, for a guest tells of the start of its program before that starts.
 */
import type { LogChannel } from "../domain/RunEvent.ts"
import type { Guest, GuestExit, GuestListener } from "../services/GuestLauncher.ts"

/** Launches another guest and hands it over, or nothing where that fails. */
type Replace = (take: (guest: Guest | undefined) => void) => void

export class StandbyGuest implements Guest {
  #guest: Guest
  readonly #replace: Replace
  #state: "unheard" | "replacing" | "settled" = "unheard"
  /** What the program's guest was sent, kept for another one. */
  #sent: Array<string> = []
  #strays: Array<{ readonly channel: LogChannel; readonly bytes: Uint8Array }> = []
  /** Whether it was given a program. */
  used = false

  constructor(guest: Guest, replace: Replace) {
    this.#guest = guest
    this.#replace = replace
  }

  send(text: string): void {
    this.used = true
    if (this.#state !== "settled") this.#sent.push(text)
    if (this.#state !== "replacing") this.#guest.send(text)
  }

  listen(listener: GuestListener): void {
    this.#guest.listen({
      onText: (text) => {
        this.#settle(listener)
        listener.onText(text)
      },
      onStray: (channel, bytes) => {
        if (this.#state === "settled") listener.onStray(channel, bytes)
        else this.#strays.push({ channel, bytes })
      },
      onExit: (exit) => {
        if (this.#state !== "unheard") return listener.onExit(exit)
        this.#state = "replacing"
        this.#replace((guest) => this.#goOn(guest, exit, listener))
      }
    })
  }

  busyMs(): number {
    return this.#guest.busyMs()
  }

  peakMemoryMb(): number | undefined {
    return this.#guest.peakMemoryMb()
  }

  pause(): void {
    this.#guest.pause?.()
  }

  resume(): void {
    this.#guest.resume?.()
  }

  kill(): void {
    this.giveBack()
    this.#guest.kill?.()
  }

  /** The run is over: nothing is sent to another guest any more. */
  giveBack(): void {
    this.#state = "settled"
    this.#sent = []
  }

  /** Something was heard, or will not be: what this guest does is its run's from now on. */
  #settle(listener: GuestListener): void {
    if (this.#state === "settled") return
    this.#state = "settled"
    for (const { bytes, channel } of this.#strays) listener.onStray(channel, bytes)
    this.#strays = []
    this.#sent = []
  }

  #goOn(guest: Guest | undefined, exit: GuestExit, listener: GuestListener): void {
    if (this.#state === "settled") return
    if (guest === undefined) {
      this.#settle(listener)
      return listener.onExit(exit)
    }
    // What the first one wrote as it died is not the program's.
    this.#strays = []
    this.#guest = guest
    const sent = this.#sent
    this.#settle(listener)
    guest.listen(listener)
    for (const text of sent) guest.send(text)
  }
}
