/**
 * What a hostile program reaches of its host on each backend: the tables of `docs/security.md`, its "none" rows too. A
 * boundary that is claimed and a boundary that is missing are both shown, so that neither changes in silence.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import {
  type CodeRuntime,
  NodeProcess,
  PromiseAdapter,
  PythonProcess,
  Sandbox,
  WorkerThread
} from "effect-code-runtime"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { type AddressInfo, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { whyNotHere } from "./sandbox/Absence.ts"
import { images, makeImage, socketPath, whyNone } from "./sandbox/Dockerd.ts"

type Language = "typescript" | "python"

/** A way to reach something: a program that returns true where it did, and anything else, or fails, where it did not. */
interface Reach {
  readonly what: string
  readonly programs: { readonly [language in Language]?: () => string }
  /** Whether the host saw it happen, where the program's word is not enough. */
  readonly seen?: () => boolean
}

let folder = ""
let server: Server | undefined
let port = 0
let connections = 0

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === "object" && address !== null

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "security-test-"))
  const listening = createServer((socket) => {
    connections++
    socket.destroy()
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve))
  const address = listening.address()
  if (isAddress(address)) port = address.port
})

afterAll(() => {
  server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const host = process.pid
const written = (name: string): boolean => {
  const file = join(folder, name)
  const found = existsSync(file)
  rmSync(file, { force: true })
  return found
}

const reaches: ReadonlyArray<Reach> = [
  {
    what: "the environment of the host",
    programs: {
      typescript: () => `return require("node:fs").readFileSync("/proc/${host}/environ", "latin1").includes("PATH=")`,
      python: () => `return b"PATH=" in open("/proc/${host}/environ", "rb").read()`
    }
  },
  {
    what: "files of the host, to read",
    programs: {
      typescript: () => `return require("node:fs").readFileSync("/etc/passwd", "utf8").includes("root")`,
      python: () => `return "root" in open("/etc/passwd").read()`
    }
  },
  {
    what: "files of the host, to write",
    programs: {
      typescript: () => `require("node:fs").writeFileSync("${folder}/own", ""); return true`,
      python: () => `open("${folder}/own", "w").close()\nreturn True`
    },
    seen: () => written("own")
  },
  {
    what: "files of the host, to write by a child",
    programs: {
      typescript: () =>
        `require("node:child_process").execFileSync("/usr/bin/touch", ["${folder}/child"]); return true`,
      python: () => `import subprocess\nsubprocess.run(["/usr/bin/touch", "${folder}/child"], check=True)\nreturn True`
    },
    seen: () => written("child")
  },
  {
    what: "the network",
    programs: {
      typescript: () => `
        const { connect } = require("node:net")
        return await new Promise((resolve, reject) => {
          connect(${port}, "127.0.0.1").on("close", () => resolve(true)).on("error", reject)
        })`,
      python: () => `
import socket
socket.create_connection(("127.0.0.1", ${port})).close()
return True`
    },
    seen: () => {
      const came = connections > 0
      connections = 0
      return came
    }
  },
  {
    what: "signals to the host",
    programs: {
      typescript: () => `return process.kill(${host}, 0)`,
      python: () => `import os\nos.kill(${host}, 0)\nreturn True`
    }
  },
  {
    what: "the memory of the host through its own process",
    programs: {
      typescript: () => `
        const fs = require("node:fs")
        if (fs.readlinkSync("/proc/self") !== "${host}") return false
        const line = fs.readFileSync("/proc/self/maps", "utf8").split("\\n").find((each) => each.includes(" rw-p "))
        return fs.readSync(fs.openSync("/proc/self/mem", "r"), Buffer.alloc(8), 0, 8, parseInt(line, 16)) === 8`
    }
  },
  {
    what: "the main thread of the host, by the inspector",
    programs: {
      typescript: () => `new (require("node:inspector").Session)().connectToMainThread(); return true`
    }
  }
]

interface Backend {
  readonly name: string
  readonly language: Language
  readonly layer: Layer.Layer<CodeRuntime.CodeRuntime, unknown>
  /** What must be there before the layer is built, where it can be had. */
  readonly prepare?: () => void
  /** What its programs reach; the rest they do not. */
  readonly open: ReadonlyArray<string>
}

const ofTheSameUser = [
  "the environment of the host",
  "files of the host, to read",
  "files of the host, to write by a child",
  "the network",
  "signals to the host"
]

const backends: ReadonlyArray<Backend> = [
  {
    name: "WorkerThread",
    language: "typescript",
    layer: WorkerThread.layer(),
    open: reaches.map(({ what }) => what)
  },
  {
    name: "WorkerThread with permission",
    language: "typescript",
    layer: WorkerThread.layer({ permission: {} }),
    open: ["the network", "signals to the host"]
  },
  { name: "NodeProcess", language: "typescript", layer: NodeProcess.layer(), open: ofTheSameUser },
  {
    name: "NodeProcess with permission",
    language: "typescript",
    layer: NodeProcess.layer({ permission: {} }),
    open: ["the network", "signals to the host"]
  },
  {
    name: "PythonProcess",
    language: "python",
    layer: PythonProcess.layer(),
    open: [...ofTheSameUser, "files of the host, to write"]
  },
  { name: "Sandbox of TypeScript", language: "typescript", layer: Sandbox.layer({ language: "typescript" }), open: [] },
  { name: "Sandbox of Python", language: "python", layer: Sandbox.layer({ language: "python" }), open: [] },
  ...(["typescript", "python"] as const).map((language) => ({
    name: `Containers of ${language}`,
    language,
    layer: Sandbox.layerOci({ language, image: images[language], socket: socketPath }),
    prepare: () => {
      if (whyNone === undefined) makeImage(language)
    },
    open: []
  }))
]

describe.each(backends)("$name", ({ language, layer, open, prepare }) => {
  let runtime: PromiseAdapter.PromiseCodeRuntime | undefined
  let missing: string | undefined
  beforeAll(async () => {
    prepare?.()
    runtime = await PromiseAdapter.make(layer).catch((error: unknown) => {
      missing = whyNotHere(error)
      if (missing === undefined) throw error
      return undefined
    })
  }, 60_000)
  afterAll(async () => runtime?.dispose())

  for (const { programs, seen, what } of reaches) {
    const program = programs[language]
    if (program === undefined) continue
    const isOpen = open.includes(what)
    it(`${isOpen ? "does not close" : "closes"} ${what}`, async ({ skip }) => {
      if (runtime === undefined) return skip(missing ?? "")
      const { error, value } = await runtime.run({ program: program() })
      assert.strictEqual(value === true, isOpen, error?.message)
      if (seen !== undefined) assert.strictEqual(seen(), isOpen)
    })
  }
})

describe("PythonProcess without a control group", () => {
  it("does not end a child that takes off its mark and leaves its session", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ cgroup: false }))
    const { value } = await runtime.run({
      program: `
import resource, subprocess
mark = 15
_, hard = resource.getrlimit(mark)
resource.setrlimit(mark, (hard - 1, hard))
return subprocess.Popen(["/bin/sleep", "60"], start_new_session=True, stdout=-3, stderr=-3).pid`
    })
    assert.isNumber(value)
    const pid = Number(value)
    try {
      assert.include(readFileSync(`/proc/${pid}/cmdline`, "latin1"), "sleep")
    } finally {
      await Effect.runPromise(Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL"))))
    }
  })
})

describe("a heap that grows in one step", () => {
  it("ends the host of a worker thread", async () => {
    const file = fileURLToPath(new URL("security/thread-host.ts", import.meta.url))
    const child = spawn(process.execPath, ["--conditions=@effect-code-runtime/source", file], {
      stdio: ["ignore", "pipe", "ignore"]
    })
    const told: Array<Buffer> = []
    child.stdout.on("data", (bytes: Buffer) => told.push(bytes))
    const signal = await new Promise((resolve) => child.on("close", (_, by) => resolve(by)))
    assert.strictEqual(signal, "SIGABRT", Buffer.concat(told).toString())
  })

  it.each([
    ["typescript", NodeProcess.layer({ maxMemoryMb: 64 }), "const all = []; for (let i = 0; ; i++) all.push(i)"],
    ["python", PythonProcess.layer({ maxMemoryMb: 64 }), "numbers = []\nwhile True:\n    numbers.append(len(numbers))"]
  ] as const)("ends a process of %s alone", async (_, layer, program) => {
    await using runtime = await PromiseAdapter.make<unknown>(layer)
    assert.isDefined((await runtime.run({ program })).error)
    assert.strictEqual((await runtime.run({ program: "return 1" })).value, 1)
  })
})
