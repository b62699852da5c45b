/**
 * What runs in the child process: the package's JavaScript guest, with descriptor 3 to speak and descriptor 4 to listen.
 */
import { startGuest } from "effect-code-runtime/javascript-guest"
import { writeSync } from "node:fs"
import { Socket } from "node:net"

const ears = new Socket({ fd: 4, readable: true, writable: false })
const ref = ears.ref.bind(ears)
const unref = ears.unref.bind(ears)
// Kept before the program runs: it may replace them.
const { apply } = Reflect
const { lastIndexOf, slice } = String.prototype
const bytesOf = Buffer.from.bind(Buffer)

const receive = startGuest({
  // At once and whole: the program may end the process in its next statement.
  send: (lines) => {
    const bytes = bytesOf(lines)
    for (let at = 0; at < bytes.length;) at += writeSync(3, bytes, at)
  },
  hold: (alive) => (alive ? ref() : unref())
})

// `receive` takes whole lines.
let rest = ""
ears.setEncoding("utf8").on("data", (text: string) => {
  const all = rest + text
  const whole: number = apply(lastIndexOf, all, ["\n"]) + 1
  rest = apply(slice, all, [whole])
  if (whole > 0) receive(apply(slice, all, [0, whole]))
})
