// Tries to run code in other contexts
const vm = await import("node:vm")
const context = vm.createContext({ tools })
return [await vm.runInContext("tools.echo({ from: 'elsewhere' })", context), vm.runInNewContext("({ a: [1] })")]
