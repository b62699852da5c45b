// Builds `dist`: modules by tsc, then what starts in a fresh thread or process as one file each, with all it needs inside;
// last the command line and the ready plugins of cordis, as files for what always starts and for what may be loaded.
import { spawnSync } from "node:child_process"
import { chmodSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { bundles, writeGuests } from "./guests.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
process.chdir(root)

rmSync("dist", { recursive: true, force: true })
const compiled = spawnSync(process.execPath, ["node_modules/@typescript/native/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit"
})
if (compiled.status !== 0) process.exit(compiled.status ?? 1)

for (const name of bundles) for (const kind of ["js", "js.map"]) rmSync(`dist/${name}.${kind}`)
await writeGuests("dist")

/** Modules name files that lie beside them; those that are moved into a bundle name them from where the bundle lies. */
const fromHome = (folder) => ({
  name: "from-home",
  transform(code, id) {
    if (!id.startsWith(`${root}src/`) || !code.includes("import.meta.url")) return undefined
    const home = relative(folder, id.slice(`${root}src/`.length)).replace(/\.ts$/u, ".js")
    return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(home)}, import.meta.url).href`)
  }
})

// Effect is inside: nobody shares its values with the command line or with a row of a `cordis.yml`, and these start
// several times faster. Type declarations stay as tsc wrote them.
const whole = {
  cli: ["main"],
  "adapters/cordis": readdirSync("src/adapters/cordis").map((name) => name.slice(0, -".ts".length))
}
rmSync("dist/cli", { recursive: true })
for (const [folder, names] of Object.entries(whole)) {
  for (const name of names) rmSync(`dist/${folder}/${name}.js.map`, { force: true })
  const bundled = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `src/${folder}/${name}.ts`])),
    platform: "node",
    logLevel: "warn",
    external: [/^@deepseek-ai\//],
    plugins: [fromHome(folder)]
  })
  await bundled.write({ dir: `dist/${folder}`, format: "esm", minify: true, chunkFileNames: "[name].js" })
  await bundled.close()
}
chmodSync("dist/cli/main.js", 0o755)

// What the bundles hold of others comes with their licences.
const inside = [
  "effect/LICENSE",
  "ts-blank-space/LICENSE",
  "typescript/LICENSE.txt",
  "typescript/ThirdPartyNoticeText.txt"
]
const notices = inside.map((file) => `${file}\n\n${readFileSync(`node_modules/${file}`, "utf8")}`)
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", notices.join(`\n\n${"-".repeat(80)}\n\n`))
