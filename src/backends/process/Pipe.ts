/**
 * The host's end of a pipe to a guest, nearer to the kernel than Node's streams are: a call of a binding is one short text
 * each way, and a stream costs as much for each as all else that the host does with a call.
 *
 * It relies on what Node does not document, the handle below a socket; where that is not as expected, streams do the work.
 */
import { writeSync } from "node:fs"
import { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"

/** Bytes of one read. Node makes a new buffer of as many for each; what is read here is decoded before the next. */
const buffer = Buffer.allocUnsafeSlow(65_536)

/** Characters that are written past the stream at most. */
const shortText = 16_384

const handleOf = (socket: Socket): object | undefined => {
  const handle: unknown = Reflect.get(socket, "_handle")
  return typeof handle === "object" && handle !== null ? handle : undefined
}

/** A socket in place of one that nothing was read from, whose texts are told as they arrive, in UTF-8. */
export const texts = (pipe: Socket, onText: (text: string) => void): Socket => {
  const handle = handleOf(pipe)
  const decoder = new StringDecoder("utf8")
  if (handle === undefined) {
    pipe.on("data", (bytes: Buffer) => onText(decoder.write(bytes)))
    return pipe
  }
  Reflect.set(pipe, "_handle", null)
  const callback = (bytes: number): boolean => {
    onText(decoder.write(buffer.subarray(0, bytes)))
    return true
  }
  const socket: unknown = Reflect.construct(Socket, [{ handle, onread: { buffer, callback } }])
  if (!(socket instanceof Socket)) throw new TypeError("a constructor makes what it is named for")
  // Whoever waits for the pipe to close, such as its child process, waits for this one.
  socket.once("close", () => pipe.destroy())
  return socket
}

/** How many bytes of a short text the kernel takes at once; 0 where a stream has to write it, and tells what is wrong. */
export const writeNow = (socket: Socket, text: string): number => {
  if (text.length > shortText || socket.destroyed || socket.writableLength > 0) return 0
  const handle = handleOf(socket)
  const descriptor: unknown = handle === undefined ? undefined : Reflect.get(handle, "fd")
  if (typeof descriptor !== "number" || descriptor < 0) return 0
  try {
    return writeSync(descriptor, text)
  } catch {
    return 0
  }
}
