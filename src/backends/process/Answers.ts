/**
 * What a guest is sent, while it reads it.
 */
import type { Socket } from "node:net"
import { writeNow } from "./Pipe.ts"

/** Lines of a text of whole lines. */
const linesOf = (text: string): number => {
  let lines = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

/** Writes to a guest; only one that forges calls without reading the answers lets them pile up. */
export class Answers {
  readonly #socket: Socket
  readonly #most: number
  #unread = 0

  constructor(socket: Socket, maxConcurrentCalls: number) {
    this.#socket = socket
    // One batch of answers that the guest reads while it makes new calls, and the answers of those.
    this.#most = 2 * maxConcurrentCalls + 1
  }

  /** Writes whole lines. False, and nothing is written, where the guest leaves too many unread. */
  write(text: string): boolean {
    const lines = linesOf(text)
    this.#unread += lines
    if (this.#unread > this.#most + lines) return false
    const taken = writeNow(this.#socket, text)
    if (taken > 0 && taken === Buffer.byteLength(text)) {
      this.#unread -= lines
      return true
    }
    this.#socket.write(taken === 0 ? text : Buffer.from(text).subarray(taken), () => (this.#unread -= lines))
    return true
  }
}
