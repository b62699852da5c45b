import { PromiseAdapter, Sandbox } from "effect-code-runtime"
const socket = "/tmp/oci-engine/docker.sock"
for (const language of ["python", "typescript"] as const) {
  const runtime = await PromiseAdapter.make(Sandbox.layerOci({ language, image: "effect-code-runtime-"+language, socket, standby: 1, maxConcurrentRuns: 3 }))
  const t = performance.now()
  const outs = await Promise.all(Array.from({ length: 100 }, (_, i) => runtime.run({ program: `return ${i}` })))
  console.log(language, outs.filter((o, i) => o.value === i).length, ((performance.now() - t) / 100) | 0, "ms a run", JSON.stringify(outs.find((o, i) => o.value !== i)))
  await runtime.dispose()
}
console.log(process.getActiveResourcesInfo())
