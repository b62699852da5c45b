/** A host of the example in a process of its own: runs one program and prints what came of it. */
import { PromiseAdapter } from "effect-code-runtime"
import { layer } from "../../examples/backend/launcher.ts"

const runtime = await PromiseAdapter.make(layer())
console.log(await runtime.run({ program: "const n: number = 7; return n" }))
await runtime.dispose()
