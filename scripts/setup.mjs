// Installs what some tests need, where it may: `npm run setup`. From Debian as root, and the harness that drives the
// cordis plugin from npm. Elsewhere it says what is missing and how to get it; the tests that need it are skipped then,
// with the same words.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

/** Runs programs of the other processor that the sandbox is for. */
const emulator = process.arch === "arm64" ? "/usr/bin/qemu-x86_64" : "/usr/bin/qemu-aarch64"

/** Debian packages by the program that shows that they are there. */
const needed = [
  { program: "/usr/bin/bwrap", package: "bubblewrap", purpose: "the sandbox's tests" },
  { program: "/usr/bin/python3", package: "python3", purpose: "the Python backends" },
  { program: "/usr/bin/setpriv", package: "util-linux", purpose: "guests that end with a killed host" },
  { program: "/usr/sbin/dockerd", package: "docker.io", purpose: "the tests of containers" },
  { program: emulator, package: "qemu-user", purpose: "the sandbox's first program on another processor" }
]

// A package of its own, so that no user of the library installs it.
spawnSync("npm", ["ci", "--prefix", "test/cordis/harness", "--no-audit", "--no-fund"], { stdio: "inherit" })

const missing = needed.filter(({ program }) => !existsSync(program))
if (missing.length === 0) {
  console.log("Everything that the tests need is here.")
  process.exit(0)
}
const install = `apt-get install -y --no-install-recommends ${missing.map((each) => each.package).join(" ")}`
const isRoot = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")
if (isRoot) {
  spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit" })
  const done = spawnSync("sh", ["-c", `DEBIAN_FRONTEND=noninteractive ${install}`], { stdio: "inherit" })
  if (done.status === 0) process.exit(0)
}
// Not an error: the tests say themselves what they skip.
console.warn(`Missing for ${missing.map((each) => each.purpose).join(", ")}: run \`sudo ${install}\``)
