import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const fromSource = "--conditions=@effect-code-runtime/source"

describe("the cordis example", () => {
  it("runs as it is written, and ends by itself", async () => {
    const { stderr, stdout } = await run(process.execPath, [fromSource, "examples/cordis/main.ts"], { cwd: root })
    assert.strictEqual(stderr, "")
    const lines = stdout.trimEnd().split("\n")
    assert.strictEqual(lines[0], "[ 'asked for 2', 'stockOf failed: no such fruit: figs' ] { total: 3 }")
    assert.match(lines[1] ?? "", /^exception: TypeError: /u)
    assert.include(stdout, "program.ts:2:")
    assert.strictEqual(lines.at(-1), "runtime left: false")
  })
})

describe("the main entry", () => {
  it("needs no cordis", async () => {
    // Neither of the peers can be found in this process.
    const hide = `import { registerHooks } from "node:module"
      registerHooks({ resolve(specifier, context, next) {
        if (specifier.startsWith("@deepseek-ai/")) throw new Error("not installed: " + specifier)
        return next(specifier, context)
      } })`
    const program = (entry: string) => `${hide}
      const found = await import("${entry}").then((module) => Object.keys(module).length > 0, (error) => error.message)
      console.log(found)`
    const told = async (entry: string) => {
      const args = [fromSource, "--input-type=module", "--eval", program(entry)]
      return (await run(process.execPath, args, { cwd: root })).stdout.trim()
    }
    assert.strictEqual(await told("effect-code-runtime"), "true")
    assert.strictEqual(await told("effect-code-runtime/cordis"), "not installed: @deepseek-ai/cordis")
  })
})
