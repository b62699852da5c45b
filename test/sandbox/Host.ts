/**
 * What attacks aim at: a host with a secret in a file, servers on every kind of socket, and a process of its own.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ChildProcess, spawn } from "node:child_process"

/** What a program is told of its host. */
export interface Target {
  readonly pid: number
  readonly file: string
  readonly secret: string
  readonly port: number
  readonly socket: string
  readonly abstract: string
}

export interface Host {
  readonly target: Target
  readonly folder: string
  readonly close: () => Promise<void>
}

const listen = (server: Server, at: number | string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(typeof at === "number" ? { host: "127.0.0.1", port: at } : { path: at }, resolve)
  })

/** Holds a datagram socket with an abstract name, which Node itself cannot. */
const datagram = (name: string): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const script = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\\0" + sys.argv[1])
print("bound", flush=True)
sys.stdin.read()`
    const child = spawn("/usr/bin/python3", ["-c", script, name], { stdio: ["pipe", "pipe", "inherit"] })
    child.once("error", reject)
    child.stdout.once("data", () => resolve(child))
  })

/** Sets a host up. */
export const open = async (): Promise<Host> => {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-host-"))
  chmodSync(folder, 0o777)
  const file = join(folder, "secret")
  const secret = `secret ${Math.random()}`
  // Readable and writable for everybody: permissions alone must not be what refuses the guest.
  writeFileSync(file, secret)
  chmodSync(file, 0o666)
  const abstract = `sandbox-host-${process.pid}-${Math.random()}`
  const socket = join(folder, "socket")
  const servers = [createServer(), createServer(), createServer()]
  for (const server of servers) server.on("connection", (peer) => peer.destroy())
  const [tcp, path, named] = servers
  if (tcp === undefined || path === undefined || named === undefined) throw new Error("three servers")
  await listen(tcp, 0)
  await listen(path, socket)
  chmodSync(socket, 0o777)
  await listen(named, `\0${abstract}`)
  const address = tcp.address()
  const holder = await datagram(`${abstract}-datagram`)
  return {
    target: {
      pid: process.pid,
      file,
      secret,
      port: typeof address === "object" && address !== null ? address.port : 0,
      socket,
      abstract
    },
    folder,
    close: async () => {
      holder.stdin?.end()
      for (const server of servers) await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
