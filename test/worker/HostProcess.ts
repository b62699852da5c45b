/**
 * Drives a host process of `host.ts` from a test.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Told } from "./host.ts"

const isTold = (value: unknown): value is Told => typeof value === "object" && value !== null && "outcome" in value

/** How a host ended while it ran a program. */
export interface Death {
  readonly code: number | null
  readonly signal: string | null
}

export class HostProcess {
  readonly #child: ChildProcess
  readonly #closed: Promise<Death>
  output = ""

  private constructor(child: ChildProcess) {
    this.#child = child
    const keep = (chunk: Buffer) => {
      this.output += chunk.toString()
    }
    child.stdout?.on("data", keep)
    child.stderr?.on("data", keep)
    // A child whose channel was cut first tells no "close" of its own.
    const exited = new Promise<Death>((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })))
    const read = [child.stdout, child.stderr].flatMap((stream) => (stream === null ? [] : [once(stream, "close")]))
    this.#closed = Promise.all([exited, ...read]).then(([death]) => death)
  }

  static async start(computeMs = 1000): Promise<HostProcess> {
    const child = fork(fileURLToPath(new URL("./host.ts", import.meta.url)), [String(computeMs)], { silent: true })
    const host = new HostProcess(child)
    await once(child, "message")
    return host
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** What came of a program, or how the host died of it. */
  async run(program: string): Promise<Told | Death> {
    const told = once(this.#child, "message").then(([message]: ReadonlyArray<unknown>) => {
      if (isTold(message)) return message
      throw new Error(`the host failed: ${JSON.stringify(message)}`)
    })
    this.#child.send({ program })
    return Promise.race([told, this.#closed])
  }

  /** Ends it; its output is whole then. */
  async end(): Promise<Death> {
    if (this.#child.connected) this.#child.disconnect()
    return this.#closed
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }
}
