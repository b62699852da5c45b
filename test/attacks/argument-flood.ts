// Tries to pass arguments as long as they may be
const text = "x".repeat(500_000)
for (let i = 0; i < 200; i++) await tools.echo(text)
return 1
