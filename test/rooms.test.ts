import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"
import { fileURLToPath } from "node:url"

const source = fileURLToPath(new URL("../src", import.meta.url))

/** From the ground up: a room imports only its own files and rooms below it. */
const rooms = ["domain", "services", "layers", "backends", "adapters", "conformance", "cli"]

const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(source, file), "utf8").matchAll(/(?:from|import|import\()\s*["']([^"']+)["']/gu)].map(
    (match) => match[1] ?? ""
  )

const files = globSync("**/*.ts", { cwd: source }).filter((file) => file.includes("/"))
const roomOf = (file: string): string => file.split("/")[0] ?? ""

describe("rooms", () => {
  it("every folder of src is a room", () => {
    assert.deepStrictEqual(
      [...new Set(files.map(roomOf))].filter((room) => !rooms.includes(room)),
      []
    )
  })

  it("no file imports from a room above its own", () => {
    const upward = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith("."))
        .map((target) => normalize(join(dirname(file), target)))
        .filter((target) => rooms.indexOf(roomOf(target)) > rooms.indexOf(roomOf(file)))
        .map((target) => `${file} imports ${target}`)
    )
    assert.deepStrictEqual(upward, [])
  })

  it("the domain knows neither Node nor Layers", () => {
    const offenders = files
      .filter((file) => roomOf(file) === "domain")
      .flatMap((file) => importsOf(file).map((target) => [file, target] as const))
      .filter(([, target]) => target.startsWith("node:") || target === "effect/Layer")
    assert.deepStrictEqual(offenders, [])
  })

  it("the domain, the services and the layers spawn nothing", () => {
    const spawning = new Set([
      "node:child_process",
      "node:worker_threads",
      "node:cluster",
      "effect/process",
      "effect/workers"
    ])
    const offenders = files
      .filter((file) => ["domain", "services", "layers"].includes(roomOf(file)))
      .flatMap((file) => importsOf(file).map((target) => [file, target] as const))
      .filter(([, target]) => spawning.has(target))
    assert.deepStrictEqual(offenders, [])
  })

  it("what runs inside a guest imports nothing from npm", () => {
    const seen = new Set<string>()
    const visit = (file: string): ReadonlyArray<string> => {
      if (seen.has(file)) return []
      seen.add(file)
      return importsOf(file).flatMap((target) => {
        if (target.startsWith(".")) return visit(relative(source, join(source, dirname(file), target)))
        return target.startsWith("node:") ? [] : [`${file} imports ${target}`]
      })
    }
    const entries = files.filter((file) => /\/guest-[a-z]+\.ts$/u.test(file))
    assert.isAtLeast(entries.length, 1)
    assert.deepStrictEqual(entries.flatMap(visit), [])
  })
})
