import { defineConfig } from "vitest/config"
import { builtGuests, env } from "./test/BuiltGuests.ts"

// Examples and the suite import this package by its name; under this condition that is `src`, so no build is needed.
const source = "@effect-code-runtime/source"

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
    execArgv: [`--conditions=${source}`],
    // A shared machine can stall a guest for seconds; what is broken fails every time.
    retry: process.env.CI === undefined ? 0 : 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000
  }
})
