/**
 * What is started by its path, in a thread or process of its own, as the package has it: TypeScript as one file each, Python
 * as it is. `npm run build` writes it into `dist`, the tests into a folder of their own.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.ts"

const source = fileURLToPath(new URL("../src", import.meta.url))

/** Entries that other code starts by their path. The compiler inlines TypeScript, so users install none of it. */
export const bundles = [
  "backends/typescript-compiler/compiler-thread",
  "backends/worker-thread/guest-loader",
  "backends/worker-thread/guest-thread",
  "backends/node-process/guest-process"
]

/** What Python runs, and the first process of a container. */
const copies = [
  "python-guest/guest.py",
  "python-process/check.py",
  "python-process/start.py",
  "python-process/probe.py",
  "sandbox/beginning.py",
  "sandbox/probe.py",
  "sandbox/zygote.py",
  "sandbox/oci/relay.py",
  "sandbox/oci/relay.cjs"
]

/** Writes all of it into a folder that is laid out like `src`. */
export const writeGuests = async (folder: string): Promise<void> => {
  for (const name of copies) {
    mkdirSync(join(folder, "backends", dirname(name)), { recursive: true })
    copyFileSync(join(source, "backends", name), join(folder, "backends", name))
  }
  for (const name of bundles) {
    if (!existsSync(join(source, `${name}.ts`))) throw new Error(`src/${name}.ts is not there`)
    await bundle(name, join(folder, dirname(name)))
  }
}
