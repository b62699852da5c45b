/**
 * Python programs in processes of their own, by the CPython of the host (3.10 or newer).
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { InvalidLimit, Limits, LimitsInput } from "../../domain/Limits.ts"
import * as RuntimeLayer from "../../layers/RuntimeLayer.ts"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import type { GuestLauncher } from "../../services/GuestLauncher.ts"
import * as ProgramCompiler from "../../services/ProgramCompiler.ts"
import * as Premises from "../process/Premises.ts"
import * as ProcessGuest from "../process/ProcessGuest.ts"
