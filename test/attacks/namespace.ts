// Tries to break the bindings themselves
const { echo } = tools
try { Object.freeze(tools); (tools as any).echo = 1 } catch {}
try { Object.setPrototypeOf(tools, new Proxy({}, { get() { throw new Error("trap") } })) } catch {}
Object.defineProperty(echo, "name", { value: "fail" }); (echo as any).prototype = null
return await echo(1)
