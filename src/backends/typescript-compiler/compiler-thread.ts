/**
 * The thread that compiles programs: a program in, plain data out. Data and not JSON: the host
 * takes in what may be megabytes of code, and a clone of it keeps its thread for less than a parse.
 */
import { parentPort, workerData } from "node:worker_threads"
import { compile } from "./compile.ts"
import { heapBytes } from "./HeapBudget.ts"

const port = parentPort
const maxHeapBytes: unknown = workerData
if (port === null || typeof maxHeapBytes !== "number") throw new Error("the compiler runs in a worker thread")

// A first compilation of each kind, so that no program waits for what is loaded lazily.
compile("const a: number = 1")
compile("enum A { B }")

// What a program leaves behind counts against no other: V8 may take its time to collect it.
const mostLeft = heapBytes() + maxHeapBytes / 4

port.on("message", (program: string) => {
  const answer = compile(program, maxHeapBytes)
  port.postMessage(heapBytes() > mostLeft ? { ...answer, retire: true } : answer)
})
port.postMessage("ready")
