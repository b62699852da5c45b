/**
 * A host in a process of its own: makes a sandbox, says what came of it, and runs one program.
 *
 * Arguments: options as JSON, a program. Prints lines of JSON: `unavailable` with the failure, `called` when the program
 * called `tools.mark`, and last the outcome.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"

const [options = "{}", program = ""] = process.argv.slice(2)
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
try {
  const runtime = await PromiseAdapter.make(Sandbox.layer(JSON.parse(options)))
  const mark = async () => {
    say("called")
    return null
  }
  say(await runtime.run({ program, bindings: [{ global: "tools", functions: { mark } }] }))
  await runtime.dispose()
} catch (error) {
  say({
    unavailable:
      error instanceof Sandbox.SandboxUnavailable ? { reason: error.reason, message: error.message } : String(error)
  })
}
