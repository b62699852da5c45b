// The harness's own consumer of `ctx.codeRuntime`: its tool registry in code mode, with the services that it needs.
import { CallId } from "@deepseek-ai/dsh-llm"
import { SystemPrompt } from "@deepseek-ai/dsh-system-prompt"
import { defineTool, ToolRuntime } from "@deepseek-ai/dsh-tools"

export const openConsumer = async (ctx, tools) => {
  await ctx.plugin(SystemPrompt, {})
  await ctx.plugin(ToolRuntime, { mode: "code" })
  let consumer
  await ctx.plugin({
    name: "tools of the test",
    inject: ["tools", "systemPrompt"],
    apply(own) {
      for (const { execute, name, parallel } of tools) {
        own.tools.register(
          defineTool({
            name,
            description: `The tool ${name}.`,
            parameters: {},
            output: {
              schema: { type: "json" },
              render: (_args, value) => [{ type: "text", text: JSON.stringify(value) }]
            },
            isConcurrencySafe: () => parallel === true,
            execute: async (args, { signal }) => execute(args, { signal })
          })
        )
      }
      let calls = 0
      consumer = {
        prompt: async () => {
          const { sections, tools: offered } = await own.systemPrompt.assemble({})
          return { text: sections.map(({ text }) => text).join("\n"), tools: offered.map(({ name }) => name) }
        },
        runCode: async (code, signal = new AbortController().signal) => {
          const { content, error, isError, value } = await own.tools.execute({
            callId: CallId(`call-${++calls}`),
            name: "run_code",
            arguments: { code, description: "Runs the program of a test" },
            signal
          })
          const text = content.map((block) => block.text).join("\n")
          return isError ? { isError, text, code: error.info?.code } : { isError, text, value }
        }
      }
    }
  })
  return consumer
}
