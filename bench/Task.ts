/**
 * What the contestants are given to do, as programs of each dialect.
 */

/** The dialects of the contestants' programs; `none` for a floor that runs no program. */
export type Dialect = "typescript" | "javascript" | "python" | "plain-python" | "monty" | "none"

export interface Task {
  readonly kind: "one" | "call" | "sequence" | "parallel" | "rows" | "text" | "logs" | "lines" | "bindings"
  /** Calls, rows, characters, log lines, lines of the program or bindings. */
  readonly size: number
}

export type Functions = { readonly [name: string]: (args: unknown) => unknown }

/** A task as a program, the functions that it needs, and what an honest run of it gives. */
export interface Work {
  /** When the program called `mark`: around what is timed, where the run itself is no part of it. */
  readonly marks: ReadonlyArray<number>
  readonly program: string
  readonly functions: Functions
  readonly value: number
  readonly logs: number
}

const isSum = (value: unknown): value is { readonly a: number; readonly b: number } =>
  typeof value === "object" && value !== null && "a" in value && "b" in value

const add = (args: unknown): unknown => (isSum(args) ? args.a + args.b : undefined)

const manyFunctions = (count: number): Functions =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, () => i]))

const scriptLines = (size: number): string => {
  const lines: Array<string> = ["const check = async () => {"]
  for (let i = 0; lines.length < size - 2; i++) {
    lines.push(
      `  const total${i} = [${i}, 2, 3].map((each) => each * 2).reduce((sum, each) => sum + each, 0)`,
      `  if (total${i} > 1000) {`,
      "    console.log(`large: ${total" + i + "}`)",
      "  }"
    )
  }
  lines.length = size - 2
  while (!lines.at(-1)?.startsWith("  }")) lines.pop()
  return `${[...lines, "}"].join("\n")}\nreturn typeof check === "function" ? 1 : 0`
}

const typedLines = (size: number): string =>
  scriptLines(size)
    .replaceAll(/const total(\d+) =/gu, "const total$1: number =")
    .replaceAll("(each)", "(each: number)")

const pythonLines = (size: number, end: string): string => {
  const lines: Array<string> = ["def check():"]
  for (let i = 0; lines.length < size - 1; i++) {
    lines.push(
      `    total${i} = sum([each * 2 for each in [${i}, 2, 3]])`,
      `    if total${i} > 1000:`,
      `        print(f"large: {total${i}}")`
    )
  }
  return `${lines.join("\n")}\n${end}`
}

const script = ({ kind, size }: Task, typed: boolean): string => {
  switch (kind) {
    case "one":
      return "return 1"
    case "call":
      return "return await tools.add({ a: 1, b: 2 })"
    case "sequence":
      return `let sum = 0
await tools.mark({})
for (let i = 0; i < ${size}; i++) sum = await tools.add({ a: sum, b: 1 })
await tools.mark({})
return sum`
    case "parallel":
      return `await tools.mark({})
const all = await Promise.all(Array.from({ length: ${size} }, (_, i) => tools.add({ a: i, b: 1 })))
await tools.mark({})
return all.length`
    case "rows":
      return `const rows = Array.from({ length: ${size} }, (_, id) => ({ id, name: \`row \${id}\`, tags: ["a", "b"], ok: id % 2 === 0 }))
return await tools.echo(rows)`
    case "text":
      return `return "x".repeat(${size})`
    case "logs":
      return `for (let i = 0; i < ${size}; i++) console.log("line " + i)\nreturn 1`
    case "lines":
      return typed ? typedLines(size) : scriptLines(size)
    case "bindings":
      return `return await tools.f${size - 1}({})`
  }
}

const pythonRows = (size: number): string =>
  `rows = [{"id": i, "name": f"row {i}", "tags": ["a", "b"], "ok": i % 2 == 0} for i in range(${size})]`

const python = ({ kind, size }: Task): string => {
  switch (kind) {
    case "one":
      return "return 1"
    case "call":
      return "return await tools.add(a=1, b=2)"
    case "sequence":
      return `total = 0
await tools.mark({})
for i in range(${size}):
    total = await tools.add({"a": total, "b": 1})
await tools.mark({})
return total`
    case "parallel":
      return `import asyncio
await tools.mark({})
all = await asyncio.gather(*(tools.add({"a": i, "b": 1}) for i in range(${size})))
await tools.mark({})
return len(all)`
    case "rows":
      return `${pythonRows(size)}\nreturn await tools.echo(rows)`
    case "text":
      return `return "x" * ${size}`
    case "logs":
      return `for i in range(${size}):\n    print("line " + str(i))\nreturn 1`
    case "lines":
      return pythonLines(size, "return 1 if callable(check) else 0")
    case "bindings":
      return `return await tools.f${size - 1}({})`
  }
}

const monty = ({ kind, size }: Task): string | undefined => {
  switch (kind) {
    case "one":
      return "1"
    case "call":
      return 'add({"a": 1, "b": 2})'
    case "sequence":
      return `total = 0\nmark({})\nfor i in range(${size}):\n    total = add({"a": total, "b": 1})\nmark({})\ntotal`
    case "parallel":
      return undefined
    case "rows":
      return `${pythonRows(size)}\necho(rows)`
    case "text":
      return `"x" * ${size}`
    case "logs":
      return `for i in range(${size}):\n    print("line " + str(i))\n1`
    case "lines":
      return pythonLines(size, "1")
    case "bindings":
      return `f${size - 1}({})`
  }
}

const programOf = (task: Task, dialect: Dialect): string | undefined => {
  switch (dialect) {
    case "typescript":
      return script(task, true)
    case "javascript":
      return script(task, false)
    case "python":
      return python(task)
    case "plain-python":
      return task.kind === "parallel" ? undefined : python(task)
    case "monty":
      return monty(task)
    case "none":
      return ""
  }
}

let made = 0

/** The work of a task; undefined where the dialect has no way to say it. Every program is a new text. */
export const workOf = (task: Task, dialect: Dialect): Work | undefined => {
  const program = programOf(task, dialect)
  if (program === undefined) return undefined
  const { kind, size } = task
  const marks: Array<number> = []
  const mark = () => {
    marks.push(performance.now())
    return null
  }
  const comment = dialect === "python" || dialect === "plain-python" || dialect === "monty" ? "#" : "//"
  return {
    marks,
    program: `${comment} ${++made}\n${program}`,
    functions:
      kind === "bindings"
        ? manyFunctions(size)
        : kind === "one" || kind === "lines"
          ? {}
          : { add, echo: (args) => args, mark },
    value:
      kind === "one" || kind === "logs" || kind === "lines"
        ? 1
        : kind === "call"
          ? 3
          : kind === "bindings"
            ? size - 1
            : size,
    logs: kind === "logs" ? size : 0
  }
}

/** Rows whose JSON is about a megabyte. */
export const rowsOfMegabyte = 18_500
