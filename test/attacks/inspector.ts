// Tries to debug itself
const inspector = await import("node:inspector")
try { const session = new inspector.Session(); session.connect(); session.post("Debugger.enable"); session.post("Runtime.evaluate", { expression: "1" }); session.disconnect() } catch {}
return 1
