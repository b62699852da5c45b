// The first process of a container of TypeScript programs. The engine gives it two streams; a guest needs more, so it
// carries them: standard input goes to the guest's descriptor 3, and what the guest sends there, prints and writes to
// standard error goes out in messages of a byte that says what it is, four bytes of length, and the content.
//
// Its argument is how many bytes of standard input are its instructions: files to write, the guest's arguments and
// environment. It ends when the engine's side does, and all others with it.
"use strict"
const { spawn } = require("node:child_process")
const { mkdirSync, readFileSync, writeFileSync, writeSync } = require("node:fs")
const { constants } = require("node:os")
const { dirname } = require("node:path")

const tags = { exit: 0, stdout: 1, stderr: 2, channel: 3 }
/** How frames begin after which no host ends a container. */
const passing = ['{"type":"log"', '{"type":"started"'].map((opening) => Buffer.from(opening))
/** How long pipes may be held open by others when the guest is gone, in milliseconds. */
const drainMs = 100

// A program that sends it this signal would start a debugger.
process.on("SIGUSR1", () => {})

const writeAll = (bytes) => {
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at)
}

const emit = (tag, bytes) => {
  const header = Buffer.alloc(5)
  header[0] = tag
  header.writeUInt32BE(bytes.length, 1)
  try {
    writeAll(header)
    writeAll(bytes)
  } catch {
    process.exit(0)
  }
}

/** Whether the kernel ended a process of this container for want of memory. */
const outOfMemory = () => {
  for (const name of ["memory.events", "memory/memory.oom_control"]) {
    try {
      return /^oom_kill [1-9]/m.test(readFileSync(`/sys/fs/cgroup/${name}`, "utf8"))
    } catch {
      // The other version of control groups.
    }
  }
  return false
}

const start = ({ args, env, files }, rest) => {
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const child = spawn(process.execPath, args, {
    cwd: "/",
    detached: true,
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"]
  })
  const [, stdout, stderr, channel] = child.stdio
  stdout.on("data", (bytes) => emit(tags.stdout, bytes))
  stderr.on("data", (bytes) => emit(tags.stderr, bytes))
  // The host may end this container as soon as it has a last frame: what was written before goes first. By the second turn of
  // the loop all has been read that was there when the frame came. A frame that is followed by another is not the last.
  let held
  const release = () => {
    if (held === undefined) return
    emit(tags.channel, held)
    held = undefined
  }
  channel.on("data", (bytes) => {
    release()
    const last = bytes.length < 2 ? 0 : bytes.lastIndexOf(10, bytes.length - 2) + 1
    if (passing.some((opening) => bytes.subarray(last, last + opening.length).equals(opening)))
      return emit(tags.channel, bytes)
    if (last > 0) emit(tags.channel, bytes.subarray(0, last))
    const frame = (held = bytes.subarray(last))
    setImmediate(setImmediate, () => {
      if (held === frame) release()
    })
  })
  for (const stream of [stdout, stderr, channel]) stream.on("error", () => {})
  const pass = (bytes) => {
    if (channel.destroyed || channel.write(bytes)) return
    // What the guest does not read is not taken from the host either.
    process.stdin.pause()
    channel.once("drain", () => process.stdin.resume())
  }
  child.on("error", ({ message }) => {
    process.stderr.write(`${message}\n`)
    process.exit(125)
  })
  child.on("exit", (code, signal) => {
    const said =
      signal === null
        ? `code ${code} 0`
        : `signal ${constants.signals[signal] ?? 0} ${signal === "SIGKILL" && outOfMemory() ? 1 : 0}`
    const end = () => {
      release()
      emit(tags.exit, Buffer.from(said))
      process.exit(0)
    }
    child.once("close", end)
    setTimeout(end, drainMs)
  })
  if (rest.length > 0) pass(rest)
  return pass
}

const size = Number(process.argv[1])
let head = []
let had = 0
let pass
process.stdin.on("data", (bytes) => {
  if (pass !== undefined) return pass(bytes)
  head.push(bytes)
  had += bytes.length
  if (had < size) return
  const whole = Buffer.concat(head)
  head = []
  pass = start(JSON.parse(whole.subarray(0, size).toString()), whole.subarray(size))
})
process.stdin.on("end", () => process.exit(0))
process.stdin.on("error", () => process.exit(0))
