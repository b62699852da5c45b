/**
 * What guests say, taken in shares: a program that floods its host takes no more than a part of each turn of the host's
 * event loop, and so do all of them together.
 */
import type { LogChannel } from "../domain/RunEvent.ts"
import type { Guest, GuestExit, GuestListener } from "../services/GuestLauncher.ts"

/** How much of one turn of the event loop goes to what guests say, in milliseconds; the last piece may take longer. */
const shareMs = 10

/** Characters that are taken without a look at the clock: ordinary programs say less in a turn. */
const unclocked = 16_384

/** What a message counts for beside its characters. */
const weightOfMessage = 64

/** Longer texts are taken in pieces that end with a line; a single line is never cut. */
const longestPiece = 8192

/** Pieces that were told and are still held. */
const longestPast = 1024

type Piece =
  | { readonly text: string }
  | { readonly channel: LogChannel; readonly bytes: Uint8Array }
  | { readonly exit: GuestExit }

let weight = 0
/** When guests began to be listened to in this turn, where they have said a lot. */
let began: number | undefined

const isSpent = (): boolean => began !== undefined && performance.now() - began > shareMs

const endTurn = (): void => {
  began = undefined
}

const take = (length: number): void => {
  if (began !== undefined) return
  weight += length + weightOfMessage
  if (weight < unclocked) return
  weight = 0
  began = performance.now()
  setImmediate(endTurn)
}

/** Those that hold something back, in the order in which they have their turn. */
const behind: Array<Inbox> = []

/** One piece of each in turn, as far as the share goes. */
const catchUp = (): void => {
  try {
    do {
      const inbox = behind.shift()
      if (inbox === undefined) return
      let isBehind = true
      try {
        isBehind = inbox.takeOne()
      } finally {
        if (isBehind) behind.push(inbox)
      }
    } while (!isSpent())
  } finally {
    if (behind.length > 0) setImmediate(catchUp)
  }
}

/** Hears a guest for its run, and lets it wait where it says more than there is time for. */
export class Inbox implements GuestListener {
  readonly #listener: GuestListener
  #guest: Pick<Guest, "pause" | "resume"> | undefined
  #pieces: Array<Piece> = []
  #next = 0
  #onEmpty: Array<() => void> = []

  constructor(listener: GuestListener) {
    this.#listener = listener
  }

  /** Listens to a guest from now on. */
  open(guest: Guest): void {
    this.#guest = guest
    guest.listen(this)
  }

  /** Whether the run was told all that the guest has said. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** Completes once the run was told all that the guest has said so far. */
  emptied(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => this.#onEmpty.push(resolve))
  }

  onText(text: string): void {
    for (let at = 0; at < text.length;) {
      const newline = text.length - at <= longestPiece ? -1 : text.indexOf("\n", at + longestPiece)
      const end = newline < 0 ? text.length : newline + 1
      this.#put({ text: at === 0 && end === text.length ? text : text.slice(at, end) }, end - at)
      at = end
    }
  }

  onStray(channel: LogChannel, bytes: Uint8Array): void {
    this.#put({ channel, bytes }, bytes.length)
  }

  onExit(exit: GuestExit): void {
    this.#put({ exit }, 0)
  }

  /** Tells the first of what is held back; whether there is more. */
  takeOne(): boolean {
    const piece = this.#pieces[this.#next++]
    if (piece !== undefined) {
      take("text" in piece ? piece.text.length : "bytes" in piece ? piece.bytes.length : 0)
      if (this.#next === longestPast) {
        this.#pieces.splice(0, this.#next)
        this.#next = 0
      }
      this.#tell(piece)
    }
    if (this.#next < this.#pieces.length) return true
    this.#pieces = []
    this.#next = 0
    this.#guest?.resume?.()
    const waiting = this.#onEmpty
    this.#onEmpty = []
    for (const resolve of waiting) resolve()
    return false
  }

  #put(piece: Piece, length: number): void {
    if (this.isEmpty && !isSpent()) {
      take(length)
      return this.#tell(piece)
    }
    this.#pieces.push(piece)
    if (this.#pieces.length > 1) return
    this.#guest?.pause?.()
    behind.push(this)
    if (behind.length === 1) setImmediate(catchUp)
  }

  #tell(piece: Piece): void {
    if ("text" in piece) this.#listener.onText(piece.text)
    else if ("exit" in piece) this.#listener.onExit(piece.exit)
    else this.#listener.onStray(piece.channel, piece.bytes)
  }
}
