import { Sandbox } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"

conformance({
  name: "Python in the sandbox",
  language: "python",
  make: (limits) => Sandbox.layer({ language: "python", ...limits })
})
