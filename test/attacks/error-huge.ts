// Tries to throw an error with an enormous message, stack and cause
const error: any = new Error("m".repeat(3_000_000))
error.stack = "Error: x\n" + "    at program.ts:1:1\n".repeat(200_000)
error.cause = error
error.errors = Array.from({ length: 100_000 }, () => error)
throw error
