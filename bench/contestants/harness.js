// The harness's own worker-thread backend, as a cordis host loads it.
import { Context } from "@deepseek-ai/cordis"
import { WorkerThreadCodeRuntime } from "@deepseek-ai/dsh-code-runtime-worker-thread"

export const open = async () => {
  const ctx = new Context()
  const plugin = await ctx.plugin(WorkerThreadCodeRuntime, {})
  const runtime = await new Promise((resolve) => ctx.inject(["codeRuntime"], ({ codeRuntime }) => resolve(codeRuntime)))
  return { run: (request) => runtime.run(request), dispose: () => plugin.dispose() }
}
