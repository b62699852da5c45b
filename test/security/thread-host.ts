// A host whose worker thread lets one array grow without end; it prints what came of the run, if it lives.
import { PromiseAdapter, WorkerThread } from "effect-code-runtime"

const runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0, maxMemoryMb: 64 }))
const { error } = await runtime.run({ program: "const all = []; for (let i = 0; i < 1e9; i++) all.push(i)" })
console.log(error?.kind)
await runtime.dispose()
