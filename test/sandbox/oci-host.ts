/**
 * A host in a process of its own: runs one program in a container.
 *
 * Arguments: options of `Sandbox.layerOci` as JSON, a program. Prints lines of JSON: `called` when the program called
 * `tools.mark`, and last the outcome.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"

const [options = "{}", program = ""] = process.argv.slice(2)
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const runtime = await PromiseAdapter.make(Sandbox.layerOci(JSON.parse(options)))
const mark = async () => {
  say("called")
  return null
}
say(await runtime.run({ program, bindings: [{ global: "tools", functions: { mark } }] }))
await runtime.dispose()
