/**
 * The thread that compiles programs: one JSON text in, one JSON text out.
 */
import { parentPort } from "node:worker_threads"
import { compile } from "./compile.ts"

const port = parentPort
if (port === null) throw new Error("the compiler runs in a worker thread")

// A first compilation of each kind, so that no program waits for what is loaded lazily.
compile("const a: number = 1")
compile("enum A { B }")

port.on("message", (program: string) => {
  port.postMessage(JSON.stringify(compile(program)))
})
port.postMessage("ready")
