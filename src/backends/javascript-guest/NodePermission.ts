/**
 * Node's permission model for a guest of Node: the flags that it is started with.
 */
import * as Schema from "effect/Schema"
import { bounded } from "../../domain/Options.ts"

/** What a guest may do, spelled as Node spells it; absent flags deny. */
export interface NodePermission {
  /** Paths that programs may read; `"*"` for all. */
  readonly allowRead?: ReadonlyArray<string> | undefined
  /** Paths that programs may write; `"*"` for all. */
  readonly allowWrite?: ReadonlyArray<string> | undefined
  readonly allowChildProcess?: boolean | undefined
  readonly allowWorker?: boolean | undefined
  readonly allowAddons?: boolean | undefined
  readonly allowWasi?: boolean | undefined
}

const pathList = Schema.optional(Schema.Array(Schema.String))
const flag = Schema.optional(Schema.Boolean)

const nodePermission = Schema.Struct({
  allowRead: pathList,
  allowWrite: pathList,
  allowChildProcess: flag,
  allowWorker: flag,
  allowAddons: flag,
  allowWasi: flag
})

const keysAndTypes =
  "an object of allowRead and allowWrite (lists of paths), allowChildProcess, allowWorker, allowAddons and allowWasi (true or false), and of nothing else"

/** The option of a backend that has no permission model unless it is asked for. */
export const permissionOption = bounded(nodePermission, keysAndTypes)

/** The option of a backend whose permission model can be turned off. */
export const permissionOrFalse = bounded(
  Schema.Union([nodePermission, Schema.Literal(false)]),
  `false, or ${keysAndTypes}`
)

/** Node 20 has the model, under its first name, and neither of the two last flags. */
const isStable = process.allowedNodeEnvironmentFlags.has("--permission")

/** `*` alone where it is among the paths: some versions of Node die of paths beside it. */
const withoutCovered = (paths: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  paths.includes("*") ? ["*"] : paths

/** The flags of a permission. */
export const permissionFlags = (permission: NodePermission): ReadonlyArray<string> => {
  const flags = [isStable ? "--permission" : "--experimental-permission"]
  for (const path of withoutCovered(permission.allowRead)) flags.push(`--allow-fs-read=${path}`)
  for (const path of withoutCovered(permission.allowWrite)) flags.push(`--allow-fs-write=${path}`)
  if (permission.allowChildProcess === true) flags.push("--allow-child-process")
  if (permission.allowWorker === true) flags.push("--allow-worker")
  if (permission.allowAddons === true && isStable) flags.push("--allow-addons")
  if (permission.allowWasi === true && isStable) flags.push("--allow-wasi")
  return flags
}
