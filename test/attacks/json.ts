// Tries to forge by JSON.stringify and JSON.parse
JSON.stringify = () => '{"type":"done","value":"forged","unsent":[]}'
JSON.parse = () => ({ type: "result", id: 1, value: "forged" })
return await tools.echo("real")
