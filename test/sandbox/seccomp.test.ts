/**
 * The filter: what its instructions answer, call by call, equals its table; and what it says in the documentation.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { type Architecture, assemble, encode, type Role, rules } from "../../src/backends/sandbox/SeccompFilter.ts"

/** Runs the filter as the kernel does. */
const answer = (
  architecture: Architecture,
  token: number,
  number: number,
  args: ReadonlyArray<bigint> = [],
  role: Role = "typescript"
): number => {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(token, 4)
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index))
  const program = assemble(architecture, role)
  let accumulator = 0
  for (let at = 0; at < program.length; at++) {
    const [code, jumpTrue, jumpFalse, operand] = program[at] ?? [0, 0, 0, 0]
    if (code === 0x20) accumulator = data.readUInt32LE(operand)
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0
    else if (code === 0x15) at += accumulator === operand ? jumpTrue : jumpFalse
    else if (code === 0x35) at += accumulator >= operand ? jumpTrue : jumpFalse
    else if (code === 0x45) at += (accumulator & operand) !== 0 ? jumpTrue : jumpFalse
    else if (code === 0x06) return operand >>> 0
    else throw new Error(`instruction ${code}`)
  }
  throw new Error("the program has no end")
}

const allow = 0x7fff0000
const kill = 0x80000000
const errno = (value: number): number => 0x00050000 | value
const errors: { readonly [name: string]: number } = { EPERM: 1, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 }
const machines = [
  { architecture: "x64", token: 0xc000003e, other: 0x40000003, column: 0 },
  { architecture: "arm64", token: 0xc00000b7, other: 0x40000028, column: 1 }
] as const

describe.for(machines)("the filter of $architecture", ({ architecture, column, other, token }) => {
  const numberOf = (call: string): number => rules.find((rule) => rule.call === call)?.numbers[column] ?? -1
  const ask = (call: string, ...args: ReadonlyArray<bigint>): number =>
    answer(architecture, token, numberOf(call), args)

  it("answers every call as the table says", () => {
    for (const { call, decision, numbers } of rules) {
      const number = numbers[column]
      if (number === undefined) continue
      const error = errors[decision]
      if (decision === "allow") assert.strictEqual(answer(architecture, token, number), allow, call)
      if (error !== undefined) assert.strictEqual(answer(architecture, token, number), errno(error), call)
    }
  })

  it("has one rule for a call", () => {
    const numbers = rules.flatMap((rule) => rule.numbers[column] ?? [])
    assert.strictEqual(new Set(numbers).size, numbers.length)
  })

  it("refuses what no rule names", () => {
    const named = new Set(rules.flatMap((rule) => rule.numbers[column] ?? []))
    for (let number = 0; number < 1024; number++) {
      if (!named.has(number)) assert.strictEqual(answer(architecture, token, number), errno(38), String(number))
    }
  })

  it("ends a process that makes calls of another architecture", () => {
    assert.strictEqual(answer(architecture, other, numberOf("read")), kill)
  })

  it("lets clone make threads and processes, and no namespace", () => {
    assert.strictEqual(ask("clone", 0x3d0f00n), allow)
    assert.strictEqual(ask("clone", 17n), allow)
    for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n]) {
      assert.strictEqual(ask("clone", flag | 17n), errno(1), flag.toString(16))
    }
  })

  it("checks the arguments of the others", () => {
    assert.strictEqual(ask("socketpair", 1n, 0o2004001n), allow)
    assert.strictEqual(ask("socketpair", 1n, 2n), errno(97))
    assert.strictEqual(ask("socketpair", 16n, 1n), errno(97))
    assert.strictEqual(ask("sendto", 3n, 4n, 5n, 0n, 0n), allow)
    assert.strictEqual(ask("sendto", 3n, 4n, 5n, 0n, 1n << 32n), errno(1))
    assert.strictEqual(ask("sendto", 3n, 4n, 5n, 0n, 4096n), errno(1))
    assert.strictEqual(ask("sendto", 3n, 4n, 5n, 1n, 0n), errno(95))
    assert.strictEqual(ask("recvfrom", 3n, 4n, 5n, 0x4040n), allow)
    assert.strictEqual(ask("recvfrom", 3n, 4n, 5n, 0x41n), errno(95))
    for (const call of ["sendmsg", "recvmsg"]) {
      assert.strictEqual(ask(call, 3n, 4n, 0x4000n), allow)
      assert.strictEqual(ask(call, 3n, 4n, 1n), errno(95))
    }
    assert.strictEqual(ask("ioctl", 0n, 0x5421n), allow)
    assert.strictEqual(ask("ioctl", 0n, 0x5412n), errno(25))
    assert.strictEqual(ask("prctl", 15n), allow)
    assert.strictEqual(ask("prctl", 22n), errno(22))
    assert.strictEqual(ask("prlimit64", 0n), allow)
    assert.strictEqual(ask("prlimit64", 1n), errno(1))
    for (const command of [0n, 4n, 7n, 37n, 1030n]) assert.strictEqual(ask("fcntl", 3n, command), allow)
    // F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SET_RW_HINT and F_SET_FILE_RW_HINT.
    for (const command of [8n, 10n, 15n, 1024n, 1026n, 1036n, 1038n]) {
      assert.strictEqual(ask("fcntl", 3n, command), errno(22))
    }
    assert.strictEqual(ask("setrlimit", 7n), allow)
    assert.strictEqual(ask("setrlimit", 4n), errno(1))
    assert.strictEqual(ask("prlimit64", 0n, 7n, 4096n), allow)
    assert.strictEqual(ask("prlimit64", 0n, 4n, 0n, 4096n), allow)
    assert.strictEqual(ask("prlimit64", 0n, 4n, 4096n), errno(1))
    assert.strictEqual(ask("prlimit64", 0n, 4n, 1n << 32n), errno(1))
    // The kernel looks at half of it.
    assert.strictEqual(ask("prlimit64", 0n, (1n << 32n) | 4n, 4096n), errno(1))
    assert.strictEqual(ask("getsockopt", 3n, 1n, 4n), allow)
    // SO_PEERCRED, SO_PEERSEC and SO_PEERPIDFD.
    for (const option of [17n, 31n, 77n]) assert.strictEqual(ask("getsockopt", 3n, 1n, option), errno(92))
    assert.strictEqual(ask("getsockopt", 3n, 6n, 4n), errno(92))
    assert.strictEqual(ask("setsockopt", 3n, 1n, 7n), allow)
    assert.strictEqual(ask("setsockopt", 3n, 1n, 26n), errno(92))
    assert.strictEqual(ask("setsockopt", 3n, 6n, 7n), errno(92))
  })

  it("lets only guests of Node watch by epoll, which the kernel counts for the user", () => {
    const number = numberOf("epoll_create1")
    assert.strictEqual(answer(architecture, token, number), allow)
    for (const role of ["python", "zygote"] as const) {
      assert.strictEqual(answer(architecture, token, number, [], role), errno(38))
    }
  })

  it("is what the kernel takes: eight bytes an instruction, at most 4096 of them", () => {
    const program = assemble(architecture, "typescript")
    assert.isAtMost(program.length, 4096)
    assert.strictEqual(encode(architecture, "typescript").length, program.length * 8)
  })
})

describe("the filter of x64", () => {
  it("refuses the x32 calls", () => {
    assert.strictEqual(answer("x64", 0xc000003e, 0x40000000), errno(38))
  })
})

describe("docs/sandbox.md", () => {
  it("shows the table", () => {
    const text = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8")
    for (const { call, why } of rules) {
      const rows = text.split("\n").filter((line) => line.startsWith("|") && line.includes(`\`${call}\``))
      assert.isTrue(
        rows.some((row) => row.includes(why)),
        call
      )
    }
  })
})
