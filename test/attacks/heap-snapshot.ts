// Tries to make the host stop for a snapshot, a report or a signal
const v8 = await import("node:v8")
try { v8.setFlagsFromString("--expose-gc") } catch {}
try { v8.getHeapSnapshot().destroy() } catch {}
try { process.report.getReport() } catch {}
return 1
