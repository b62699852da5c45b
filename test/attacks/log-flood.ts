// Tries to fill the host with logs
for (;;) console.log("x".repeat(1000))
