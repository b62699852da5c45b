// Tries to reach the guest's frames by Error.prepareStackTrace
const seen: any[] = []
Error.prepareStackTrace = (error, sites) => { for (const site of sites) { const f = site.getFunction?.(); const t = site.getThis?.(); if (f || t) seen[seen.length] = [typeof f, typeof t]; } return { toString() { throw new Error("poisoned") } } as any }
tools.never().catch(() => {})
new Error("look").stack
await tools.fail({}).catch((error: any) => error.stack)
const late = new Error("late")
late.stack
throw late
