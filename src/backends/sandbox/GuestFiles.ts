/**
 * The files that an interpreter needs, found on the host: they are all that a sandbox shows of it, file by file and
 * read-only.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import * as Interpreter from "../python-process/Interpreter.ts"
import { readElf } from "./Elf.ts"
import { SandboxUnavailable } from "./SandboxUnavailable.ts"

/** A file or folder of the host, and where the guest sees it. */
export interface Mount {
  readonly from: string
  readonly to: string
}

/** A file that only the sandbox has. */
export interface OwnFile {
  readonly to: string
  readonly bytes: Uint8Array
}

/** What one language's guests are made of. */
export interface GuestFiles {
  readonly mounts: ReadonlyArray<Mount>
  /** Folders inside of what is mounted that the guest sees empty. */
  readonly hidden: ReadonlyArray<string>
  readonly own: ReadonlyArray<OwnFile>
  /** The interpreter's path inside. */
  readonly interpreter: string
  /** The entry's path inside. */
  readonly entry: string
}

/** Where the guest's own code lies inside. */
const ownFolder = "/guest"

/** The path inside of what forks guests of Python. */
export const zygoteEntry = join(ownFolder, "zygote.py")

const optionInterpreter = "the option interpreter of Sandbox.layer"

const unavailable = (message: string) => new SandboxUnavailable({ reason: "interpreter", message })

/** Executables and the libraries that they map, each where the dynamic loader looks for it. */
const linked = (executables: ReadonlyArray<Mount>, libraries: ReadonlyArray<string>): ReadonlyArray<Mount> => {
  const mounts = new Map<string, string>()
  for (const { from, to } of executables) {
    mounts.set(to, from)
    const loader = readElf(from)?.interpreter
    if (loader !== undefined) mounts.set(loader, realpathSync(loader))
  }
  const standard = libraries.find((path) => /\/libc[.-][^/]*$/u.test(path) || /\/ld-musl-[^/]*$/u.test(path))
  for (const path of libraries) {
    // The loader asks by name, in the folder where the C library lies, and in folders that some files name.
    const name = readElf(path)?.name ?? path.slice(path.lastIndexOf("/") + 1)
    for (const folder of new Set([dirname(standard ?? path), dirname(path)])) {
      const to = join(folder, name)
      if (!mounts.has(to)) mounts.set(to, path)
    }
  }
  return [...mounts].map(([to, from]) => ({ from, to }))
}

const run = (file: string, args: ReadonlyArray<string>): Effect.Effect<Buffer, SandboxUnavailable> =>
  Effect.callback((resume) => {
    execFile(
      file,
      args,
      { encoding: "buffer", env: {}, maxBuffer: 2 ** 26, timeout: 20_000 },
      (error, stdout, stderr) =>
        resume(
          error === null
            ? Effect.succeed(stdout)
            : Effect.fail(
                unavailable(`${file} does not start: ${stderr.toString().trim().split("\n").at(-1) || error.message}`)
              )
        )
    )
  })

/** A module and all that it imports by relative paths; a built one imports none. */
const withImports = (path: string, found: Set<string> = new Set()): ReadonlySet<string> => {
  if (found.has(path)) return found
  found.add(path)
  for (const [, name] of readFileSync(path, "utf8").matchAll(/^(?:import|export)\b[^"]* from "(\.[^"]+)"/gmu)) {
    if (name !== undefined) withImports(resolve(dirname(path), name), found)
  }
  return found
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The guest of Node: its modules, and the path of the one that is started. */
export const nodeGuest = (): Pick<GuestFiles, "entry" | "own"> => {
  const isSource = import.meta.url.endsWith(".ts")
  const entry = fileOf(`../node-process/guest-process.${isSource ? "ts" : "cjs"}`)
  const root = fileOf("../..")
  const own = [...withImports(entry)].map((path) => ({
    to: join(ownFolder, relative(root, path)),
    bytes: readFileSync(path)
  }))
  // Sources say nowhere beside them that they are modules.
  own.push({ to: join(ownFolder, "package.json"), bytes: Buffer.from('{"type":"module"}') })
  return { entry: join(ownFolder, relative(root, entry)), own }
}

/** What Node needs: this host's own executable, its libraries, the guest. */
const findNode = (node: string, commands: ReadonlyArray<Mount>): Effect.Effect<GuestFiles, SandboxUnavailable> =>
  Effect.gen(function* () {
    const remedy = `name a Node by ${optionInterpreter}`
    if (!existsSync(node)) return yield* unavailable(`${node} is not there; ${remedy}`)
    const script = "process.stdout.write(require('fs').readFileSync('/proc/self/maps'))"
    const maps = (yield* run(node, ["--no-warnings", "-e", script])).toString()
    const executable = realpathSync(node)
    if (!maps.includes(executable)) return yield* unavailable(`${node} is no Node; ${remedy}`)
    const libraries = new Set([...maps.matchAll(/r-xp .* (\/.*)$/gmu)].map(([, path]) => path ?? ""))
    libraries.delete(executable)
    return {
      mounts: linked([{ from: executable, to: "/usr/bin/node" }, ...commands], [...libraries]),
      hidden: [],
      ...nodeGuest(),
      interpreter: "/usr/bin/node"
    }
  })

const Probed = Schema.fromJsonString(
  Schema.Struct({
    executable: Schema.String,
    prefix: Schema.String,
    stdlib: Schema.String,
    libraries: Schema.Array(Schema.String)
  })
)

/** What CPython needs: its executable, the libraries of every extension module, the standard library. */
const findPython = (
  python: string | undefined,
  commands: ReadonlyArray<Mount>
): Effect.Effect<GuestFiles, SandboxUnavailable> =>
  Effect.gen(function* () {
    const found = yield* Effect.mapError(Interpreter.find(python, optionInterpreter), ({ message }) =>
      unavailable(message)
    )
    const sources = [fileOf("./beginning.py"), fileOf("../python-guest/guest.py")]
    const told = yield* run(found.executable, ["-I", "-S", "-B", fileOf("./probe.py"), ...sources])
    const end = told.indexOf("\n")
    const { executable, libraries, prefix, stdlib } = yield* Effect.mapError(
      Schema.decodeEffect(Probed)(told.subarray(0, end).toString()),
      () => unavailable(`${found.executable} does not tell which files it needs`)
    )
    const interpreter = `/usr/bin/${executable.slice(executable.lastIndexOf("/") + 1)}`
    const inside = join("/usr", relative(prefix, stdlib))
    return {
      mounts: [
        ...linked([{ from: executable, to: interpreter }, ...commands], libraries),
        { from: stdlib, to: inside }
      ],
      hidden: ["site-packages", "dist-packages", "test"]
        .filter((name) => existsSync(join(stdlib, name)))
        .map((name) => join(inside, name)),
      own: [
        { to: join(ownFolder, "guest.pyc"), bytes: told.subarray(end + 1) },
        { to: zygoteEntry, bytes: readFileSync(fileOf("./zygote.py")) }
      ],
      interpreter,
      entry: join(ownFolder, "guest.pyc")
    }
  })

const known = new Map<string, GuestFiles>()

/** Finds them once for each interpreter and its commands; `interpreter` and `commands` are paths of the host. */
export const find = (
  language: "typescript" | "python",
  interpreter: string | undefined,
  commands: ReadonlyArray<string>
): Effect.Effect<GuestFiles, SandboxUnavailable> =>
  Effect.suspend(() => {
    const key = JSON.stringify([language, interpreter, commands])
    const before = known.get(key)
    if (before !== undefined && before.mounts.every(({ from }) => existsSync(from))) return Effect.succeed(before)
    const started = commands.map((path) => ({ from: realpathSync(path), to: `/usr/bin/${basename(path)}` }))
    const found =
      language === "python" ? findPython(interpreter, started) : findNode(interpreter ?? process.execPath, started)
    return Effect.tap(found, (files) => Effect.sync(() => known.set(key, files)))
  })
