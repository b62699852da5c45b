import { Sandbox } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"

conformance({
  name: "TypeScript in the sandbox",
  language: "typescript",
  make: (limits) => Sandbox.layer({ language: "typescript", ...limits })
})
