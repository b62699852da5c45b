import { assert, describe, it } from "@effect/vitest"
import * as Backends from "../../src/cli/Backends.ts"
import * as ExitCode from "../../src/cli/ExitCode.ts"
import * as Limits from "../../src/domain/Limits.ts"
import { oldest } from "../../src/cli/NodeVersion.ts"
import manifest from "../../package.json" with { type: "json" }
import { makeFolder, run, start } from "./CommandLine.ts"

const { engines } = manifest

const folder = makeFolder({ "a.ts": "return 1", "a.py": "return 1" })

const flagOf = (key: string) => `--${key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

/** The flag by which Node takes itself for another version. */
const version = (node: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`)}`

describe.concurrent("invocation", () => {
  it("--help teaches: every limit with its bound, bindings, output, every exit code", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "--help"])
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
    for (const key of Limits.keys) {
      assert.include(stdout, flagOf(key))
      assert.include(stdout, Limits.boundOf(key))
    }
    for (const word of ["export const tools", "signal", "errorClass", "unsettledCalls", "EXIT CODES", "EXAMPLES"]) {
      assert.include(stdout, word)
    }
    for (const exitCode of [...Object.values(ExitCode.failures), ...Object.values(ExitCode.signals)]) {
      assert.match(stdout, new RegExp(`^  .*\\b${exitCode}\\b`, "mu"))
    }
  })

  it("a long name of a backend ran into its description in the help", async () => {
    const { stdout } = await run(folder, ["run", "--help"])
    for (const [name, { summary }] of Object.entries(Backends.backends)) {
      assert.match(stdout, new RegExp(`^  ${name} {2,}${summary}$`, "mu"))
    }
  })

  it("an older Node died of a function that it has not; it is told which one is needed", async () => {
    for (const old of ["20.20.2", "22.18.0"]) {
      const { code, stderr, stdout } = await start(folder, ["check", "a.ts"], [version(old)]).ended
      assert.deepStrictEqual({ code, stdout }, { code: ExitCode.usage, stdout: "" })
      assert.strictEqual(
        stderr,
        `code-runtime needs Node.js ${oldest} or later, and this is ${old}; install a newer one\n`
      )
    }
    for (const recent of ["22.19.0", "24.0.0", "30.1.0"]) {
      const { child, ended } = start(folder, ["check", "a.ts"], [version(recent)])
      child.stdin?.end()
      assert.deepStrictEqual(await ended, { code: 0, stdout: "", stderr: "" })
    }
    assert.strictEqual(engines.node, `>=${oldest}`)
  })

  it("the help of check tells its own exit codes alone", async () => {
    const { stdout } = await run(folder, ["check", "--help"])
    assert.include(stdout, ExitCode.checkTable)
    assert.notInclude(stdout, "--compute-ms")
  })

  it("no command at all shows the commands", async () => {
    const { code, stdout } = await run(folder, [])
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ {2}run .*\n {2}check /mu)
  })

  it("--version is the version of the package", async () => {
    assert.match((await run(folder, ["--version"])).stdout, /^\d+\.\d+\.\d+\n$/u)
  })

  it("gives each kind of failure and each signal an exit code of its own", () => {
    const codes = [
      ExitCode.success,
      ExitCode.usage,
      ExitCode.fault,
      ...Object.values(ExitCode.failures),
      ...Object.values(ExitCode.signals)
    ]
    assert.strictEqual(new Set(codes).size, codes.length)
  })

  const refusals: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: RegExp]> = [
    [["run"], /Missing required argument: file/u],
    [["run", "absent.ts"], /^error: cannot read the program absent\.ts: there is no such file\n$/u],
    [["run", "."], /^error: cannot read the program \.: it is a directory\n$/u],
    [["run", "a.ts", "b.ts"], /b\.ts/u],
    [["run", "a.ts", "--comput-ms", "1"], /--comput-ms[^]*--compute-ms/u],
    [["rnu", "a.ts"], /rnu[^]*run/u],
    [["run", "a.ts", "--backend", "abacus"], /no backend "abacus"; --backend must be one of worker-thread/u],
    [
      ["run", "a.ts", "--backend", "worker_thread"],
      /no backend "worker_thread"; did you mean worker-thread\? --backend must/u
    ],
    [["run", "a.py", "--backend", "typescript-sandbox"], /its backends are python-process, python-sandbox, or give/u],
    [["run", "a.py", "--backend", "worker-thread"], /a\.py is Python, --backend worker-thread runs TypeScript/u],
    [["run", "a.ts", "--backend", "python-process"], /a\.ts is TypeScript, --backend python-process runs Python/u]
  ]
  for (const [args, message] of refusals) {
    it(`refuses: code-runtime ${args.join(" ")}`, async () => {
      const { code, stderr, stdout } = await run(folder, args)
      assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" })
      assert.match(stderr, message)
    })
  }

  const outside: { readonly [key in Limits.LimitKey]: string } = {
    computeMs: "0",
    maxWallMs: "2147483648",
    maxOutputBytes: "3",
    maxBindingBytes: "1.5",
    maxProgramBytes: "-1",
    maxMemoryMb: "plenty",
    maxConcurrentCalls: "0",
    maxConcurrentRuns: "NaN",
    standby: "-1"
  }
  const refusesLimit = async (key: Limits.LimitKey) => {
    const { code, stderr } = await run(folder, ["run", "a.ts", `${flagOf(key)}=${outside[key]}`])
    assert.strictEqual(code, 2)
    assert.include(stderr, `${flagOf(key)}: "${outside[key]}"`)
    assert.include(stderr, Limits.boundOf(key))
  }
  for (const key of Limits.keys) {
    it(`refuses ${flagOf(key)} outside its bound, with flag, value and bound`, () => refusesLimit(key))
  }
})
