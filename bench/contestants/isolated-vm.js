// isolated-vm: a fresh isolate a run, in the host's process. JavaScript alone: the programs given to it have no types.
import ivm from "isolated-vm"

const prelude = (names) => `
globalThis.console = { log: (...words) => log(words.join(" ")) }
globalThis.tools = Object.create(null)
for (const name of ${JSON.stringify(names)}) {
  tools[name] = (args = {}) => call.apply(undefined, [name, args], { arguments: { copy: true }, result: { copy: true, promise: true } })
}`

export const open = async () => ({
  run: async ({ bindings = [], program }) => {
    const isolate = new ivm.Isolate({ memoryLimit: 512 })
    const logs = []
    try {
      const context = await isolate.createContext()
      const functions = bindings[0]?.functions ?? {}
      await context.evalClosure("globalThis.log = (text) => $0.applyIgnored(undefined, [text]); globalThis.call = $1", [
        new ivm.Reference((text) => void logs.push(text)),
        new ivm.Reference((name, args) => functions[name](args))
      ])
      await context.eval(prelude(Object.keys(functions)))
      const value = await context.eval(`(async () => {${program}\n})()`, { promise: true, copy: true })
      return { value, logs }
    } finally {
      isolate.dispose()
    }
  },
  dispose: async () => {}
})
