// Makes an image for `Sandbox.layerOci` without any registry, of the interpreter on this machine and the libraries that it
// maps: `node scripts/make-oci-image.mjs python` or `typescript`. It prints the image's name.
//
//   --name NAME      the image's name, by default effect-code-runtime-python or effect-code-runtime-typescript
//   --socket PATH    the engine's socket, by default what DOCKER_HOST says, else /var/run/docker.sock
//   --out FILE.tar   writes the file system there instead; `docker import FILE.tar NAME` makes the image
import * as Effect from "effect/Effect"
import { lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { find } from "../src/backends/sandbox/GuestFiles.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string" }, socket: { type: "string" }, out: { type: "string" } }
})
const [language] = positionals
if (language !== "python" && language !== "typescript") {
  console.error("say python or typescript")
  process.exit(2)
}
const name = values.name ?? `effect-code-runtime-${language}`
const host = process.env.DOCKER_HOST ?? ""
const socketPath = values.socket ?? (host.startsWith("unix://") ? host.slice(7) : "/var/run/docker.sock")

const block = 512
const parts = []
const seen = new Set()

/** One entry of the archive: a file, or a folder where there are no bytes. */
const add = (path, mode, bytes) => {
  const entry = path.replace(/^\/+/u, "") + (bytes === undefined ? "/" : "")
  if (seen.has(entry) || entry === "/") return
  seen.add(entry)
  // A name of more than 100 bytes is split at a folder.
  const cut = entry.length <= 100 ? -1 : entry.indexOf("/", entry.length - 101)
  const [prefix, short] = cut < 0 ? ["", entry] : [entry.slice(0, cut), entry.slice(cut + 1)]
  if (Buffer.byteLength(short) > 100 || Buffer.byteLength(prefix) > 155) throw new Error(`${path} is too long a name`)
  const header = Buffer.alloc(block)
  header.write(short, 0)
  header.write(`${mode.toString(8).padStart(7, "0")}\0${"0".repeat(7)}\0${"0".repeat(7)}\0`, 100)
  header.write(`${(bytes?.length ?? 0).toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0${" ".repeat(8)}`, 124)
  header.write(bytes === undefined ? "5" : "0", 156)
  header.write("ustar", 257)
  header.write("00", 263)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  parts.push(header)
  if (bytes === undefined) return
  parts.push(bytes, Buffer.alloc((block - (bytes.length % block)) % block))
}

const addFolders = (path) => {
  if (path === "/" || path === ".") return
  addFolders(dirname(path))
  add(path, 0o755)
}

const addTree = (from, to, hidden) => {
  const real = realpathSync(from)
  if (!lstatSync(real).isDirectory()) {
    addFolders(dirname(to))
    add(to, 0o755, readFileSync(real))
    return
  }
  addFolders(to)
  if (hidden.includes(to)) return
  for (const each of readdirSync(real).toSorted()) {
    if (each === "__pycache__" && !to.startsWith("/usr")) continue
    try {
      addTree(join(real, each), join(to, each), hidden)
    } catch (error) {
      if (error.code !== "ENOENT") throw error
      // A link that leads nowhere.
    }
  }
}

const files = await Effect.runPromise(find(language, undefined, ["/usr/bin/sleep"]))
for (const folder of ["/dev", "/etc", "/proc", "/sys"]) add(folder, 0o755)
add("/tmp", 0o1777)
for (const { from, to } of files.mounts) addTree(from, to, files.hidden)
if (language === "python" && !seen.has("usr/bin/python3")) {
  addTree(files.mounts.find(({ to }) => to === files.interpreter).from, "/usr/bin/python3", [])
}
parts.push(Buffer.alloc(2 * block))
const archive = Buffer.concat(parts)

if (values.out !== undefined) {
  writeFileSync(values.out, archive)
  console.log(values.out)
} else {
  const path = `/images/create?fromSrc=-&repo=${encodeURIComponent(name)}&tag=latest`
  const answer = await new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/x-tar", "Content-Length": archive.length, Host: "engine" }
    const asking = request({ socketPath, method: "POST", path, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (data) => (text += data))
      response.on("end", () => resolve({ status: response.statusCode, text }))
    })
    asking.on("error", reject)
    asking.end(archive)
  }).catch((error) => {
    console.error(`no engine answers at ${socketPath} (${error.code}); start dockerd, or name its socket by --socket`)
    process.exit(1)
  })
  if (answer.status !== 200 || answer.text.includes('"error"')) {
    console.error(`the engine refused the image: ${answer.text.trim()}`)
    process.exit(1)
  }
  console.log(name)
}
