/** Every rule of the contract, with its cases. */
import type { Rule } from "../Case.ts"
import { calls } from "./calls.ts"
import { ends } from "./ends.ts"
import { names } from "./names.ts"
import { output } from "./output.ts"
import { program } from "./program.ts"
import { surface } from "./surface.ts"
import { values } from "./values.ts"

/** The contract: rules P1 to B10, then S (the surface) and L (the limits). */
export const rules: ReadonlyArray<Rule> = [...program, ...names, ...values, ...calls, ...output, ...ends, ...surface]
