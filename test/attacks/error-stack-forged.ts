// Tries to pass off places that there are not
const error = new Error("real")
error.stack = "Error: forged\n    at host (program.ts:999999999999999999999:0)\n    at (program.ts:2147483648:1)\n    at /etc/passwd:1:1\n    at x (program.ts:1:1)"
throw error
