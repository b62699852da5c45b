// The floor of a Python backend: a CPython a run, that executes the program and writes what comes of it.
import { existsSync } from "node:fs"
import { runByLines } from "./lines.js"

const executable = "/usr/bin/python3"
const guest = `
import sys, json
out, source = sys.stdout, sys.stdin
start = json.loads(source.readline())
calls = 0
def write(line):
    out.write(json.dumps(line) + "\\n")
class Tools:
    pass
def bind(name):
    async def call(args={}, **named):
        global calls
        calls += 1
        write({"id": calls, "name": name, "args": args or named})
        out.flush()
        return json.loads(source.readline())["value"]
    return call
tools = Tools()
for name in start["names"]:
    setattr(tools, name, bind(name))
scope = {"tools": tools, "print": lambda *words: write({"log": " ".join(map(str, words))})}
body = "\\n".join("  " + line for line in start["program"].split("\\n"))
exec("async def main():\\n" + body, scope)
running = scope["main"]()
try:
    while True:
        running.send(None)
except StopIteration as end:
    write({"done": end.value})
out.flush()
`

export const open = async () => {
  if (!existsSync(executable)) throw new Error(`${executable} is not there`)
  return { run: (request) => runByLines(executable, ["-ISuc", guest], request), dispose: async () => {} }
}
