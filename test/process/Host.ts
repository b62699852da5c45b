/**
 * A host in a process of its own, for tests that kill it: it runs one program and tells when that calls `tools.ready`.
 *
 * Arguments: `python` or `typescript`, `true` or `false` for a control group, and the program; without a program it makes a
 * runtime, waits until a guest is ready, and ends without disposing of anything.
 */
import * as NodeProcess from "../../src/backends/node-process/NodeProcess.ts"
import * as PythonProcess from "../../src/backends/python-process/PythonProcess.ts"
import * as PromiseAdapter from "../../src/adapters/PromiseAdapter.ts"

const [, , language, cgroup, program] = process.argv
const options = { cgroup: cgroup === "true" }
const runtime =
  language === "python"
    ? await PromiseAdapter.make(PythonProcess.layer(options))
    : await PromiseAdapter.make(NodeProcess.layer(options))

if (program === undefined) {
  await runtime.run({ program: "return 1" })
  process.stdout.write("idle\n")
} else {
  await runtime.run({
    program,
    bindings: [
      {
        global: "tools",
        functions: {
          ready: async (args) => {
            process.stdout.write(`${args}\n`)
            return null
          }
        }
      }
    ]
  })
}
