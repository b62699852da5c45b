/**
 * The last words of a runtime that dies: they belong to nobody's logs, and tell what it died of.
 */

/** Characters of last words that are held back at most. */
const longest = 1_048_576

/** Holds back what an interpreter writes to standard error when it gives up. */
export class FatalText {
  readonly #opening: RegExp
  readonly #onText: (bytes: Uint8Array) => void
  #held: Array<Uint8Array> = []
  #size = 0

  /** `opening`: how last words begin. */
  constructor(opening: RegExp, onText: (bytes: Uint8Array) => void) {
    this.#opening = opening
    this.#onText = onText
  }

  push(bytes: Uint8Array): void {
    if (this.#held.length === 0) {
      const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice().search(this.#opening)
      if (at !== 0) this.#onText(at < 0 ? bytes : bytes.subarray(0, at))
      if (at < 0) return
      this.#hold(bytes.subarray(at))
    } else {
      this.#hold(bytes)
    }
  }

  /** What was held back, which is nobody's from now on. */
  take(): string {
    const text = Buffer.concat(this.#held).latin1Slice()
    this.#held = []
    return text
  }

  /** Tells what was held back: its writer did not die of it. */
  release(): void {
    for (const bytes of this.#held) this.#onText(bytes)
    this.#held = []
    this.#size = 0
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes)
    this.#size += bytes.length
    if (this.#size > longest) this.release()
  }
}
