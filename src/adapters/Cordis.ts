/**
 * The cordis plugin: `ctx.codeRuntime` of a DeepSeek Harness over any layer of this package.
 *
 * Needs `@deepseek-ai/cordis` and `@deepseek-ai/dsh-code-runtime`, which such a host has; nothing else of the package does.
 */
import { type Context, type Fiber, Service, ValidationError } from "@deepseek-ai/cordis"
import {
  type CodeJsonValue,
  CodeRuntime as CodeRuntimeService,
  type CodeRunResult
} from "@deepseek-ai/dsh-code-runtime"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as Struct from "effect/Struct"
import * as NodeProcess from "../backends/node-process/NodeProcess.ts"
import * as PythonProcess from "../backends/python-process/PythonProcess.ts"
import * as WorkerThread from "../backends/worker-thread/WorkerThread.ts"
import { fields, type LimitsInput } from "../domain/Limits.ts"
import { boundOf, InvalidLimit, unknownKey } from "../domain/Options.ts"
import type { CodeRuntime } from "../services/CodeRuntime.ts"
import * as PromiseAdapter from "./PromiseAdapter.ts"

/** Settings of a plugin as a host writes them: the limits, each under its own name. `null` counts as left out. */
export interface Config extends LimitsInput {
  /** What the harness calls `maxMemoryMb`: memory of one guest, in MiB; above 0. Give one of the two. */
  readonly maxOldGenerationSizeMb?: number | undefined
}

/**
 * `ctx.codeRuntime` over a layer: what every plugin class of this module is.
 *
 * The plugin is loaded once the layer is built; a layer that fails makes the load fail with its error. Disposing the fiber
 * ends the runs in flight as `abort` (`runtime disposed`) and waits for every guest; runs asked for later reject.
 */
export abstract class LayerCodeRuntime extends CodeRuntimeService {
  // Cordis hands services out behind proxies, which `#private` names would not survive.
  private readonly owner: Fiber
  private readonly opening: Promise<PromiseAdapter.PromiseCodeRuntime>
  private opened: PromiseAdapter.PromiseCodeRuntime | undefined

  constructor(ctx: Context, layer: Layer.Layer<CodeRuntime, unknown>) {
    super(ctx)
    this.owner = ctx.fiber
    ctx.effect(() => () => this.close(), "the guests of ctx.codeRuntime")
    this.opening = PromiseAdapter.make(layer)
    // The load awaits it; whoever constructs the service without loading it learns of a failure by the first run.
    this.opening.catch(() => {})
  }

  /** Waits for the layer; called by cordis when it loads the plugin. */
  async [Service.init](): Promise<void> {
    this.opened = await this.opening
  }

  /** The language of the programs: `typescript` or `python`. Throws while the plugin is being loaded. */
  override get language(): string {
    return this.loaded().language
  }

  /** What guests are made of: `worker-thread`, `process` or `container`. Throws while the plugin is being loaded. */
  override get isolation(): string {
    return this.loaded().isolation
  }

  /**
   * Runs one program to its end. Resolves for every end of the program; rejects with `CodeRuntimeMisuse` for a request that
   * breaks a rule and once the plugin is disposed. A binding function gets `(args, { signal })`.
   */
  override async run(request: PromiseAdapter.PromiseRunRequest): Promise<CodeRunResult> {
    const runtime = this.opened ?? (await this.opening)
    // The fiber tears down a moment after its disposal was asked for: no run may slip in between.
    if (this.owner.uid === null) void this.close()
    const { error, logs, value } = await runtime.run(request)
    return {
      // The same values; the seam only types them as writable.
      ...(value === undefined ? {} : { value: value as CodeJsonValue }),
      logs: [...logs],
      ...(error === undefined ? {} : { error })
    }
  }

  private loaded(): PromiseAdapter.PromiseCodeRuntime {
    if (this.opened === undefined) throw new Error("ctx.codeRuntime is still being loaded; await ctx.plugin(...) first")
    return this.opened
  }

  private async close(): Promise<void> {
    const runtime = this.opened ?? (await this.opening.catch(() => undefined))
    await runtime?.dispose()
  }
}

/** A plugin for `ctx.plugin(...)`, with the Standard Schema that cordis checks its settings by. */
export interface CodeRuntimePlugin<C> {
  new (ctx: Context, config?: C): LayerCodeRuntime
  readonly Config: StandardSchemaV1<C, C>
}

/** The harness's name of a limit of ours. */
const alias = "maxOldGenerationSizeMb"

/** Schema of `Config`, for a plugin that has settings of its own beside the limits: `Schema.Struct({ ...limits.fields, ... })`. */
export const limits = Schema.Struct({ ...fields, [alias]: fields.maxMemoryMb }).mapFields(Struct.map(Schema.optional))

/** The settings with every limit under our own name. */
const withOurNames = <C extends Config>({ [alias]: megabytes, ...rest }: C): Omit<C, typeof alias> =>
  megabytes === undefined ? rest : { ...rest, maxMemoryMb: megabytes }

/** A schema of settings: each key is a setting. */
type Settings = Schema.Struct<Schema.Struct.Fields> & Schema.ConstraintDecoder<Config>

const issueOf = (offence: InvalidLimit): StandardSchemaV1.Issue => ({ message: offence.message, path: [offence.key] })

/** The settings that a host wrote, or everything that is wrong with them, each offence with its key, value and bound. */
const read = <S extends Settings>(settings: S, config: unknown): StandardSchemaV1.Result<S["Type"]> => {
  if ((typeof config !== "object" && config !== undefined) || Array.isArray(config)) {
    const is = Array.isArray(config) ? "an array" : typeof config
    return { issues: [{ message: `the config is ${is}; it must be an object` }] }
  }
  const known = Object.keys(settings.fields)
  const issues: Array<StandardSchemaV1.Issue> = []
  const given: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(config ?? {})) {
    // YAML reads an empty value as null.
    if (value === null || value === undefined) continue
    if (known.includes(key)) given[key] = value
    else issues.push(issueOf(unknownKey(key, value, known)))
  }
  if (alias in given && "maxMemoryMb" in given) {
    issues.push(issueOf(new InvalidLimit({ key: alias, value: given[alias], bound: "left out beside maxMemoryMb" })))
  }
  const decoded = Schema.decodeResult(settings, { errors: "all", onExcessProperty: "error" })(given)
  if (Result.isSuccess(decoded)) return issues.length > 0 ? { issues } : { value: decoded.success }

  for (const { message, path = [] } of formatIssue(decoded.failure.issue).issues) {
    const place = path.map(String)
    const [key = ""] = place
    const field = settings.fields[key]
    const bound = field === undefined || place.length > 1 ? undefined : boundOf(field)
    issues.push(
      bound === undefined
        ? { message: `${place.join(".")}: ${message}`, path }
        : issueOf(new InvalidLimit({ key, value: given[key], bound }))
    )
  }
  return { issues }
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * The plugin over a function from settings of your own, which a schema checks, to a layer.
 *
 * A setting that is unknown or outside its bound fails the load with a `ValidationError` that names key, value and bound.
 */
export const makeWith = <S extends Settings>(
  settings: S,
  layer: (settings: Omit<S["Type"], typeof alias>) => Layer.Layer<CodeRuntime, unknown>
): CodeRuntimePlugin<S["Type"]> =>
  class extends LayerCodeRuntime {
    static readonly Config: StandardSchemaV1<S["Type"], S["Type"]> = {
      "~standard": { version: 1, vendor: "effect-code-runtime", validate: (config) => read(settings, config) }
    }

    constructor(ctx: Context, config?: S["Type"]) {
      // Cordis has checked what it passes; another caller has not.
      const result = read(settings, config)
      if (result.issues !== undefined) throw new ValidationError(result.issues)
      super(ctx, layer(withOurNames(result.value)))
    }
  }

/** The plugin over any layer: over a function from the limits, which are its settings, or over one that has its limits. */
export function make(layer: (limits: LimitsInput) => Layer.Layer<CodeRuntime, unknown>): CodeRuntimePlugin<Config>
export function make(layer: Layer.Layer<CodeRuntime, unknown>): CodeRuntimePlugin<Record<string, never>>
export function make(
  layer: Layer.Layer<CodeRuntime, unknown> | ((limits: LimitsInput) => Layer.Layer<CodeRuntime, unknown>)
): CodeRuntimePlugin<Config> | CodeRuntimePlugin<Record<string, never>> {
  return typeof layer === "function" ? makeWith(limits, layer) : makeWith(Schema.Struct({}), () => layer)
}

const settingsOf = <F extends Schema.Struct.Fields>(options: F) =>
  Schema.Struct({ ...limits.fields, ...Schema.Struct(options).mapFields(Struct.map(Schema.optional)).fields })

/** TypeScript in worker threads. Beside the limits it takes `permission`, as `WorkerThread.Options` has it. */
export class WorkerThreadCodeRuntime extends makeWith(settingsOf(WorkerThread.optionFields), WorkerThread.layer) {}

/** TypeScript in Node processes. Beside the limits it takes `permission`, `cgroup` and `standbyMs`, as `NodeProcess.Options` has them. */
export class NodeProcessCodeRuntime extends makeWith(settingsOf(NodeProcess.optionFields), NodeProcess.layer) {}

/** Python in CPython processes. Beside the limits it takes `python`, `cgroup` and `standbyMs`, as `PythonProcess.Options` has them. */
export class PythonProcessCodeRuntime extends makeWith(settingsOf(PythonProcess.optionFields), PythonProcess.layer) {}

export default WorkerThreadCodeRuntime
