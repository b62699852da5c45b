/**
 * The first program in a sandbox, by itself: on this machine, and on the other kind where an emulator of its processor is.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assemble } from "../../src/backends/sandbox/Trampoline.ts"

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
    writeFileSync(file, assemble(architecture, { core: 0, files: 123, fileSize: 512_000 }, 6), { mode: 0o755 })
    const look =
      'echo "$A $B [$HOME]"; ulimit -n; ulimit -c; ulimit -f; for n in 3 5 6 7 99; do [ -e /proc/self/fd/$n ] && echo $n; done; exit 3'
    const words = [...(isNative ? [] : [emulator]), file, "A=1", "B=two words", "", "/bin/sh", "-c", look]
    const script = 'exec 5</dev/null 6</dev/null 7</dev/null 99</dev/null; "$@"; echo "code $?"'
    const told = execFileSync("/bin/bash", ["-c", script, "bash", ...words], { encoding: "utf8" })
    assert.deepStrictEqual(told.trim().split("\n"), ["1 two words []", "123", "0", "1000", "5", "code 3"])
  })
})

it("the first program says with a code of its own that it could not go on", () => {
  const file = join(folder, "missing")
  writeFileSync(file, assemble(process.arch === "arm64" ? "arm64" : "x64", {}, 4), { mode: 0o755 })
  const told = execFileSync("/bin/sh", ["-c", '"$@"; echo $?', "sh", file, "", "/nowhere"], { encoding: "utf8" })
  assert.strictEqual(told.trim(), "126")
})
