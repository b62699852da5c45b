/**
 * The HTTP API of a container engine on its unix socket. Its command line is not used: a killed one leaves its container
 * running.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ClientRequest } from "node:http"
import type { Socket } from "node:net"

/** What an engine answered. */
export interface Answer {
  readonly status: number
  /** The body as JSON; undefined where it is none. */
  readonly body: unknown
}

/** The engine gave no answer. */
export class EngineSilent extends Schema.TaggedError<EngineSilent>()("EngineSilent", {
  /** The system's code, such as `ENOENT` and `ECONNREFUSED`, or `timeout`. */
  code: Schema.String,
  message: Schema.String
}) {}

/** How long an engine may think about one request, in milliseconds. */
const answerMs = 30_000

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "unknown")

const silent = (socketPath: string, code: string): EngineSilent =>
  new EngineSilent({ code, message: `no container engine answers at ${socketPath} (${code})` })

const open = (socketPath: string, method: string, path: string, body: unknown, headers = {}): ClientRequest => {
  const text = body === undefined ? "" : JSON.stringify(body)
  // An import would load Node's own fetch too, for a fifth of a second, for everybody who imports this library.
  const asking = process.getBuiltinModule("node:http").request({
    socketPath,
    method,
    path,
    agent: false,
    headers: {
      Host: "engine",
      "Content-Length": Buffer.byteLength(text),
      ...(text === "" ? {} : { "Content-Type": "application/json" }),
      ...headers
    }
  })
  if (method === "POST" && text === "" && "Upgrade" in headers) asking.flushHeaders()
  asking.end(text)
  return asking
}

const sendRequest = (
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
  limitMs: number | undefined
): Effect.Effect<Answer, EngineSilent> =>
  Effect.callback((resume) => {
    const asking = open(socketPath, method, path, body)
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => {
            asking.destroy()
            resume(Effect.fail(silent(socketPath, "timeout")))
          }, limitMs)
    // What waits for a container's end keeps no host alive.
    if (limitMs === undefined) asking.on("socket", (socket: Socket) => socket.unref())
    const fail = (error: Error) => {
      clearTimeout(timer)
      resume(Effect.fail(silent(socketPath, codeOf(error))))
    }
    asking.on("error", fail)
    asking.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (data: string) => (text += data))
      response.on("error", fail)
      response.on("end", () => {
        clearTimeout(timer)
        const answer = Effect.succeed({ status: response.statusCode ?? 0, body: parse(text) })
        // An answer leaves no descriptor open.
        const { socket } = response
        if (socket === null || socket.closed) return resume(answer)
        socket.once("close", () => resume(answer))
        socket.destroy()
      })
    })
    return Effect.sync(() => {
      clearTimeout(timer)
      asking.destroy()
    })
  })

/** Asks the engine something; fails where it gives no answer in 30 seconds. */
export const ask = (
  socketPath: string,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown
): Effect.Effect<Answer, EngineSilent> => sendRequest(socketPath, method, path, body, answerMs)

/** Asks for what may take as long as a container lives. */
export const wait = (socketPath: string, path: string): Effect.Effect<Answer, EngineSilent> =>
  sendRequest(socketPath, "POST", path, undefined, undefined)

/** Turns a request into a connection of raw bytes. */
export const hijack = (
  socketPath: string,
  path: string
): Effect.Effect<{ readonly socket: Socket; readonly head: Buffer }, EngineSilent> =>
  Effect.callback((resume) => {
    const asking = open(socketPath, "POST", path, undefined, { Connection: "Upgrade", Upgrade: "tcp" })
    const timer = setTimeout(() => {
      asking.destroy()
      resume(Effect.fail(silent(socketPath, "timeout")))
    }, answerMs)
    asking.on("error", (error) => {
      clearTimeout(timer)
      resume(Effect.fail(silent(socketPath, codeOf(error))))
    })
    asking.on("upgrade", (_, socket: Socket, head) => {
      clearTimeout(timer)
      resume(Effect.succeed({ socket, head }))
    })
    asking.on("response", (response) => {
      clearTimeout(timer)
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (data: string) => (text += data))
      response.on("close", () => {
        const message = messageOf({ status: response.statusCode ?? 0, body: parse(text) })
        resume(Effect.fail(new EngineSilent({ code: "refused", message })))
      })
    })
  })

const Told = Schema.Struct({ message: Schema.String })

/** The engine's own words in an answer. */
export const messageOf = ({ body, status }: Answer): string => {
  const told = Schema.decodeUnknownOption(Told)(body)
  return told._tag === "Some" ? told.value.message.trim().split("\n")[0] || `status ${status}` : `status ${status}`
}
