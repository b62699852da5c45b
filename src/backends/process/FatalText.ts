/**
 * The last words of a runtime that dies: they belong to nobody's logs, and tell what it died of.
 */

/** Characters of last words that are held back at most. */
const longest = 1_048_576

const onlyNewlines = /^\n+$/

/** Holds back what an interpreter writes to standard error when it gives up. */
export class FatalText {
  readonly #opening: RegExp
  readonly #onText: (bytes: Uint8Array) => void
  #held: Array<Uint8Array> = []
  #size = 0
  #found = false

  /** `opening`: how last words begin. */
  constructor(opening: RegExp, onText: (bytes: Uint8Array) => void) {
    this.#opening = opening
    this.#onText = onText
  }

  push(bytes: Uint8Array): void {
    if (this.#found) return this.#hold(bytes)
    const whole = this.#held.length === 0 ? bytes : Buffer.concat([...this.#held, bytes])
    this.#held = []
    this.#size = 0
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString("latin1")
    const at = text.search(this.#opening)
    this.#found = at >= 0
    // Last words begin with empty lines, which may come alone.
    const from = this.#found ? at : onlyNewlines.test(text) ? 0 : whole.length
    if (from > 0) this.#onText(whole.subarray(0, from))
    if (from < whole.length) this.#hold(whole.subarray(from))
  }

  /** What was held back, which is nobody's from now on. */
  take(): string {
    const text = Buffer.concat(this.#held).toString("latin1")
    this.#forget()
    return text
  }

  /** Tells what was held back: its writer did not die of it. */
  release(): void {
    const held = this.#held
    this.#forget()
    for (const bytes of held) this.#onText(bytes)
  }

  #forget(): void {
    this.#held = []
    this.#size = 0
    this.#found = false
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes)
    this.#size += bytes.length
    if (this.#size > longest) this.release()
  }
}
