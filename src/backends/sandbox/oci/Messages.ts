/**
 * What comes out of a container: the engine's own frames around two streams, and inside of the first the messages of the
 * process that carries the guest's channel and output. All of it is untrusted.
 */

/** What a message is. */
export const tags = { exit: 0, stdout: 1, stderr: 2, channel: 3, compiled: 9 } as const

/** Messages that are taken as a whole, and their greatest length. */
const longest: { readonly [tag: number]: number } = { [tags.exit]: 64, [tags.compiled]: 16_777_216 }

/** Takes what the reader finds. */
export interface Receiver {
  /** Bytes of the channel or of an output, as they come; whole messages of the other kinds. */
  readonly onMessage: (tag: number, bytes: Uint8Array) => void
  /** Text that the carrying process itself wrote to standard error. */
  readonly onComplaint: (bytes: Uint8Array) => void
  /** There is something that no such process writes. */
  readonly onBroken: () => void
}

const empty = Buffer.alloc(0)

/** Reads records of a header and a content, whose parts may come split anywhere. */
class Records {
  readonly #headerLength: number
  readonly #begin: (header: Buffer) => number | undefined
  readonly #take: (bytes: Buffer, last: boolean) => void
  #header: Buffer = empty
  #left = -1

  constructor(
    headerLength: number,
    begin: (header: Buffer) => number | undefined,
    take: (bytes: Buffer, last: boolean) => void
  ) {
    this.#headerLength = headerLength
    this.#begin = begin
    this.#take = take
  }

  /** False once a header made no sense. */
  push(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length) {
      if (this.#left < 0) {
        const part = bytes.subarray(at, at + this.#headerLength - this.#header.length)
        this.#header = this.#header.length === 0 ? part : Buffer.concat([this.#header, part])
        at += part.length
        if (this.#header.length < this.#headerLength) return true
        const length = this.#begin(this.#header)
        if (length === undefined) return false
        this.#header = empty
        this.#left = length
      }
      const part = bytes.subarray(at, at + this.#left)
      at += part.length
      this.#left -= part.length
      const last = this.#left === 0
      if (last) this.#left = -1
      this.#take(part, last)
    }
    return true
  }
}

/** Reads an attached container. */
export class Messages {
  readonly #outer: Records
  #broken = false
  #receiver: Receiver

  constructor(receiver: Receiver) {
    this.#receiver = receiver
    let tag = 0
    let held: Array<Buffer> = []
    const inner = new Records(
      5,
      (header) => {
        tag = header[0] ?? 0
        const length = header.readUInt32BE(1)
        const most = longest[tag] ?? (tag >= tags.stdout && tag <= tags.channel ? 2 ** 32 : -1)
        return length > most ? undefined : length
      },
      (bytes, last) => {
        if (longest[tag] === undefined) {
          if (bytes.length > 0) receiver.onMessage(tag, bytes)
          return
        }
        held.push(bytes)
        if (!last) return
        const whole = Buffer.concat(held)
        held = []
        receiver.onMessage(tag, whole)
      }
    )
    let stream = 0
    this.#outer = new Records(
      8,
      (header) => {
        stream = header[0] ?? 0
        return header.readUInt32BE(4)
      },
      (bytes) => {
        if (stream !== 1) receiver.onComplaint(bytes)
        else if (!this.#broken && !inner.push(bytes)) this.#break()
      }
    )
  }

  push(bytes: Buffer): void {
    if (!this.#broken && !this.#outer.push(bytes)) this.#break()
  }

  #break(): void {
    this.#broken = true
    this.#receiver.onBroken()
  }
}
