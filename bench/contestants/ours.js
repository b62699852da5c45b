// This library, as its users install it, through its Promise adapter.
import { NodeProcess, PromiseAdapter, PythonProcess, Sandbox, WorkerThread } from "../../dist/index.js"

const layers = {
  worker: WorkerThread.layer,
  process: NodeProcess.layer,
  python: PythonProcess.layer,
  sandbox: (limits) => Sandbox.layer({ ...limits, language: "typescript" }),
  "sandbox-python": (limits) => Sandbox.layer({ ...limits, language: "python" })
}

export const open = ({ backend, ...limits }) => PromiseAdapter.make(layers[backend](limits))
