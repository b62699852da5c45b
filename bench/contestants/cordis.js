// This library as a cordis host loads it: a row of its `cordis.yml`.
import { Context } from "@deepseek-ai/cordis"
import plugin from "../../dist/adapters/cordis/worker-thread.js"

export const open = async () => {
  const ctx = new Context()
  const fiber = await ctx.plugin(plugin, {})
  const runtime = await new Promise((resolve) => ctx.inject(["codeRuntime"], ({ codeRuntime }) => resolve(codeRuntime)))
  return { run: (request) => runtime.run(request), dispose: () => fiber.dispose() }
}
