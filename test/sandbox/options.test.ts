/**
 * What a policy opens, what it refuses, and how a host that can make no sandbox is told.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { filesBeside } from "../../src/backends/sandbox/Bubblewrap.ts"

const condition = "--conditions=@effect-code-runtime/source"
const subHost = fileURLToPath(new URL("./sub-host.ts", import.meta.url))

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-options-"))
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, "data"))
  writeFileSync(join(folder, "data", "rows.txt"), "three rows")
  mkdirSync(join(folder, "packages", "greeting"), { recursive: true })
  writeFileSync(join(folder, "packages", "greeting", "package.json"), '{"name":"greeting","main":"index.js"}')
  writeFileSync(join(folder, "packages", "greeting", "index.js"), 'exports.hello = () => "hello"')
  writeFileSync(join(folder, "packages", "greeting", "__init__.py"), 'def hello():\n    return "hello"\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = async (options: Sandbox.Options, program: string) => {
  const runtime = await PromiseAdapter.make(Sandbox.layer({ standby: 0, ...options }))
  try {
    return await runtime.run({ program })
  } finally {
    await runtime.dispose()
  }
}

const failureOf = (options: Sandbox.Options): Promise<unknown> =>
  run(options, "return 1").then(
    (outcome) => assert.fail(`it ran: ${JSON.stringify(outcome)}`),
    (error: unknown) => error
  )

describe("a policy", () => {
  it("shows files of the host where it says, read-only", async () => {
    const readOnly = [{ from: join(folder, "data"), to: "/data" }]
    const program = `
import os
text = open("/data/rows.txt").read()
try:
    open("/data/new.txt", "w")
except OSError as error:
    return [text, error.strerror, sorted(os.listdir("/"))]`
    assert.deepStrictEqual((await run({ language: "python", readOnly }, program)).value, [
      "three rows",
      "Read-only file system",
      ["bin", "data", "dev", "guest", "lib", "lib64", "proc", "tmp", "usr"]
    ])
  })

  it("makes packages importable, in TypeScript statically and by require", async () => {
    const packages = join(folder, "packages")
    const program = 'import { hello } from "greeting"\nreturn [hello(), require("greeting").hello()]'
    assert.deepStrictEqual((await run({ language: "typescript", packages }, program)).value, ["hello", "hello"])
    const python = "import greeting\nreturn greeting.hello()"
    assert.strictEqual((await run({ language: "python", packages }, python)).value, "hello")
    const without = await run({ language: "python" }, python)
    assert.match(without.error?.message ?? "", /^ModuleNotFoundError/u)
  })

  it("gives an environment, else none", async () => {
    const typescript = "return { ...process.env }"
    const python = "import os\nreturn dict(os.environ)"
    const env = { REGION: "north", EMPTY: "" }
    assert.deepStrictEqual((await run({ language: "typescript", env }, typescript)).value, env)
    assert.deepStrictEqual((await run({ language: "python", env }, python)).value, env)
    assert.deepStrictEqual((await run({ language: "typescript" }, typescript)).value, {})
    assert.deepStrictEqual((await run({ language: "python" }, python)).value, {})
  })

  it("caps the one folder that can be written", async () => {
    const program = "open('f', 'wb').write(bytes(3 << 20))\nreturn 1"
    assert.strictEqual((await run({ language: "python", writableMb: 4 }, program)).value, 1)
    assert.match((await run({ language: "python", writableMb: 2 }, program)).error?.message ?? "", /^OSError/u)
  })

  it("names the commands that programs can start, and no other", async () => {
    const program = `
import subprocess
try:
    return subprocess.run(["head", "-c", "2"], input=b"abc", stdout=subprocess.PIPE).stdout.decode()
except FileNotFoundError:
    return None`
    assert.strictEqual((await run({ language: "python" }, program)).value, null)
    assert.strictEqual((await run({ language: "python", commands: ["/usr/bin/head"] }, program)).value, "ab")
  })

  it("is checked: the failure names the option, the value and the bound", async () => {
    const wrong: ReadonlyArray<readonly [Partial<Sandbox.Options>, RegExp]> = [
      [{ readOnly: [{ from: "/nowhere/at/all", to: "/data" }] }, /readOnly\.from is "\/nowhere\/at\/all"/u],
      [{ readOnly: [{ from: "/tmp", to: "/usr/bin" }] }, /readOnly\.to is "\/usr\/bin"/u],
      [{ readOnly: [{ from: "/tmp", to: "/a/../proc" }] }, /readOnly\.to/u],
      [{ readOnly: [{ from: "/tmp", to: "/" }] }, /readOnly\.to/u],
      [{ packages: "packages" }, /packages is "packages"/u],
      [{ env: { "A=B": "c" } }, /env is "A=B"/u],
      [{ commands: ["head"] }, /commands is "head"/u],
      [{ writableMb: 0 }, /writableMb is 0/u],
      [{ maxProcesses: 4 }, /maxProcesses is 4/u],
      [{ computeMs: -1 }, /computeMs is -1/u]
    ]
    for (const [options, message] of wrong) {
      const error = await failureOf({ language: "python", ...options })
      assert.match(error instanceof Error ? error.message : "", message)
    }
  })
})

const expectUnavailable = (error: unknown, reason: Sandbox.SandboxUnavailable["reason"], remedy: RegExp): void => {
  assert.instanceOf(error, Sandbox.SandboxUnavailable)
  if (!(error instanceof Sandbox.SandboxUnavailable)) return
  assert.strictEqual(error.reason, reason)
  assert.match(error.message, remedy)
}

/** A host inside a user namespace that may make no further one. */
const inNamespace = (words: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const host = [process.execPath, condition, subHost, '{"language":"python"}', "return 1"]
    const [file = "", ...args] = [...words, ...host]
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.once("error", reject)
    child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()))
    child.once("close", () => resolve(text))
  })

describe("a host that can make no sandbox fails with the remedy", () => {
  it("where bubblewrap is missing", async () => {
    const error = await failureOf({ language: "python", engine: "/nowhere/bwrap" })
    expectUnavailable(error, "engine", /^\/nowhere\/bwrap is not there; install bubblewrap/u)
  })

  it("where it is something else", async () => {
    const error = await failureOf({ language: "typescript", engine: "/bin/true" })
    expectUnavailable(error, "engine", /0\.8 or newer; install/u)
  })

  it("where the interpreter is missing", async () => {
    const error = await failureOf({ language: "python", interpreter: "/nowhere/python" })
    expectUnavailable(error, "interpreter", /\/nowhere\/python/u)
  })

  it("where the guest's user cannot read what it needs", async (context) => {
    context.skip(process.geteuid?.() !== 0, "an ordinary user's guests read what the host reads")
    const from = join(folder, "private")
    mkdirSync(join(from, "data"), { recursive: true })
    chmodSync(from, 0o700)
    const error = await failureOf({ language: "python", readOnly: [{ from: join(from, "data"), to: "/data" }] })
    expectUnavailable(error, "interpreter", /private\/data: Permission denied.*; keep the interpreter/u)
  })

  const isRoot = process.geteuid?.() === 0
  const hasTools = spawnSync("setpriv", ["--version"]).status === 0 && spawnSync("unshare", ["--version"]).status === 0

  it("where user namespaces are off", { timeout: 120_000 }, async (context) => {
    context.skip(!hasTools, "setpriv and unshare are not installed")
    const off =
      'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all -- "$@"'
    const words = [
      ...(isRoot ? ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"] : []),
      "unshare",
      "--user",
      "--map-current-user",
      "--keep-caps",
      "sh",
      "-c",
      off,
      "sh"
    ]
    const told = await inNamespace(words)
    assert.match(told, /"reason":"user-namespaces"/u)
    assert.match(told, /sysctl user\.max_user_namespaces/u)
  })

  it("where it is root and can become nobody else", { timeout: 120_000 }, async (context) => {
    context.skip(!hasTools, "setpriv and unshare are not installed")
    const told = await inNamespace(["unshare", "--user", "--map-root-user"])
    assert.match(told, /"reason":"identity"/u)
    assert.match(told, /run it as an ordinary user/u)
  })

  it("and works for an ordinary user", { timeout: 120_000 }, async (context) => {
    context.skip(!isRoot || !hasTools, "the other tests run as an ordinary user already")
    const told = await inNamespace(["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"])
    assert.match(told, /"value":1/u)
  })
})

describe("open files of a guest that is the host's own user", () => {
  it("are so few that epoll can watch on: a guest could use up what its user may watch, and Node aborted", () => {
    for (const memoryGb of [8, 24, 64]) {
      // The kernel's default: 4 % of the memory, 184 bytes each.
      const most = (memoryGb * 2 ** 30 * 0.04) / 184
      const files = filesBeside(most, 128)
      assert.isBelow(128 * (files / 2) ** 2, 0.3 * most, `${memoryGb} GB`)
    }
    assert.strictEqual(filesBeside(100_000, 32_768), 128)
    assert.strictEqual(filesBeside(Infinity, 128), 512)
    assert.strictEqual(filesBeside(NaN, 128), 512)
  })
})
