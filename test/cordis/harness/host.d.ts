import type { Context } from "@deepseek-ai/cordis"

/** A tool of the harness's registry. */
export interface ConsumerTool {
  readonly name: string
  /** Whether it may run beside others. */
  readonly parallel?: boolean
  readonly execute: (args: unknown, exec: { readonly signal: AbortSignal }) => unknown
}

/** What the tool `run_code` gave to the model. */
export interface RunCodeResult {
  readonly isError: boolean
  readonly text: string
  readonly value?: { readonly logs: ReadonlyArray<string>; readonly result?: unknown }
  /** The harness's code of the failure. */
  readonly code?: string
}

/** The tool registry in code mode. */
export interface Consumer {
  readonly prompt: () => Promise<{ readonly text: string; readonly tools: ReadonlyArray<string> }>
  readonly runCode: (code: string, signal?: AbortSignal) => Promise<RunCodeResult>
}

export function openConsumer(ctx: Context, tools: ReadonlyArray<ConsumerTool>): Promise<Consumer>
