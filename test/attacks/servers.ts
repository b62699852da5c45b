// Tries to leave servers, watchers and pipes behind
const net = await import("node:net"), fs = await import("node:fs"), dgram = await import("node:dgram")
try { net.createServer().listen(0) } catch {}
try { fs.watch(".", () => {}) } catch {}
try { dgram.createSocket("udp4").bind(0) } catch {}
return 1
