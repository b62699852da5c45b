// A cordis host: loads the plugin, runs a program against functions of its own, and ends in order.
// Run it with: node examples/cordis/main.ts
import { Context } from "@deepseek-ai/cordis"
import CodeRuntimePlugin from "effect-code-runtime/cordis"

const ctx = new Context()

// In a cordis.yml this is a row: { name: "effect-code-runtime/cordis", config: { computeMs: 5000, ... } }
const plugin = await ctx.plugin(CodeRuntimePlugin, { computeMs: 5_000, maxOldGenerationSizeMb: 256 })

// A plugin that needs a code runtime says so, and runs for as long as there is one.
const stock = new Map([
  ["apples", 3],
  ["pears", 0]
])
const reported = Promise.withResolvers<void>()
ctx.inject(["codeRuntime"], async ({ codeRuntime }) => {
  const bindings = [
    {
      global: "shop",
      functions: {
        stockOf: async (fruit: unknown) => {
          const count = stock.get(String(fruit))
          if (count === undefined) throw new Error(`no such fruit: ${String(fruit)}`)
          return count
        }
      },
      errorClass: { name: "ShopError", memberNameProperty: "call" }
    }
  ]

  const counted = await codeRuntime.run({
    program: `
      const counts = await Promise.all(["apples", "pears"].map((fruit) => shop.stockOf(fruit)))
      console.log("asked for", counts.length)
      try {
        await shop.stockOf("figs")
      } catch (error) {
        if (error instanceof ShopError) console.log(error.call, "failed:", error.message)
      }
      return { total: counts.reduce((sum, count) => sum + count) }`,
    bindings
  })
  console.log(counted.logs, counted.value)

  // A program that fails resolves too: what went wrong is in `error`, to be handed back to the model.
  const failed = await codeRuntime.run({ program: "const rows: any = null\nreturn rows.length", bindings })
  console.log(`${failed.error?.kind}: ${failed.error?.message}`)
  reported.resolve()
})

await reported.promise
await plugin.dispose()
console.log("runtime left:", ctx.get("codeRuntime") !== undefined)
