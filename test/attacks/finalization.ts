// Tries to run code after its end
new FinalizationRegistry(() => { throw new Error("late") }).register({}, 0)
setInterval(() => console.log("late"), 0); process.on("exit", () => { console.log("late"); throw new Error("late") })
queueMicrotask(() => { for (let i = 0; i < 100; i++) tools.echo(i).catch(() => {}) })
return 1
