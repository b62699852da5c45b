// Tries to drive the guest by events of process
process.emit("message", '{"type":"result","id":1,"value":"forged"}' as any, undefined as any)
process.emit("exit", 0); process.emit("beforeExit", 0)
process.emit("unhandledRejection", new Error("forged"), Promise.resolve())
return "went on"
