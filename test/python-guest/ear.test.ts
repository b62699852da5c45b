/**
 * How a Python guest waits for answers, by a clock and a host of the test's own.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { interpreters, without } from "./GuestProcess.ts"

const guest = fileURLToPath(new URL("../../src/backends/python-guest/guest.py", import.meta.url))

/** For each host, by how long it takes to answer a guest that sleeps and one that is awake: looks, and answers found. */
const script = `import json, sys
__name__ = "guest"
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "guest.py", "exec"))
time = 0.0

def perf_counter():
    global time
    time += 1e-7
    return time

class channel:
    fd = 0
    size = 100

def waiting(asleep, awake, times):
    global read, time
    ear = Ear(0)
    looks = found = 0
    due = late = 0.0

    def look(_):
        nonlocal looks
        global time
        looks += 1
        time += 1e-6
        return time >= due

    def read(fd, size):
        nonlocal found
        global time
        if looks > before and time >= due:
            found += 1
        else:
            time = max(time, late)
        return b"answer"

    ear.look = look
    for _ in range(times):
        before, due, late = looks, time + awake, time + asleep
        assert ear.hear() == b"answer"
    return {"looks": looks, "found": found}

hosts = json.loads(sys.argv[2])
print(json.dumps([waiting(*host) for host in hosts]))`

const waiting = (python: string, ...hosts: ReadonlyArray<readonly [number, number, number]>) => {
  const { stdout, stderr } = spawnSync(python, ["-c", script, guest, JSON.stringify(hosts)], { encoding: "utf8" })
  if (stdout === "") throw new Error(stderr)
  return JSON.parse(stdout)
}

for (const { minor, python } of interpreters) {
  describe(`CPython 3.${minor} waits for answers`, () => {
    test("asleep where they come soon, take long, or come no sooner to one that is awake", () => {
      const [soon, long, same] = waiting(python, [30e-6, 10e-6, 1000], [5e-3, 5e-3, 1000], [60e-6, 59e-6, 20_000])
      expect(soon.looks).toBe(0)
      expect(long.looks).toBeLessThan(500)
      expect(long.found).toBe(0)
      expect(same.found).toBeLessThan(2000)
    })

    test("by looking for them where it takes long to be woken, less and less often where that finds nothing", () => {
      const [late, few, many] = waiting(python, [80e-6, 20e-6, 1000], [80e-6, 1, 100], [80e-6, 1, 10_000])
      expect(late.found).toBeGreaterThan(900)
      expect(few.looks).toBeGreaterThan(0)
      expect(few.found + many.found).toBe(0)
      expect(many.looks).toBeLessThan(few.looks * 8)
    })
  })
}

if (interpreters.length === 0) test.skip(without, () => undefined)
