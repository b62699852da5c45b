/**
 * The first program in a sandbox, by itself: on this machine, and on the other kind where an emulator of its processor is.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { encode } from "../../src/backends/sandbox/SeccompFilter.ts"
import { assemble } from "../../src/backends/sandbox/Trampoline.ts"

const machine = process.arch === "arm64" ? "arm64" : "x64"

const emulators = { x64: "/usr/bin/qemu-x86_64", arm64: "/usr/bin/qemu-aarch64" } as const

let folder = ""
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "trampoline-"))))
afterAll(() => rmSync(folder, { recursive: true }))

describe.for(["x64", "arm64"] as const)("the first program on %s", (architecture) => {
  it("closes descriptors, sets limits, and becomes the command in its environment", (context) => {
    const isNative = process.arch === architecture
    const emulator = emulators[architecture]
    context.skip(!isNative && !existsSync(emulator), `there is no emulator: "apt-get install qemu-user" brings it`)
    const file = join(folder, architecture)
    writeFileSync(file, assemble(architecture, { files: 123, fileSize: 512_000 }, new Uint8Array(), 6), { mode: 0o755 })
    const look =
      'echo "$A $B [$HOME]"; ulimit -n; ulimit -f; for n in 3 5 6 7 99; do [ -e /proc/self/fd/$n ] && echo $n; done; exit 3'
    const words = [...(isNative ? [] : [emulator]), file, "A=1", "B=two words", "", "/bin/sh", "-c", look]
    const script = 'exec 5</dev/null 6</dev/null 7</dev/null 99</dev/null; "$@"; echo "code $?"'
    const told = execFileSync("/bin/bash", ["-c", script, "bash", ...words], { encoding: "utf8" })
    assert.deepStrictEqual(told.trim().split("\n"), ["1 two words []", "123", "1000", "5", "code 3"])
  })
})

/** Runs words under `setpriv`, with no new privileges as bubblewrap gives none: what they printed. */
const unprivileged = (...words: ReadonlyArray<string>): string =>
  execFileSync("/usr/bin/setpriv", ["--no-new-privs", ...words], { encoding: "utf8" })

it("the first program puts the filter on what it becomes, after it has set the limits that the filter forbids", () => {
  const file = join(folder, "filtered")
  writeFileSync(file, assemble(machine, { core: 1 }, encode(machine, "typescript"), 4), { mode: 0o755 })
  const look = "grep -E '^(Max core|Seccomp)' /proc/self/limits /proc/self/status; ulimit -c 0 || echo refused"
  const told = unprivileged(file, "", "/bin/sh", "-c", `exec 2>/dev/null; (${look})`)
  assert.match(told, /Max core file size +1 +1 .*\n[^]*Seccomp:\t2\n[^]*refused\n$/u)
})

it("the first program says so where the filter cannot be put on", (context) => {
  const emulator = emulators[machine === "x64" ? "arm64" : "x64"]
  context.skip(!existsSync(emulator), `there is no emulator: "apt-get install qemu-user" brings it`)
  const other = machine === "x64" ? "arm64" : "x64"
  const file = join(folder, "refused")
  writeFileSync(file, assemble(other, {}, encode(other, "typescript"), 6), { mode: 0o755 })
  // An emulator lets nobody put on a filter, which would hold the emulator.
  const told = execFileSync("/bin/sh", ["-c", '"$@"; echo $?', "sh", emulator, file, "", "/bin/sh"], {
    encoding: "utf8"
  })
  assert.strictEqual(told.trim(), "126")
})

it("the first program goes on where the host allows no core files at all", () => {
  const file = join(folder, "lower")
  writeFileSync(file, assemble(machine, { core: 1 }, new Uint8Array(), 4), { mode: 0o755 })
  const script = 'ulimit -Hc 0; exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
  const look = "grep '^Max core' /proc/self/limits"
  const told = execFileSync("/bin/bash", ["-c", script, "bash", file, "", "/bin/sh", "-c", look], { encoding: "utf8" })
  assert.match(told, /^Max core file size +0 +0 /u)
})

it("the first program says with a code of its own that it could not go on", () => {
  const file = join(folder, "missing")
  writeFileSync(file, assemble(machine, {}, new Uint8Array(), 4), { mode: 0o755 })
  const told = execFileSync("/bin/sh", ["-c", '"$@"; echo $?', "sh", file, "", "/nowhere"], { encoding: "utf8" })
  assert.strictEqual(told.trim(), "126")
})
