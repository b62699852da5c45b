// Runs every example; an example that ends with another code than 0 fails.
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"

process.chdir(fileURLToPath(new URL("..", import.meta.url)))
let failed = 0
for (const file of globSync(["examples/*.ts", "examples/*/main.ts"]).toSorted()) {
  console.log(`::: ${file}`)
  const run = spawnSync(process.execPath, ["--conditions=@effect-code-runtime/source", file], { stdio: "inherit" })
  if (run.status !== 0) {
    failed++
    console.error(`${file} ended with ${run.status ?? run.signal}`)
  }
}
process.exit(failed === 0 ? 0 : 1)
