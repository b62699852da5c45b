// Tries to overflow its stack everywhere
const list: any = []; list.toString = () => String(list)
try { String(list) } catch {}
const deep = (n: number): any => { try { return deep(n + 1) } catch { return n } }
deep(0)
await tools.echo(1)
const f = (n: number): number => f(n + 1) + 1
return f(0)
