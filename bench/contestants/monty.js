// Monty: an interpreter of a subset of Python, in the host's thread. It waits for one call at a time.
import { Monty, runMontyAsync } from "@pydantic/monty"

export const open = async () => ({
  run: async ({ bindings = [], program }) => {
    const logs = []
    const externalFunctions = {}
    for (const [name, binding] of Object.entries(bindings[0]?.functions ?? {})) {
      // A dict comes as a Map.
      externalFunctions[name] = (args) => binding(args instanceof Map ? Object.fromEntries(args) : args)
    }
    const value = await runMontyAsync(new Monty(program), {
      externalFunctions,
      printCallback: (_stream, text) => void (text === "\n" || logs.push(text))
    })
    return { value, logs }
  },
  dispose: async () => {}
})
