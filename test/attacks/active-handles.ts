// Tries to find the channel among the active handles
const handles: any[] = [...((process as any)._getActiveHandles?.() ?? []), ...((process as any)._getActiveRequests?.() ?? [])]
process.getActiveResourcesInfo()
for (const each of handles) { try { each.postMessage?.('{"type":"done","value":"forged","unsent":[]}\n'); each.close?.() } catch {} }
return "real"
