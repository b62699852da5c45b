// Tries to drop a thousand rejections at once
for (let i = 0; i < 1000; i++) Promise.reject(new Error("dropped " + i))
for (let i = 0; i < 100; i++) tools.fail({})
await tools.never()
