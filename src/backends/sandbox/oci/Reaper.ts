/**
 * Removes the containers of hosts that died before they could do it themselves.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync, readlinkSync } from "node:fs"
import * as Container from "./Container.ts"
import * as Engine from "./Engine.ts"

/** The label that names a container's host. */
export const label = "effect-code-runtime.host"

/** After what time one that never started is nobody's, in seconds. */
const abandonedSeconds = 600

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim()
  } catch {
    return ""
  }
}

/** The moment at which a process started, in ticks since the system did; empty where there is no such process. */
const startOf = (pid: number): string => {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
}

const pidNamespace = (): string => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

/** Where process ids mean what they mean here: this boot of this machine, and one space of ids. */
const world = (): string => `${read("/proc/sys/kernel/random/boot_id")} ${pidNamespace()}`

/** What the label says of this host. */
export const self = (): string => `${world()} ${process.pid} ${startOf(process.pid)}`

/** Whether the host that a label names is dead for sure; of hosts elsewhere nothing can be said. */
const isDead = (host: string): boolean => {
  const [, where, pid, started] = /^(.*) (\d+) (\d+)$/u.exec(host) ?? []
  return where === world() && startOf(Number(pid)) !== started
}

const Listed = Schema.Array(
  Schema.Struct({
    Id: Schema.String,
    State: Schema.String,
    Created: Schema.Finite,
    Labels: Schema.Record(Schema.String, Schema.String)
  })
)

/** Removes them. What cannot be removed now is left to the next. */
export const reap = (socketPath: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
    const { body } = yield* Engine.ask(socketPath, "GET", `/containers/json?all=true&filters=${filters}`)
    const now = Date.now() / 1000
    const left = (yield* Schema.decodeUnknownEffect(Listed)(body)).filter(
      ({ Created, Labels, State }) =>
        isDead(Labels[label] ?? "") ||
        State === "exited" ||
        State === "dead" ||
        (State === "created" && now - Created > abandonedSeconds)
    )
    yield* Effect.forEach(left, ({ Id }) => Container.remove(socketPath, Id), { concurrency: 4, discard: true })
  }).pipe(Effect.ignore)
