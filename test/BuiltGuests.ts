/**
 * Lets tests start guests and compiler threads as the package has them, though all else is the sources: Node would strip
 * the types of each guest anew as it boots, which takes three times as long as the boot itself.
 *
 * Hosts that a test starts as processes of their own run from the sources alone, guests too, so both forms are tested.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Plugin } from "vitest/config"
import { bundle } from "../scripts/bundle.ts"
import { writeGuests } from "../scripts/guests.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const source = join(root, "src/")
/** The example of a backend, whose guest is no part of the package. */
const example = join(root, "examples/backend/launcher.ts")
const exampleGuest = "example/guest.cjs"
/** Vitest keeps what it transformed for later runs, so modules learn from the environment where this run built. */
const variable = "BUILT_GUESTS"

const writeAll = async (folder: string): Promise<void> => {
  await writeGuests(folder)
  await bundle("../examples/backend/guest", join(folder, "example"))
}

const build = async (): Promise<string> => {
  const folder = mkdtempSync(join(root, ".guests-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  await writeAll(folder)
  return `${pathToFileURL(folder).href}/`
}

/** The environment of the tests; a Vitest that a test starts takes what its own Vitest built. */
export const env = { [variable]: process.env[variable] ?? (await build()) }

/** Makes modules of `src/backends` look for what lies beside them among what was built. */
export const builtGuests: Plugin = {
  name: "built-guests",
  enforce: "pre",
  configureServer: ({ watcher }) => {
    watcher.on("change", (file) => {
      if (file.startsWith(source)) void writeAll(fileURLToPath(env[variable]))
    })
  },
  transform: (code, id) => {
    const built = `process.env["${variable}"]`
    if (id === example) {
      const changed = code.replace('new URL("./guest.ts", import.meta.url)', `new URL("${exampleGuest}", ${built})`)
      if (changed === code) throw new Error(`${id} starts another guest than ./guest.ts`)
      return { code: changed, map: null }
    }
    if (!id.startsWith(join(source, "backends/")) || !code.includes("import.meta.url")) return undefined
    const place = JSON.stringify(relative(source, id).replace(/\.ts$/u, ".js"))
    return { code: code.replaceAll("import.meta.url", `(${built} + ${place})`), map: null }
  }
}
