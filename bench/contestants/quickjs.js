// quickjs-emscripten: a fresh context a run, in the host's thread; its WebAssembly memory is shared by all runs.
import { getQuickJS } from "quickjs-emscripten"

export const open = async () => {
  const engine = await getQuickJS()
  return {
    run: async ({ bindings = [], program }) => {
      const vm = engine.newContext()
      const logs = []
      // Values cross as JSON text.
      const install = (name, body) => {
        const made = vm.newFunction(name, body)
        vm.setProp(vm.global, name, made)
        made.dispose()
      }
      const functions = bindings[0]?.functions ?? {}
      const pump = () => vm.runtime.executePendingJobs()
      install("log", (text) => void logs.push(vm.getString(text)))
      install("call", (name, args) => {
        const answered = vm.newPromise()
        const settle = (text) => {
          const answer = vm.newString(text)
          answered.resolve(answer)
          answer.dispose()
          void answered.settled.then(pump)
        }
        void Promise.resolve(functions[vm.getString(name)](JSON.parse(vm.getString(args)))).then((value) =>
          settle(JSON.stringify(value))
        )
        return answered.handle
      })
      const text = `
        globalThis.console = { log: (...words) => log(words.join(" ")) }
        globalThis.tools = Object.create(null)
        for (const name of ${JSON.stringify(Object.keys(functions))}) {
          tools[name] = async (args = {}) => JSON.parse(await call(name, JSON.stringify(args)))
        }
        ;(async () => JSON.stringify(await (async () => {${program}\n})()))()`
      const promise = vm.unwrapResult(vm.evalCode(text))
      const settled = vm.resolvePromise(promise)
      promise.dispose()
      pump()
      const result = vm.unwrapResult(await settled)
      const value = vm.getString(result)
      result.dispose()
      vm.dispose()
      return { value: JSON.parse(value), logs }
    },
    dispose: async () => {}
  }
}
