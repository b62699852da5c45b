/**
 * The exact byte account of a run: the UTF-8 bytes of the JSON of its logs plus that of its value or its message.
 */
import { stringify, utf8Bytes } from "./Json.ts"

/** UTF-8 bytes of a text's JSON. */
export const textBytes = (text: string): number => utf8Bytes(stringify(text))

const highSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const lowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The longest beginning of a text whose JSON has at most `cap` bytes; a pair of surrogates is never split. */
export const cutText = (text: string, cap: number): string => {
  let bytes = 2
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    const pair = highSurrogate(unit) && lowSurrogate(text.charCodeAt(at + 1))
    bytes += pair ? 4 : textBytes(text.charAt(at)) - 2
    if (bytes > cap) break
    at += pair ? 2 : 1
  }
  return text.slice(0, at)
}

/** What is left of a run's output once everything fits under the cap. */
export interface Account {
  readonly logs: ReadonlyArray<string>
  readonly message: string
  readonly outputBytes: number
}

/** The logs of one run, counted as they come. */
export class Ledger {
  readonly maxOutputBytes: number
  readonly logs: Array<string> = []
  /** UTF-8 bytes of the JSON of `logs`. */
  bytes = 2
  #cut: string | undefined

  constructor(maxOutputBytes: number) {
    this.maxOutputBytes = maxOutputBytes
  }

  /** Whether an entry was refused because the logs alone had exceeded the cap. */
  get full(): boolean {
    return this.#cut !== undefined
  }

  /** Takes one entry; false once the logs alone exceed the cap, from then on nothing more is taken. */
  log(text: string): boolean {
    if (this.#cut !== undefined) return false
    const cost = this.logs.length === 0 ? 0 : 1
    const bytes = this.bytes + cost + (text.length > this.maxOutputBytes ? text.length : textBytes(text))
    if (bytes > this.maxOutputBytes) {
      this.#cut = text
      return false
    }
    this.bytes = bytes
    this.logs.push(text)
    return true
  }

  /** Whether so many bytes of value or message fit beside all the logs. */
  fits(bytes: number): boolean {
    return this.#cut === undefined && this.bytes + bytes <= this.maxOutputBytes
  }

  /** Makes room for a message: the message cut to the cap, then the longest prefix of the logs that fits beside it. */
  settle(message: string): Account {
    const told = cutText(message, this.maxOutputBytes - 2)
    const room = this.maxOutputBytes - textBytes(told)
    const logs: Array<string> = []
    let bytes = 2
    const entries = this.#cut === undefined ? this.logs : [...this.logs, this.#cut]
    for (const entry of entries) {
      const comma = logs.length === 0 ? 0 : 1
      const left = room - bytes - comma
      // A long entry is cut without being written whole: its JSON has at least its length and two quotes.
      const cost = entry.length + 2 > left ? left + 1 : textBytes(entry)
      if (cost <= left) {
        logs.push(entry)
        bytes += comma + cost
        continue
      }
      const part = cutText(entry, left)
      if (part !== "") {
        logs.push(part)
        bytes += comma + textBytes(part)
      }
      break
    }
    return { logs, message: told, outputBytes: bytes + textBytes(told) }
  }
}
