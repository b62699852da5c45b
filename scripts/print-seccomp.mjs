// Prints the sandbox's filter of system calls, as Markdown tables or, with `--bpf x64` or `--bpf arm64`, as instructions (of guests of
// TypeScript).
import { parseArgs } from "node:util"
import { assemble, rules } from "../src/backends/sandbox/SeccompFilter.ts"

const { values } = parseArgs({ options: { bpf: { type: "string" } } })

if (values.bpf !== undefined && values.bpf !== "x64" && values.bpf !== "arm64") {
  console.error(`there is no filter for ${values.bpf}; say --bpf x64 or --bpf arm64`)
  process.exitCode = 2
} else if (values.bpf !== undefined) {
  const names = {
    0x20: "load",
    0x15: "jump if equal",
    0x35: "jump if at least",
    0x45: "jump if any bit",
    0x54: "and",
    0x06: "return"
  }
  assemble(values.bpf, "typescript").forEach(([code, yes, no, operand], index) => {
    const jumps = yes + no > 0 ? `  yes ${index + 1 + yes}, no ${index + 1 + no}` : ""
    console.log(`${String(index).padStart(4)}  ${names[code].padEnd(17)} 0x${(operand >>> 0).toString(16)}${jumps}`)
  })
} else {
  const groups = new Map()
  for (const { call, decision, why } of rules) {
    const key = JSON.stringify([decision, why])
    groups.set(key, [...(groups.get(key) ?? []), call])
  }
  console.log("| calls | answer | why |\n|---|---|---|")
  for (const [key, calls] of groups) {
    const [decision, why] = JSON.parse(key)
    // Rows that fit a screen.
    for (let at = 0; at < calls.length; at += 6) {
      const some = calls.slice(at, at + 6).map((call) => `\`${call}\``)
      console.log(`| ${some.join(" ")} | ${decision} | ${why} |`)
    }
  }
  console.log("| any other | ENOSYS | what nobody has reviewed is not there |")
}
