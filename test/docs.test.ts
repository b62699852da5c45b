/**
 * The documentation is true: its code runs and gives what it says, its links lead somewhere, its tables are the code's own.
 *
 * - `ts`: a module, run as a file of this package; what a `text output` block after it says is what it prints.
 * - `ts program`, `python program`: a program, run on every backend of its language with the bindings of the page's
 *   `ts bindings` block; `name=value` words are limits. `json result` after it is what comes of it (of a message the first
 *   line), `text message` the whole message.
 * - `ts suite`: a test file of Vitest, which must pass.
 * - `sh`: lines of `npm` name scripts that exist; others are run, with `code-runtime` on the path and for `npx`.
 */
import { spawn } from "node:child_process"
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type * as Layer from "effect/Layer"
import {
  type CodeRuntime,
  Limits,
  NodeProcess,
  PromiseAdapter,
  PythonProcess,
  Sandbox,
  WorkerThread
} from "effect-code-runtime"
import * as Package from "effect-code-runtime"
import { rules } from "effect-code-runtime/conformance"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Block, type Page, read } from "./docs/Markdown.ts"
import { whyNotHere } from "./sandbox/Absence.ts"
import * as Attempts from "./sandbox/ContainerAttempts.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
/** For what starts a Node, or Vitest, of its own on a machine with more to do. */
const patience = 120_000
const condition = "--conditions=@effect-code-runtime/source"

const pages = new Map<string, Page>()
const texts = new Map<string, string>()
for (const file of ["README.md", "SECURITY.md", ...globSync("docs/*.md", { cwd: root }).toSorted()]) {
  const text = readFileSync(join(root, file), "utf8")
  texts.set(file, text)
  pages.set(file, read(text))
}

const textOf = (file: string): string => texts.get(file) ?? assert.fail(`${file} is not there`)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly scripts: { readonly [name: string]: string }
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  readonly peerDependencies: { readonly [name: string]: string }
}
const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

// Inside of the package, so that its own name and its dependencies resolve as they do for examples.
let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(root, ".docs-"))
  for (const name of ["bin", "modules", "shell", "suites"]) mkdirSync(join(folder, name))
  const bin = join(folder, "bin/code-runtime")
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" ${condition} "${root}src/cli/main.ts" "$@"\n`)
  chmodSync(bin, 0o755)
  // An app finds the command among what it has installed; nothing is to be looked for in a registry here.
  const npx = join(folder, "bin/npx")
  writeFileSync(npx, '#!/bin/sh\nexec "$@"\n')
  chmodSync(npx, 0o755)
})

const runtimes = new Map<string, Promise<PromiseAdapter.PromiseCodeRuntime>>()
afterAll(async () => {
  for (const made of await Promise.allSettled(runtimes.values())) {
    if (made.status === "fulfilled") await made.value.dispose()
  }
  rmSync(folder, { recursive: true, force: true })
})

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const execute = (command: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((resolveEnded, reject) => {
    const path = `${join(folder, "bin")}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`
    const child = spawn(command, args, { cwd, env: { ...process.env, PATH: path }, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text))
    child.on("error", reject)
    child.on("close", (code) => resolveEnded({ code, stdout, stderr }))
  })

/** Blocks by what is done with them. */
const isProgram = ({ words }: Block): boolean => words[0] === "program"
const isModule = ({ language, words }: Block): boolean =>
  ["ts", "js"].includes(language) && (words.length === 0 || words[0] === "bindings")
const isSuite = ({ language, words }: Block): boolean => language === "ts" && words[0] === "suite"
const isShell = ({ language }: Block): boolean => language === "sh"
/** What the block before it gives. */
const isOutcome = ({ language, words }: Block): boolean =>
  (language === "text" && (words[0] === "output" || words[0] === "message")) ||
  (language === "json" && words[0] === "result")
/** Blocks that only show something. */
const isShown = ({ language, words }: Block): boolean => ["", "text", "json"].includes(language) && words.length === 0

const nameOf = (block: Block): string => `line ${block.line}: ${[block.language, ...block.words].join(" ")}`
const fileName = (page: string, block: Block): string =>
  `modules/${page.replace(/\W+/gu, "-")}-${block.line}.${block.language === "js" ? "mjs" : "ts"}`

/** The blocks that say what comes of the one at an index. */
const outcomesOf = (blocks: ReadonlyArray<Block>, index: number): ReadonlyArray<Block> => {
  const rest = blocks.slice(index + 1)
  const end = rest.findIndex((block) => !isOutcome(block))
  return end < 0 ? rest : rest.slice(0, end)
}

type MakeLayer = (limits: Limits.LimitsInput) => Layer.Layer<CodeRuntime.CodeRuntime, unknown>

const layers: { readonly [language: string]: { readonly [name: string]: MakeLayer } } = {
  ts: {
    WorkerThread: WorkerThread.layer,
    NodeProcess: NodeProcess.layer,
    Sandbox: (limits) => Sandbox.layer({ ...limits, language: "typescript" })
  },
  python: {
    PythonProcess: PythonProcess.layer,
    Sandbox: (limits) => Sandbox.layer({ ...limits, language: "python" })
  }
}

const runtimeOf = (language: string, backend: string, limits: Limits.LimitsInput) => {
  const key = `${language} ${backend} ${JSON.stringify(limits)}`
  const found = runtimes.get(key)
  if (found !== undefined) return found
  const layer = layers[language]?.[backend] ?? assert.fail(`no backend for ${language}`)
  const made = PromiseAdapter.make(layer(limits))
  runtimes.set(key, made)
  return made
}

const limitsOf = (block: Block): Limits.LimitsInput => {
  const limits: { [key in Limits.LimitKey]?: number } = {}
  for (const word of block.words.slice(1)) {
    const [name = "", value = ""] = word.split("=")
    const key = Limits.keys.find((each) => each === name) ?? assert.fail(`${name} is no limit`)
    limits[key] = Number(value)
  }
  return limits
}

/** The bindings that the programs of a page may call. */
const bindingsOf = async (page: string, blocks: ReadonlyArray<Block>) => {
  const block = blocks.find(({ words }) => words[0] === "bindings")
  if (block === undefined) return []
  const file = join(folder, fileName(page, block))
  writeFileSync(file, block.text)
  const module: { readonly bindings: ReadonlyArray<PromiseAdapter.PromiseBindingNamespace> } = await import(
    /* @vite-ignore */ pathToFileURL(file).href
  )
  return module.bindings
}

const firstLine = (text: string): string => text.split("\n")[0] ?? ""

for (const [page, { anchors, blocks, links }] of pages) {
  describe(page, () => {
    for (const [index, block] of blocks.entries()) {
      const outcomes = outcomesOf(blocks, index)
      const stated = outcomes.find(({ language, words }) => language === "text" && words[0] === "output")

      if (isModule(block)) {
        it(nameOf(block), { timeout: patience }, async () => {
          const file = join(folder, fileName(page, block))
          writeFileSync(file, block.text)
          const ended = await execute(process.execPath, [condition, file], dirname(file))
          assert.strictEqual(ended.code, 0, ended.stderr)
          if (stated !== undefined) assert.strictEqual(ended.stdout.trimEnd(), stated.text.trimEnd())
        })
      } else if (isProgram(block)) {
        const result = outcomes.find(({ language }) => language === "json")
        const message = outcomes.find(({ words }) => words[0] === "message")
        for (const backend of Object.keys(layers[block.language] ?? {})) {
          it(`${nameOf(block)} on ${backend}`, async ({ skip }) => {
            const runtime = await runtimeOf(block.language, backend, limitsOf(block)).catch((error: unknown) =>
              skip(whyNotHere(error) ?? assert.fail(String(error)))
            )
            const bindings = await bindingsOf(page, blocks)
            const { error, logs, value } = await runtime.run({ program: block.text, bindings })
            assert.isTrue(result !== undefined || message !== undefined, "a program is followed by what comes of it")
            if (result !== undefined) {
              const got = {
                ...(value === undefined ? {} : { value }),
                ...(logs.length === 0 ? {} : { logs }),
                ...(error === undefined ? {} : { error: { kind: error.kind, message: firstLine(error.message) } })
              }
              assert.deepStrictEqual(got, JSON.parse(result.text))
            }
            if (message !== undefined) assert.strictEqual(error?.message, message.text)
          })
        }
      } else if (isSuite(block)) {
        it(nameOf(block), { timeout: patience }, async () => {
          const suites = join(folder, "suites")
          const config = join(suites, "vitest.config.ts")
          writeFileSync(join(suites, `${block.line}.test.ts`), block.text)
          writeFileSync(
            config,
            `import base from "../../vitest.config.ts"
export default { ...base, root: import.meta.dirname, test: { ...base.test, include: ["${block.line}.test.ts"] } }`
          )
          const vitest = join(root, "node_modules/vitest/vitest.mjs")
          const ended = await execute(process.execPath, [vitest, "run", "--config", config], suites)
          assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
          assert.match(ended.stdout, /Tests.* passed/u)
        })
      } else if (isShell(block)) {
        it(nameOf(block), { timeout: patience }, async () => {
          const commands = block.text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"))
          const npm = commands.filter((line) => line.startsWith("npm "))
          for (const line of npm) {
            const [, command = "", script = ""] = line.split(/\s+/u)
            if (command === "run") assert.property(manifest.scripts, script, line)
            else if (command === "start" || command === "test") assert.property(manifest.scripts, command, line)
            else assert.include(["ci", "install", "pack", "pkg"], command, line)
            for (const [, name = "", version = ""] of line.matchAll(/([\w-]+)(?:@|-)(\d+\.\d+\.\d+)(?:\.tgz)?/gu)) {
              assert.strictEqual(
                name === manifest.name ? manifest.version : manifest.peerDependencies[name],
                version,
                line
              )
            }
          }
          if (npm.length === commands.length) return
          assert.lengthOf(npm, 0, "a block has lines of npm or lines that are run")
          const ended = await execute("sh", ["-e", "-c", block.text], join(folder, "shell"))
          assert.strictEqual(ended.code, 0, ended.stderr)
          if (stated !== undefined) assert.strictEqual(ended.stdout.trimEnd(), stated.text.trimEnd())
        })
      } else if (!isOutcome(block) && !isShown(block)) {
        it(nameOf(block), () => assert.fail("no test knows what to do with this block"))
      }
    }

    it("has links that lead somewhere", () => {
      for (const { line, target } of links) {
        if (/^[a-z]+:/u.test(target)) continue
        const [path = "", anchor] = target.split("#")
        const file = path === "" ? page : relative(root, resolve(root, dirname(page), path))
        assert.isTrue(existsSync(join(root, file)), `line ${line}: there is no ${file}`)
        const there = file === page ? anchors : pages.get(file)?.anchors
        if (anchor !== undefined) assert.isTrue(there?.has(anchor), `line ${line}: ${file} has no #${anchor}`)
      }
    })

    it("names files that exist", () => {
      for (const [, path = ""] of textOf(page).matchAll(
        /`((?:src|test|docs|examples|scripts|bench)\/[\w./-]+\.\w+)`/gu
      )) {
        assert.isTrue(existsSync(join(root, path)), `there is no ${path}`)
      }
    })
  })
}

it("has modules that compile", { timeout: patience }, async () => {
  const project = join(folder, "modules/tsconfig.json")
  for (const [page, { blocks }] of pages) {
    for (const block of blocks.filter((each) => isModule(each) || isSuite(each)))
      writeFileSync(join(folder, fileName(page, block)), block.text)
  }
  writeFileSync(project, JSON.stringify({ extends: "../../tsconfig.json", include: ["*.ts"] }))
  const tsc = join(root, "node_modules/@typescript/native/bin/tsc")
  const { stdout } = await execute(process.execPath, [tsc, "-p", project, "--pretty", "false"], dirname(project))
  const complaints = stdout.split("\n").filter((line) => /^[\w.-]+\.ts\(/u.test(line))
  assert.deepStrictEqual(complaints, [])
})

const pageOf = (file: string): Page => pages.get(file) ?? assert.fail(`${file} is not there`)

/** The further cells of the table rows of a page that begin with a name in backticks, by that name. */
const rowsOf = (file: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    pageOf(file).tables.flatMap(({ rows }) =>
      rows.flatMap(([first = "", ...rest]) => {
        const name = /^`([^`]+)`$/u.exec(first)?.[1]
        return name === undefined ? [] : [[name, rest] as const]
      })
    )
  )

const cases = new Set(rules.flatMap((rule) => rule.cases.map(({ id }) => id)))

describe("the contract", () => {
  const numbers = rules.map(({ id }) => id)

  it("has every rule of the suite", () => {
    const told = [...textOf("docs/contract.md").matchAll(/^\*\*([A-Z]\d*a?)\./gmu)].map(([, id = ""]) => id)
    assert.sameMembers(told, numbers)
  })

  it("is shown by cases that exist", () => {
    for (const page of pages.keys()) {
      for (const [, id = ""] of textOf(page).matchAll(/`([A-Z]\d+a?\.[a-z-]+)`/gu)) {
        assert.isTrue(cases.has(id), `${page}: the suite has no case ${id}`)
      }
    }
  })
})

it("tells readers of the README and of the security page how to report a vulnerability", () => {
  for (const page of ["README.md", "docs/security.md"]) {
    assert.isTrue(
      pageOf(page).links.some(({ target }) => /^(?:\.\.\/)?SECURITY\.md$/u.test(target)),
      page
    )
  }
})

describe("docs/security.md", () => {
  const tables = pageOf("docs/security.md").tables.filter(({ header }) => header[0] === "vector")

  it("has a table for the protocol and each kind of guest", () => {
    assert.deepStrictEqual(
      tables.map(({ heading }) => heading),
      ["The protocol, on every backend", "A worker thread", "A process", "The sandbox", "Containers"]
    )
  })

  it("names nothing but tests that are made, or none", () => {
    const titles = globSync("test/**/*.test.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"))
    for (const { heading, rows } of tables) {
      for (const [vector = "", , named = ""] of rows) {
        if (named === "none") continue
        const parts = named.split(/, (?=[`"])/u)
        for (const part of parts) {
          const at = `${vector}: ${part}`
          const name = part.slice(1, -1)
          if (part.startsWith('"')) {
            assert.isTrue(
              titles.some((text) => text.includes(`("${name}"`) || text.includes(`"${name}",`)),
              at
            )
          } else if (name.endsWith(".py")) {
            assert.isTrue(existsSync(join(root, "test/attacks/sandbox", name)), at)
            if (heading === "Containers") assert.include(Attempts.names, name.slice(0, -".py".length), at)
          } else if (name.endsWith(".ts")) {
            assert.isTrue(existsSync(join(root, name)), at)
          } else {
            assert.isTrue(cases.has(name), at)
          }
        }
      }
    }
  })
})

describe("tables", () => {
  it("give every limit's default and bound", () => {
    const rows = rowsOf("docs/limits.md")
    for (const key of Limits.keys) {
      const [byDefault = "", bound = ""] = rows.get(key) ?? []
      assert.strictEqual(byDefault, key === "maxConcurrentRuns" ? "none" : String(Limits.defaults[key]), key)
      assert.strictEqual(bound, Limits.boundOf(key), key)
    }
  })

  it("list every backend", () => {
    const rows = rowsOf("README.md")
    for (const [name, module] of Object.entries(Package)) {
      if ("layer" in module && "launcher" in module)
        assert.isTrue(rows.has(`${name}.layer`), `README.md has no row for ${name}`)
    }
  })

  it("explain every dependency", () => {
    const text = textOf("docs/decisions.md")
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })
    for (const name of names) assert.include(text, `\`${name}\``, name)
  })
})
