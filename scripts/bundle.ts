/** One file of what starts in a fresh thread or process, with all it needs inside. */
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const source = fileURLToPath(new URL("../src", import.meta.url))

/** Bundles a module of `src`, or one elsewhere by its path from there, named without its extension, into a folder. */
export const bundle = async (name: string, folder: string): Promise<void> => {
  const bundled = await rolldown({
    input: `${source}/${name}.ts`,
    platform: "node",
    logLevel: "warn",
    // Under this condition the package's own name is its sources.
    resolve: { conditionNames: ["@effect-code-runtime/source", "node", "import"] },
    // TypeScript asks where its file lies to find libraries that a compiler of single files never reads.
    transform: { define: { __filename: '""', __dirname: '""' } }
  })
  // A guest starts sooner with a CommonJS file: Node's loader of modules is not woken for it.
  const format = name.includes("guest") ? "cjs" : "esm"
  const file = `${folder}/${basename(name)}.${format === "cjs" ? "cjs" : "js"}`
  await bundled.write({ file, format, minify: name.includes("compiler") })
  await bundled.close()
}
