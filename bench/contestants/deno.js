// Deno: a process a run, without permissions.
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { runByLines } from "./lines.js"

const home = new URL("../node_modules/deno/", import.meta.url)
const guest = fileURLToPath(new URL("deno-guest.js", import.meta.url))

export const open = async () => {
  const executable = fileURLToPath(new URL("deno", home))
  if (!existsSync(executable)) throw new Error("the npm package `deno` has put no executable here")
  return {
    run: (request) => runByLines(executable, ["run", "--no-prompt", "--quiet", "--no-config", guest], request),
    dispose: async () => {}
  }
}
