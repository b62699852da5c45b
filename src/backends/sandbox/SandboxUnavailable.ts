/**
 * The one way in which a sandbox cannot be had.
 */
import * as Schema from "effect/Schema"

/** No sandbox can be made on this host; `message` says why in one sentence, and what to do. */
export class SandboxUnavailable extends Schema.TaggedError<SandboxUnavailable>()("SandboxUnavailable", {
  /**
   * `platform`: no Linux, or no machine that the filter knows. `engine`: bubblewrap is missing or too old;
   * no container engine answers, or it does not know the runtime. `image`: the engine does not have the image.
   * `user-namespaces`: the kernel lets this user make none. `identity`: the host is root and can become nobody else.
   * `interpreter`: none was found, or it cannot be read. `trial`: a first program did not come through.
   */
  reason: Schema.Literals(["platform", "engine", "image", "user-namespaces", "identity", "interpreter", "trial"]),
  message: Schema.String
}) {}
