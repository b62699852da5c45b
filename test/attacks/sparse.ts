// Tries to return arrays that claim to be enormous
const sparse: any[] = []; sparse.length = 4_294_967_295
await tools.echo(sparse).catch(() => {})
console.log(sparse.length)
return sparse
