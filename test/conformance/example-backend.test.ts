import { conformance } from "effect-code-runtime/conformance"
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { layer } from "../../examples/backend/launcher.ts"

it("is a launcher of under 120 lines, against public exports alone", () => {
  const text = readFileSync(new URL("../../examples/backend/launcher.ts", import.meta.url), "utf8")
  assert.isBelow(text.trimEnd().split("\n").length, 120)
  const imports = [...text.matchAll(/from "([^"]+)"/gu)].map((match) => match[1] ?? "")
  assert.deepStrictEqual(
    imports.filter((name) => !/^(?:effect|effect\/\w+|effect-code-runtime|node:[\w/]+)$/u.test(name)),
    []
  )
})

it("starts its guest from its source", async () => {
  const host = fileURLToPath(new URL("./example-host.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@effect-code-runtime/source", host])
  assert.strictEqual(stdout, "{ value: 7, logs: [] }\n")
})

conformance({
  name: "the example backend",
  language: "typescript",
  make: layer,
  limits: {
    "V5.poisoned-prototypes": "Node's streams, by which the example listens, call methods that a program may replace",
    "B6.heap": "V8's last words about its heap are on the standard error, so they are logs",
    "B6.bytes": "the flag of V8 caps its heap, not the bytes outside of it",
    "B7.session": "a session of its own is another process group",
    "B7.grandchild": "a session of its own is another process group",
    "B7.temporary-files": "the example has no folder for temporary files of its own"
  }
})
