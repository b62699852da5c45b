// Runs a program in a process that speaks lines of JSON: what a host would write by hand.
import { spawn } from "node:child_process"

export const runByLines = (command, args, { bindings = [], program }) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: {} })
    const functions = bindings[0]?.functions ?? {}
    const logs = []
    let rest = ""
    let trouble = ""
    let value
    const tell = (line) => child.stdin.write(`${JSON.stringify(line)}\n`)
    const take = async (line) => {
      if ("log" in line) logs.push(line.log)
      else if ("id" in line) tell({ id: line.id, value: await functions[line.name](line.args) })
      else value = line.done
    }
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      for (const line of lines) void take(JSON.parse(line))
    })
    child.stderr.setEncoding("utf8").on("data", (text) => {
      trouble += text
    })
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve({ value, logs }) : reject(new Error(`exit ${code}: ${trouble}`))))
    tell({ program, names: Object.keys(functions) })
  })
