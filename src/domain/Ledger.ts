/**
 * The exact byte account of a run: the UTF-8 bytes of the JSON of its logs plus that of its value or its message.
 */
import { stringify, utf8Bytes } from "./Json.ts"

/** UTF-8 bytes of a text's JSON. */
export const textBytes = (text: string): number => utf8Bytes(stringify(text))

const highSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const lowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** A text is cut in blocks of so many characters, and in smaller ones near the cap. */
const blocks = [4096, 64, 1]

/** The longest beginning of a text whose JSON has at most `cap` bytes; a pair of surrogates is never split. */
export const cutText = (text: string, cap: number): string => {
  let bytes = 2
  let at = 0
  for (const block of blocks) {
    while (at < text.length) {
      let end = Math.min(at + block, text.length)
      if (highSurrogate(text.charCodeAt(end - 1)) && lowSurrogate(text.charCodeAt(end))) end += block === 1 ? 1 : -1
      const cost = textBytes(text.slice(at, end)) - 2
      if (bytes + cost > cap) break
      bytes += cost
      at = end
    }
  }
  return text.slice(0, at)
}

/** What is left of a run's output once everything fits under the cap. */
export interface Account {
  readonly logs: ReadonlyArray<string>
  readonly message: string
  readonly outputBytes: number
}

/** Bytes of a text's JSON at most, with a comma: no character takes more than `\u0001`. */
const mostBytes = (text: string): number => 6 * text.length + 3

/** Entries are counted together once they may have so many bytes: one by one costs more than all the rest of an entry. */
const countedAtOnce = 200_000

/** The logs of one run, counted exactly wherever that decides something. */
export class Ledger {
  readonly maxOutputBytes: number
  readonly logs: Array<string> = []
  /** UTF-8 bytes of the JSON of the first `#counted` of `logs`. */
  #bytes = 2
  #counted = 0
  /** What the others have at most. */
  #uncounted = 0
  #cut: string | undefined

  constructor(maxOutputBytes: number) {
    this.maxOutputBytes = maxOutputBytes
  }

  /** UTF-8 bytes of the JSON of `logs`. */
  get bytes(): number {
    this.#count()
    return this.#bytes
  }

  /** Whether an entry was refused because the logs alone had exceeded the cap. */
  get full(): boolean {
    return this.#cut !== undefined
  }

  /** Takes one entry; false once the logs alone exceed the cap, from then on nothing more is taken. */
  log(text: string): boolean {
    if (this.#cut !== undefined) return false
    const most = mostBytes(text)
    if (this.#bytes + this.#uncounted + most > this.maxOutputBytes) {
      const comma = this.logs.length === 0 ? 0 : 1
      // What is longer than the cap is not written to be counted.
      const cost = text.length > this.maxOutputBytes ? text.length : textBytes(text)
      if (this.bytes + comma + cost > this.maxOutputBytes) {
        this.#cut = text
        return false
      }
    }
    this.logs.push(text)
    this.#uncounted += most
    if (this.#uncounted > countedAtOnce) this.#count()
    return true
  }

  #count(): void {
    if (this.#counted === this.logs.length) return
    const comma = this.#counted === 0 ? 0 : 1
    this.#bytes += comma + utf8Bytes(stringify(this.logs.slice(this.#counted))) - 2
    this.#counted = this.logs.length
    this.#uncounted = 0
  }

  /** Whether so many bytes of value or message fit beside all the logs. */
  fits(bytes: number): boolean {
    return this.#cut === undefined && this.bytes + bytes <= this.maxOutputBytes
  }

  /** Whether a text fits beside all the logs; one that is surely too long is not written to be counted. */
  fitsText(text: string): boolean {
    return text.length + 2 <= this.maxOutputBytes && this.fits(textBytes(text))
  }

  /** Makes room for a message: the message cut to the cap, then the longest prefix of the logs that fits beside it. */
  settle(message: string): Account {
    const told = cutText(message, this.maxOutputBytes - 2)
    const room = this.maxOutputBytes - textBytes(told)
    let bytes = this.bytes
    let count = this.logs.length
    // From the end: a message takes the room of few entries.
    while (bytes > room && count > 0) {
      count--
      bytes -= textBytes(this.logs[count] ?? "") + (count === 0 ? 0 : 1)
    }
    const logs = this.logs.slice(0, count)
    const next = count < this.logs.length ? this.logs[count] : this.#cut
    if (next !== undefined) {
      const comma = count === 0 ? 0 : 1
      const part = cutText(next, room - bytes - comma)
      if (part !== "") {
        logs.push(part)
        bytes += comma + textBytes(part)
      }
    }
    return { logs, message: told, outputBytes: bytes + textBytes(told) }
  }
}
