/**
 * What the tests ask of a container engine, and a `dockerd` of their own that they may end.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const told = process.env["DOCKER_HOST"] ?? ""
/** The engine that the tests use. */
export const socketPath = told.startsWith("unix://") ? told.slice("unix://".length) : "/var/run/docker.sock"

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Asks an engine; rejects where none answers. */
export const ask = (socket: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body)
    const headers = { Host: "engine", "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }
    const asking = request({ socketPath: socket, method, path, agent: false, headers }, (response) => {
      let answer = ""
      response.setEncoding("utf8").on("data", (data: string) => (answer += data))
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer
        })
      )
    })
    asking.on("error", reject)
    asking.end(text)
  })

/** Why no engine can be used; undefined where one answers. */
export const whyNone = await ask(socketPath, "GET", "/_ping").then(
  ({ status }) => (status === 200 ? undefined : `what answers at ${socketPath} is no engine`),
  () =>
    `no container engine answers at ${socketPath}; as root: apt-get install -y docker.io && dockerd --iptables=false --bridge=none &`
)

/** One container, as an engine lists it. */
export interface Listed {
  readonly Id: string
  readonly State: string
  readonly Labels: { readonly [label: string]: string }
}

/** The containers of a host of this package, running or not: those of other hosts come and go beside them. */
export const containers = async (
  socket: string = socketPath,
  host: number = process.pid
): Promise<ReadonlyArray<Listed>> => {
  const label = "effect-code-runtime.host"
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  const { body } = await ask(socket, "GET", `/containers/json?all=true&filters=${filters}`)
  if (!Array.isArray(body)) throw new Error("a list of containers")
  const all: ReadonlyArray<Listed> = body
  return all.filter(({ Labels }) => Labels[label]?.split(" ").at(-2) === String(host))
}

const made = new Set<string>()

/** The names of the images that the tests make. */
export const images = { typescript: "effect-code-runtime-test-typescript", python: "effect-code-runtime-test-python" }

/** Makes the image of a language from the interpreter on this machine, once. */
export const makeImage = (language: keyof typeof images, socket: string = socketPath): void => {
  const name = images[language]
  if (made.has(`${socket} ${name}`)) return
  const script = fileURLToPath(new URL("../../scripts/make-oci-image.mjs", import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [script, language, "--socket", socket, "--name", name], {
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(stderr)
  made.add(`${socket} ${name}`)
}

/** Why no engine can be started here. */
export const whyNotOwn =
  process.geteuid?.() === 0 && existsSync("/usr/sbin/dockerd")
    ? undefined
    : "a dockerd that is killed needs root and the package: apt-get install -y docker.io"

/** A `dockerd` of one's own. */
export class Dockerd {
  readonly #folder = mkdtempSync(join(tmpdir(), "oci-engine-"))
  readonly socket = join(this.#folder, "docker.sock")
  #child: ChildProcess | undefined
  #ended: Promise<unknown> = Promise.resolve()

  /** Starts it, and waits until it answers. */
  async start(): Promise<void> {
    const places = ["--data-root", "data", "--exec-root", "exec", "--pidfile", "pid"].map((word) =>
      word.startsWith("--") ? word : join(this.#folder, word)
    )
    // Of one that was killed; it would be waited for in vain.
    rmSync(join(this.#folder, "exec/containerd/containerd.pid"), { force: true })
    const child = spawn(
      "/usr/sbin/dockerd",
      ["--iptables=false", "--ip6tables=false", "--bridge=none", "--host", `unix://${this.socket}`, ...places],
      { stdio: "ignore" }
    )
    this.#child = child
    this.#ended = new Promise((resolve) => child.once("exit", resolve))
    const end = performance.now() + 30_000
    for (;;) {
      const answers = await ask(this.socket, "GET", "/_ping").catch(() => undefined)
      if (answers?.status === 200) return
      if (performance.now() > end || child.exitCode !== null) throw new Error("dockerd does not start")
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Ends it. */
  async stop(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.#child?.kill(signal)
    await this.#ended
  }

  /** Removes all that it had. */
  close(): void {
    // Mounts of a killed one may be left.
    for (const line of spawnSync("findmnt", ["-rno", "TARGET"], { encoding: "utf8" }).stdout.split("\n").toReversed()) {
      if (line.startsWith(`${this.#folder}/`)) spawnSync("umount", ["-l", line])
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
