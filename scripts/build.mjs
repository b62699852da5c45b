// Builds `dist`: modules by tsc, then what starts in a fresh thread or process as one file each, with all it needs inside.
import { spawnSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))
process.chdir(root)

/** Entries that other code starts by their path. The compiler inlines TypeScript, so users install none of it. */
const bundles = ["backends/typescript-compiler/compiler-thread", "backends/worker-thread/guest-thread"]

rmSync("dist", { recursive: true, force: true })
const compiled = spawnSync(process.execPath, ["node_modules/@typescript/native/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit"
})
if (compiled.status !== 0) process.exit(compiled.status ?? 1)

for (const name of bundles) {
  if (!existsSync(`src/${name}.ts`)) throw new Error(`src/${name}.ts is not there`)
  const bundle = await rolldown({
    input: `src/${name}.ts`,
    platform: "node",
    logLevel: "warn",
    // TypeScript asks where its file lies to find libraries that a compiler of single files never reads.
    transform: { define: { __filename: '""', __dirname: '""' } }
  })
  await bundle.write({ file: `dist/${name}.js`, format: "esm", minify: name.includes("compiler") })
  await bundle.close()
}
