/**
 * The services that `effect/cli` asks of its host.
 *
 * Only prompts and the wizard would use them, and neither is offered. Node's own would cost every start some
 * milliseconds.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"

const unused = Effect.die("the command line neither prompts nor spawns")

export const layer = Layer.mergeAll(
  FileSystem.layerNoop({}),
  Path.layer,
  Layer.succeed(
    Stdio.Stdio,
    Stdio.make({ args: unused, stdin: Stream.die("unused"), stdout: () => Sink.drain, stderr: () => Sink.drain })
  ),
  Layer.succeed(
    Terminal.Terminal,
    Terminal.make({
      columns: unused,
      rows: unused,
      size: unused,
      readInput: unused,
      readLine: unused,
      display: () => unused
    })
  ),
  Layer.succeed(
    ChildProcessSpawner.ChildProcessSpawner,
    ChildProcessSpawner.make(() => unused)
  )
)
