// Tries to catch answers by Promise.prototype.then
const caught: unknown[] = []
const then = Promise.prototype.then
Promise.prototype.then = function (this: any, ...args: any[]) { caught[caught.length] = args; return Reflect.apply(then, this, [() => "forged", () => "forged"]) } as any
return await tools.echo("real")
