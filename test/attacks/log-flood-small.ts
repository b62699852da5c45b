// Tries to fill the host with tiny logs
for (;;) console.log("")
