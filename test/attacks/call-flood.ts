// Tries to flood the host with calls
for (;;) tools.never({}).catch(() => {})
