import { NodeProcess } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"

conformance({ name: "TypeScript in Node processes", language: "typescript", make: NodeProcess.layer })
