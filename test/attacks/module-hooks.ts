// Tries to load code through module hooks and data URLs
const { register, registerHooks, syncBuiltinESMExports } = await import("node:module")
try { registerHooks({ resolve: () => { throw new Error("hook") } }) } catch {}
try { register("data:text/javascript,export const resolve = () => { throw 1 }") } catch {}
try { await import("data:text/javascript,throw new Error('loaded')") } catch {}
syncBuiltinESMExports()
return await tools.echo(1)
