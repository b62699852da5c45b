/**
 * Says so where Node is too old for this package, which would fail of it later with less to say.
 */
import * as ExitCode from "./ExitCode.ts"

/** The oldest Node that this package runs on, as `engines` in `package.json` has it. */
export const oldest = "22.19"

/** Ends the process where its Node is older. */
export const refuseOldNode = (): void => {
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split(".").map(Number)
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  process.stderr.write(
    `code-runtime needs Node.js ${oldest} or later, and this is ${process.versions.node}; install a newer one\n`
  )
  process.exit(ExitCode.usage)
}
