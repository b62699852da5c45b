// Tries to flood the host with calls that are answered
await Promise.all(Array.from({ length: 20_000 }, (_, i) => tools.echo(i)))
return 1
