import { PythonProcess } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"

conformance({ name: "Python in processes", language: "python", make: PythonProcess.layer })
