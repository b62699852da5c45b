import { WorkerThread } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"

conformance({
  name: "TypeScript in worker threads",
  language: "typescript",
  make: WorkerThread.layer,
  limits: {
    "B5.kill": "a thread's signal is its process's",
    "B6.bytes": "V8 caps the heap of a thread, not the bytes outside of it",
    "B7.grandchild": "an orphan is no child of the host any more",
    "B7.temporary-files": "a thread writes where its process may write",
    "B8.folder": "a thread has the working directory of its process",
    "O3.below": "a thread's descriptors are its process's"
  }
})
