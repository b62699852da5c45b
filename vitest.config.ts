import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { builtGuests, env } from "./test/BuiltGuests.ts"

// Examples and the suite import this package by its name; under this condition that is `src`, so no build is needed.
const source = "@effect-code-runtime/source"

// Workers of Vitest, and hosts and command lines that tests start, load the same modules hundreds of times.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compiled")

/** Files that take a minute or more, the longest first: begun last, one would run alone while the other core idles. */
const long = ["conformance/oci-", "process/soak", "conformance/", "sandbox/oci", "worker/endurance", "sandbox/attacks"]

const place = ({ moduleId }: TestSpecification): number => {
  const at = long.findIndex((start) => moduleId.includes(`/test/${start}`))
  return at < 0 ? long.length : at
}

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's own method
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  plugins: [builtGuests],
  ssr: { resolve: { conditions: [source, "module", "node", "development|production"], externalConditions: [source] } },
  test: {
    include: ["test/**/*.test.ts"],
    env,
    // CI adds the counts to its own.
    reporters: process.env.CI === undefined ? ["default"] : ["default", ["json", { outputFile: "test-results.json" }]],
    // Guests are threads and processes of their own: two files at once keep two cores busy.
    pool: "forks",
    maxWorkers: 2,
    fileParallelism: true,
    sequence: { sequencer: LongestFirst },
    execArgv: [`--conditions=${source}`],
    // A shared machine can stall a guest for seconds; what is broken fails every time.
    retry: process.env.CI === undefined ? 0 : 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000
  }
})
