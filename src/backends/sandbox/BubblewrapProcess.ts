/**
 * A sandbox of bubblewrap: built, put into its control group, and let go.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { Socket } from "node:net"
import { LaunchFailure } from "../../services/GuestLauncher.ts"
import { asShell, type Ending } from "../process/Ending.ts"
import * as ProcessTable from "../process/ProcessTable.ts"
import { type Bounds, ControlGroup, type Place } from "./ControlGroup.ts"
import { type Kind, SandboxGuest } from "./SandboxGuest.ts"

/** How sandboxes of one kind are built. */
export interface Recipe extends Kind {
  /** bubblewrap, and its arguments up to the command's end. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** How many further pipes it has, from descriptor `firstPipe` on. */
  readonly pipes: number
  /** Open files whose contents bubblewrap reads, on the descriptors that follow. */
  readonly data: ReadonlyArray<number>
  /** Who is inside, as the host sees it; undefined: whoever the host is. */
  readonly identity: (() => number) | undefined
  /** Where its control group is made, and what it bounds; undefined: it stays in the host's. */
  readonly group: { readonly place: Place; readonly bounds: Bounds } | undefined
}

/** Where bubblewrap tells of the sandbox. */
const infoDescriptor = 4
/** Where it waits until it may go on; it closes the other one before, so they cannot be one. */
const gateDescriptor = 5
/** The first descriptor after those. */
export const firstPipe = 6

/** The arguments that say where it tells and waits. */
export const talking: ReadonlyArray<string> = [
  "--info-fd",
  String(infoDescriptor),
  "--block-fd",
  String(gateDescriptor)
]

/** How long a sandbox may take to be built, in milliseconds. */
const buildMs = 20_000

const isSocket = (pipe: unknown): pipe is Socket => pipe instanceof Socket

/** A sandbox that stands. */
export interface Built {
  readonly child: ChildProcess
  /** The first process inside, by its number on the host: all others end with it. */
  readonly first: number
  readonly group: ControlGroup | undefined
  readonly stdout: Socket
  readonly stderr: Socket
  readonly channel: Socket
  readonly more: ReadonlyArray<Socket>
}

/** Puts a process into a group of its own; undefined where the kernel did not. */
export const confine = ({ bounds, place }: NonNullable<Recipe["group"]>, pid: number): ControlGroup | undefined => {
  const group = ControlGroup.make(place, bounds)
  if (group?.join(pid) === true) return group
  ProcessTable.signal(pid, "SIGKILL")
  if (group !== undefined) Effect.runFork(group.remove)
  return undefined
}

/** Builds a sandbox, groups its processes once it stands, and starts its first program. */
export const build = (recipe: Recipe): Effect.Effect<Built, LaunchFailure> =>
  Effect.callback((resume) => {
    const fail = (why: string, cause?: unknown) =>
      resume(
        Effect.fail(
          new LaunchFailure({
            message: `a sandbox could not be made: ${why}`,
            ...(cause === undefined ? {} : { cause })
          })
        )
      )
    // Each sandbox reads the files from their beginning, so each has descriptors of its own.
    const data: Array<number> = []
    const extra = Array.from({ length: recipe.pipes }, () => "pipe" as const)
    let child: ChildProcess
    try {
      for (const file of recipe.data) data.push(openSync(`/proc/self/fd/${file}`, "r"))
      const id = recipe.identity?.()
      child = spawn(recipe.command, recipe.args, {
        cwd: "/",
        env: {},
        stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", ...extra, ...data],
        ...(id === undefined ? {} : { uid: id, gid: id })
      })
    } catch (cause) {
      return fail(cause instanceof Error ? cause.message : "no process could be started", cause)
    } finally {
      for (const file of data) closeSync(file)
    }
    const pipes: ReadonlyArray<unknown> = child.stdio
    const [, stdout, stderr, channel, info, gate] = pipes
    const more = pipes.slice(firstPipe, firstPipe + recipe.pipes)
    if (
      !(stdout instanceof Socket && stderr instanceof Socket && channel instanceof Socket) ||
      !(info instanceof Socket && gate instanceof Socket && more.every(isSocket))
    ) {
      child.once("error", (cause) => fail(cause.message, cause))
      return
    }
    // A pipe whose other end is gone; the exit tells the rest.
    for (const socket of [stdout, stderr, channel, info, gate, ...more]) socket.on("error", () => {})

    let said = ""
    let told = ""
    let refusal = ""
    const onSaid = (bytes: Buffer) => (said += bytes.toString())
    const timer = setTimeout(() => child.kill("SIGKILL"), buildMs)
    const done = () => {
      clearTimeout(timer)
      stderr.off("data", onSaid)
      stderr.pause()
      child.removeListener("error", onError)
      child.removeListener("close", onClose)
    }
    const onError = (cause: Error) => {
      done()
      child.on("error", () => {})
      fail(cause.message, cause)
    }
    const onClose = (code: number | null, signal: string | null) => {
      done()
      fail(said.trim().split("\n")[0] || refusal || `bubblewrap ended with ${signal ?? `code ${code}`}`)
    }
    child.on("error", onError)
    child.on("close", onClose)
    stdout.pause()
    channel.pause()
    stderr.on("data", onSaid)
    info.on("data", (bytes: Buffer) => {
      told += bytes.toString()
      const first = Number(/"child-pid": (\d+)\b[^]*\}/u.exec(told)?.[1])
      if (!(first > 0)) return
      info.destroy()
      const group = recipe.group === undefined ? undefined : confine(recipe.group, first)
      if (recipe.group !== undefined && group === undefined) {
        // Unless it is gone already, and says why.
        refusal = "its control group could not be made"
        return
      }
      gate.end("\n")
      done()
      child.on("error", () => {})
      resume(Effect.succeed({ child, first, group, stdout, stderr, channel, more: more.filter(isSocket) }))
    })
  })

/** A fresh guest in a sandbox of its own. It is ended by `end`. */
export const start = (recipe: Recipe): Effect.Effect<SandboxGuest, LaunchFailure> =>
  Effect.map(build(recipe), ({ channel, child, first, group, stderr, stdout }) => {
    let gone = false
    child.once("exit", () => (gone = true))
    const ended = new Promise<Ending>((resolve) => {
      // bubblewrap tells how the first program ended.
      child.once("close", (code, signal) => resolve(signal === null ? asShell(code ?? 0) : { code: undefined, signal }))
    })
    child.unref()
    const leader = { pid: first, group, stdout, stderr, channel, ended, isGone: () => gone, hold: () => child.ref() }
    return new SandboxGuest(leader, recipe)
  })
