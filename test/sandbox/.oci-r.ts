import { PromiseAdapter, Sandbox } from "effect-code-runtime"
const [socket, engine, runtime] = process.argv.slice(2) as any
for (const language of ["python", "typescript"] as const) {
  try {
  const t0 = performance.now()
  const rt = await PromiseAdapter.make(Sandbox.layerOci({ language, image: "effect-code-runtime-"+language, socket, engine, runtime: runtime || undefined, standby: 0, maxMemoryMb: 64 }))
  console.log(language, "layer", (performance.now() - t0) | 0)
  for (const program of language === "python" ? ["return 1", "import os\nreturn os.uname().release", "kept=[]\nwhile True: kept.append(b'x'*(1<<20))","import os\nos._exit(3)"] : ["return 1", "return require('os').release()", "const all=[];for(;;)all.push(Buffer.alloc(1<<20,1))","process.exit(3)"]) {
    const t = performance.now(); console.log(JSON.stringify(await rt.run({ program })).slice(0,300), (performance.now() - t) | 0) }
  await rt.dispose()
  } catch (e) { console.log(language, e.message?.slice(0,600)) }
}
process.exit(0)
