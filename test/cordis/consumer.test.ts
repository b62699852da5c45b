import { Context } from "@deepseek-ai/cordis"
import { afterEach, assert, describe, it } from "@effect/vitest"
import CodeRuntimePlugin from "effect-code-runtime/cordis"
import { existsSync } from "node:fs"
import type { Consumer, ConsumerTool } from "./harness/host.js"

const isInstalled = existsSync(new URL("./harness/node_modules/@deepseek-ai/dsh-tools", import.meta.url))
const install = "npm ci --prefix test/cordis/harness"

const opened: Array<Context> = []
afterEach(async () => {
  for (const ctx of opened.splice(0)) await ctx.fiber.dispose()
})

const open = async (tools: ReadonlyArray<ConsumerTool>, config: { readonly computeMs?: number } = {}) => {
  const ctx = new Context()
  opened.push(ctx)
  const runtime = await ctx.plugin(CodeRuntimePlugin, config)
  const { openConsumer } = await import("./harness/host.js")
  const consumer: Consumer = await openConsumer(ctx, tools)
  return { consumer, runtime }
}

const add: ConsumerTool = {
  name: "add",
  parallel: true,
  execute: (args) => {
    if (typeof args !== "object" || args === null || !("a" in args) || !("b" in args))
      throw new Error("a and b, please")
    return Number(args.a) + Number(args.b)
  }
}

const named = (name: string): ConsumerTool => ({ name, execute: () => name })

/** Waits until the other has begun: one after the other, neither would ever end. */
const meet = (mine: PromiseWithResolvers<void>, other: Promise<void>, value: string) => async () => {
  mine.resolve()
  await other
  return value
}

// The reporter hides the titles of what is skipped.
if (!isInstalled)
  console.warn("dsh-tools in code mode is not tested: its packages are not installed; run `" + install + "`")

describe.skipIf(!isInstalled)("dsh-tools in code mode", () => {
  it("offers run_code in the language of the runtime", async () => {
    const { consumer } = await open([add])
    const { text, tools } = await consumer.prompt()
    assert.deepStrictEqual(tools, ["run_code"])
    assert.include(text, "declare class ToolCallError")
  })

  it("gives the value and the logs of a program to the model", async () => {
    const { consumer } = await open([add])
    const result = await consumer.runCode(`
      console.log("adding")
      const sum: number = await tools.add({ a: 1, b: 2 })
      console.log("added", sum)
      return { sum }`)
    assert.deepStrictEqual(result, {
      isError: false,
      text: 'adding\nadded 3\n{\n  "sum": 3\n}',
      value: { logs: ["adding", "added 3"], result: { sum: 3 } }
    })
  })

  it("tells null from no value", async () => {
    const { consumer } = await open([])
    assert.deepStrictEqual((await consumer.runCode("return null")).value, { logs: [], result: null })
    assert.deepStrictEqual((await consumer.runCode("return")).value, { logs: [] })
  })

  it("rejects with ToolCallError where a tool fails", async () => {
    const deny: ConsumerTool = {
      name: "deny",
      execute: () => {
        throw new Error("not allowed here")
      }
    }
    const { consumer } = await open([deny])
    const { value } = await consumer.runCode(`
      try {
        await tools.deny({})
      } catch (error) {
        return [error instanceof ToolCallError, error instanceof Error, error.name, error.toolName, error.message]
      }`)
    assert.deepStrictEqual(value?.result, [true, true, "ToolCallError", "deny", "not allowed here"])
  })

  it("calls tools of any name", async () => {
    const { consumer } = await open(["__proto__", "constructor", "then", "read file"].map(named))
    const { value } = await consumer.runCode(`
      return [await tools["__proto__"]({}), await tools.constructor({}), await tools.then({}), await tools["read file"]({})]`)
    assert.deepStrictEqual(value?.result, ["__proto__", "constructor", "then", "read file"])
  })

  it("runs parallel tools side by side", async () => {
    const left = Promise.withResolvers<void>()
    const right = Promise.withResolvers<void>()
    const { consumer } = await open([
      { name: "left", parallel: true, execute: meet(left, right.promise, "l") },
      { name: "right", parallel: true, execute: meet(right, left.promise, "r") }
    ])
    const { value } = await consumer.runCode("return Promise.all([tools.left({}), tools.right({})])")
    assert.deepStrictEqual(value?.result, ["l", "r"])
  })

  it("ends at once when the turn is aborted in mid-run, and aborts the tool", async () => {
    const begun = Promise.withResolvers<AbortSignal>()
    const ended = Promise.withResolvers<never>()
    const wait: ConsumerTool = {
      name: "wait",
      execute: (_args, { signal }) => {
        signal.addEventListener("abort", () => ended.reject(signal.reason))
        begun.resolve(signal)
        return ended.promise
      }
    }
    const { consumer } = await open([wait])
    const turn = new AbortController()
    const running = consumer.runCode('console.log("waiting")\nawait tools.wait({})', turn.signal)
    const signal = await begun.promise
    turn.abort("the user pressed escape")
    const result = await running
    assert.isTrue(signal.aborted)
    assert.isTrue(result.isError)
    assert.strictEqual(result.code, "CODE_RUN_FAILED")
    assert.strictEqual(
      result.text,
      "Error: code run failed (abort): the user pressed escape\nCaptured output:\nwaiting"
    )
  })

  it("aborts a program that never yields", async () => {
    const begun = Promise.withResolvers<void>()
    const begin: ConsumerTool = {
      name: "begin",
      execute: () => {
        begun.resolve()
        return null
      }
    }
    const { consumer } = await open([begin])
    const turn = new AbortController()
    const running = consumer.runCode("await tools.begin({})\nfor (;;) {}", turn.signal)
    await begun.promise
    turn.abort("enough")
    assert.include((await running).text, "code run failed (abort): enough")
  })

  it("tells the model where its program failed, and what it had printed", async () => {
    const { consumer } = await open([])
    const { code, isError, text } = await consumer.runCode(
      'console.log("before")\nconst rows = undefined\nreturn rows.length'
    )
    assert.isTrue(isError)
    assert.strictEqual(code, "CODE_RUN_FAILED")
    assert.match(text, /code run failed \(exception\): TypeError: /u)
    assert.match(text, /program\.ts:3:\d+/u)
    assert.include(text, "> 3 | return rows.length")
    assert.include(text, "Captured output:\nbefore")
    assert.notInclude(text, import.meta.dirname)
  })

  it("tells a budget, a lossy value and a dead guest from each other", async () => {
    const { consumer } = await open([], { computeMs: 100 })
    assert.match((await consumer.runCode("for (;;) {}")).text, /code run failed \(timeout\)/u)
    assert.match((await consumer.runCode("return new Date()")).text, /code run failed \(invalid-output\)/u)
    assert.match((await consumer.runCode("process.exit(3)")).text, /code run failed \(worker-exit\)/u)
  })

  it("fails the tool when the plugin is disposed in mid-run, and says so afterwards", async () => {
    const begun = Promise.withResolvers<void>()
    const wait: ConsumerTool = {
      name: "wait",
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason))
          begun.resolve()
        })
    }
    const { consumer, runtime } = await open([wait])
    const running = consumer.runCode("await tools.wait({})")
    await begun.promise
    await runtime.dispose()
    assert.include((await running).text, "code run failed (abort): runtime disposed")
    assert.include((await consumer.runCode("return 1")).text, "requires a code runtime")
  })
})
