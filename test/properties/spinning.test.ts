/**
 * How a JavaScript guest waits for answers, by a clock and a host of the test's own.
 */
import { assert, describe, it } from "vitest"
import { loop, spinning } from "../../src/backends/javascript-guest/spinning.ts"

/** A guest that calls, again and again, a host that takes so long: for a guest that sleeps, and for one that is awake. */
const guest = (asleepMs: number, awakeMs: number) => {
  let time = 0
  let pending: { readonly at: number } | undefined
  let polls = 0
  const told: Array<string> = []
  let isWaiting = true
  let mostInTurn = 0
  let ends = 0
  let turn: Array<() => void> = []
  const call = (answerMs: number) => {
    onSend()
    pending = { at: time + answerMs }
  }
  const { onMessage, onSend } = spinning((text) => told.push(text), {
    now: () => (time += 0.0001),
    poll: () => {
      polls++
      time += 0.001
      if (pending === undefined || time < pending.at) return undefined
      pending = undefined
      return "found"
    },
    soon: (task) => turn.push(task),
    later: (task) => {
      ends++
      turn.push(task)
    },
    isWaiting: () => isWaiting
  })
  /** Turns of the event loop, in each of which the program calls again, as long as there is something to do. */
  const turns = (most: number) => {
    for (let i = 0; i < most && turn.length > 0; i++) {
      const tasks = turn
      turn = []
      call(awakeMs)
      const before = told.length
      for (const task of tasks) task()
      mostInTurn = Math.max(mostInTurn, told.length - before)
    }
  }
  /** An answer that the event loop brings, to a call that was made before. */
  const answer = () => {
    call(asleepMs)
    time += asleepMs
    pending = undefined
    onMessage("brought")
    turns(100)
  }
  return {
    answer,
    told,
    get polls() {
      return polls
    },
    get ends() {
      return ends
    },
    get mostInTurn() {
      return mostInTurn
    },
    get found() {
      return told.filter((text) => text === "found").length
    },
    stopWaiting: () => {
      isWaiting = false
    }
  }
}

const times = (count: number, body: () => void): void => {
  for (let i = 0; i < count; i++) body()
}

describe("a JavaScript guest that waits for answers", () => {
  it("sleeps where they come as soon as that", () => {
    const each = guest(0.03, 0.01)
    times(1000, each.answer)
    assert.strictEqual(each.polls, 0)
    assert.deepStrictEqual(new Set(each.told), new Set(["brought"]))
  })

  it("sleeps where they take longer than waking anybody, once it has seen that", () => {
    const each = guest(5, 5)
    times(20, each.answer)
    const first = each.polls
    times(1000, each.answer)
    assert.strictEqual(each.polls, first)
    assert.isBelow(first, 500)
    assert.strictEqual(each.found, 0)
  })

  it("looks for them itself where it takes long to be woken, and lets its event loop turn after each", () => {
    const each = guest(0.08, 0.02)
    times(200, each.answer)
    assert.isAbove(each.found, 5000)
    // The program goes on after each of them, and the event loop turns every 2 ms: an answer takes 0.02 ms here.
    assert.isAtMost(each.mostInTurn, 1)
    assert.isAbove(each.ends, 50)
  })

  it("asks less and less often where it finds nothing", () => {
    const each = guest(0.08, 1000)
    times(100, each.answer)
    const first = each.polls
    times(10_000, each.answer)
    assert.isAbove(first, 0)
    assert.strictEqual(each.found, 0)
    assert.isBelow(each.polls, first * 8)
  })

  it("sleeps again where they come no sooner to one that is awake", () => {
    const each = guest(0.06, 0.059)
    times(20_000, each.answer)
    assert.isAbove(each.found, 0)
    assert.isBelow(each.found, 2000)
  })

  it("looks for nothing once the program waits for nothing", () => {
    const each = guest(0.08, 0.02)
    each.stopWaiting()
    times(1000, each.answer)
    assert.strictEqual(each.polls, 0)
  })
})

describe("the turns of Node's loop", () => {
  it("are not asked for where a setter of the program would be reached by them", async () => {
    const ran: Array<string> = []
    const set = () => {
      ran.push("setter")
    }
    for (const prototype of [Array.prototype, Object.prototype]) {
      for (const place of ["0", "1"]) {
        // oxlint-disable-next-line no-extend-native -- it is what a program may do
        Object.defineProperty(prototype, place, { set, configurable: true })
        try {
          loop.later(() => ran.push("task"))
        } finally {
          Reflect.deleteProperty(prototype, place)
        }
      }
    }
    await new Promise<void>((resolve) => void loop.later(resolve))
    assert.deepStrictEqual(ran, [])
  })
})
