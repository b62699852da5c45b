/**
 * What a host says about its guests: the interpreter, and Node's permissions.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import * as PromiseAdapter from "../../src/adapters/PromiseAdapter.ts"
import * as NodeProcess from "../../src/backends/node-process/NodeProcess.ts"
import * as PythonProcess from "../../src/backends/python-process/PythonProcess.ts"

test("a Python that is not there fails the layer in one sentence", async () => {
  const made = PromiseAdapter.make(PythonProcess.layer({ python: "/nowhere/python3" }))
  await expect(made).rejects.toMatchObject({
    _tag: "PythonUnavailable",
    message: expect.stringMatching(
      /^Python programs need CPython 3\.10 or newer, but \/nowhere\/python3 does not start .*ENOENT/
    )
  })
})

test("a Python that is too old fails the layer with its version, and something else as what it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "options-"))
  try {
    const interpreter = (says: string) => {
      const file = join(folder, "python3")
      writeFileSync(file, `#!/bin/sh\necho '${says}'\n`)
      chmodSync(file, 0o755)
      return PromiseAdapter.make(PythonProcess.layer({ python: file }))
    }
    const old = interpreter('{"executable":"/usr/bin/python3","version":"3.9.18"}')
    await expect(old).rejects.toMatchObject({ _tag: "PythonUnavailable", message: expect.stringContaining("3.9.18") })
    await expect(interpreter("hello")).rejects.toMatchObject({ message: expect.stringContaining("is no CPython") })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("the Python that is named runs the programs", async () => {
  await using runtime = await PromiseAdapter.make(PythonProcess.layer({ python: "/usr/bin/python3" }))
  const { value } = await runtime.run({ program: "import sys\nreturn [sys.executable, sys.version_info >= (3, 10)]" })
  expect(value).toEqual(["/usr/bin/python3", true])
})

const attempt = (body: string): string =>
  `try { ${body}; return "allowed" } catch (error) { return error.code ?? error.name }`

const attempts = {
  read: attempt(`require("node:fs").readFileSync("/etc/hostname")`),
  readOwn: attempt(`const fs = require("node:fs"); fs.writeFileSync("note", "x"); fs.readFileSync("note")`),
  write: attempt(`require("node:fs").writeFileSync("/tmp/effect-code-runtime-test-file", "x")`),
  child: attempt(`require("node:child_process").execFileSync("/bin/true")`),
  worker: attempt(
    `await new Promise((done, fail) => new (require("node:worker_threads").Worker)("0", { eval: true }).on("error", fail).on("exit", done))`
  ),
  inspector: attempt(`require("node:inspector").open(0)`),
  addon: attempt(`process.dlopen({ exports: {} }, "/nowhere.node")`)
}

const outcomes = async (permission: NodeProcess.Permission | false | undefined) => {
  await using runtime = await PromiseAdapter.make(NodeProcess.layer({ permission }))
  const found: { [name: string]: unknown } = {}
  for (const [name, program] of Object.entries(attempts)) {
    const { error, logs, value } = await runtime.run({ program })
    found[name] = error === undefined && logs.length === 0 ? value : { error, logs }
  }
  rmSync("/tmp/effect-code-runtime-test-file", { force: true })
  return found
}

test("by default programs read, start processes and workers, and write in their own folder alone", async () => {
  expect(await outcomes(undefined)).toEqual({
    read: "allowed",
    readOwn: "allowed",
    write: "ERR_ACCESS_DENIED",
    child: "allowed",
    worker: "allowed",
    inspector: "ERR_ACCESS_DENIED",
    addon: "ERR_DLOPEN_DISABLED"
  })
})

test("what is not allowed is denied", async () => {
  expect(await outcomes({})).toEqual({
    read: "ERR_ACCESS_DENIED",
    readOwn: "allowed",
    write: "ERR_ACCESS_DENIED",
    child: "ERR_ACCESS_DENIED",
    worker: "ERR_ACCESS_DENIED",
    inspector: "ERR_ACCESS_DENIED",
    addon: "ERR_DLOPEN_DISABLED"
  })
})

test("without the permission model nothing is denied", async () => {
  expect(await outcomes(false)).toMatchObject({
    read: "allowed",
    write: "allowed",
    child: "allowed",
    worker: "allowed"
  })
  expect(existsSync("/tmp/effect-code-runtime-test-file")).toBe(false)
})
