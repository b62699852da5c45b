/**
 * The share of the event loop that guests get: what is past it waits, in order, and nothing is lost.
 */
import { assert, describe, it } from "vitest"
import { Inbox } from "../src/layers/Inbox.ts"
import type { Guest, GuestListener } from "../src/services/GuestLauncher.ts"

/** Longer than any share of a turn. */
const longMs = 25

const busy = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A guest of which only what an inbox sees is there, and what was asked of it. */
const speaker = () => {
  const asked: Array<string> = []
  let listener: GuestListener | undefined
  const guest: Guest = {
    send: () => {},
    listen: (given) => {
      listener = given
    },
    busyMs: () => 0,
    peakMemoryMb: () => undefined,
    pause: () => asked.push("pause"),
    resume: () => asked.push("resume")
  }
  return {
    asked,
    guest,
    get listener(): GuestListener {
      assert.isDefined(listener)
      return listener
    }
  }
}

/** A run that takes `ms` for each thing that it is told. */
const slowRun = (ms: number) => {
  const told: Array<string> = []
  const listener: GuestListener = {
    onText: (text) => {
      told.push(text)
      busy(ms)
    },
    onStray: (channel, bytes) => {
      told.push(`${channel} ${Buffer.from(bytes).toString()}`)
    },
    onExit: ({ code }) => {
      told.push(`exit ${code}`)
    }
  }
  return { told, inbox: new Inbox(listener) }
}

const line = `${"x".repeat(99)}\n`

describe("a guest's share of the event loop", () => {
  it("what an ordinary guest says is told at once, and the guest is never paused", async () => {
    await nextTurn()
    const { inbox, told } = slowRun(0)
    const voice = speaker()
    inbox.open(voice.guest)
    voice.listener.onText("one\n")
    voice.listener.onStray("stdout", Buffer.from("two"))
    voice.listener.onExit({ code: 0, outOfMemory: false })
    assert.deepStrictEqual(told, ["one\n", "stdout two", "exit 0"])
    assert.deepStrictEqual(voice.asked, [])
    assert.isTrue(inbox.isEmpty)
    await inbox.emptied()
  })

  it("a flood waits for later turns, the guest with it, and its order stays as it was", async () => {
    await nextTurn()
    const { inbox, told } = slowRun(longMs)
    const voice = speaker()
    inbox.open(voice.guest)
    const flood = line.repeat(1000)
    voice.listener.onText(flood)
    voice.listener.onStray("stderr", Buffer.from("last words"))
    voice.listener.onExit({ code: 3, outOfMemory: false })
    assert.isFalse(inbox.isEmpty)
    assert.deepStrictEqual(voice.asked, ["pause"])
    const atOnce = told.length
    let turns = 0
    const emptied = inbox.emptied()
    while (!inbox.isEmpty) {
      await nextTurn()
      turns++
    }
    await emptied
    // Each piece alone is more than a turn's share here.
    assert.isAbove(turns, 4)
    assert.isBelow(atOnce, told.length)
    assert.deepStrictEqual(voice.asked, ["pause", "resume"])
    assert.strictEqual(told.slice(0, -2).join(""), flood)
    assert.deepStrictEqual(told.slice(-2), ["stderr last words", "exit 3"])
  })

  it("pieces end with a line, and one long line is told whole", async () => {
    await nextTurn()
    const { inbox, told } = slowRun(0)
    const voice = speaker()
    inbox.open(voice.guest)
    const long = `${"y".repeat(1_000_000)}\n`
    voice.listener.onText(`${line.repeat(500)}${long}${line.repeat(500)}rest`)
    await inbox.emptied()
    assert.strictEqual(told.join(""), `${line.repeat(500)}${long}${line.repeat(500)}rest`)
    assert.isTrue(told.every((text, at) => text.endsWith("\n") || at === told.length - 1))
    assert.isTrue(told.some((text) => text.includes(long)))
    for (const text of told) assert.isBelow(text.length, long.length + 20_000)
  })

  it("guests that flood together take turns", async () => {
    await nextTurn()
    const order: Array<number> = []
    const inboxes = [0, 1, 2].map((index) => {
      const inbox = new Inbox({
        onText: () => {
          order.push(index)
          busy(longMs)
        },
        onStray: () => {},
        onExit: () => {}
      })
      const voice = speaker()
      inbox.open(voice.guest)
      voice.listener.onText(line.repeat(500))
      return inbox
    })
    await Promise.all(inboxes.map((inbox) => inbox.emptied()))
    // Once all of them are behind, none is told twice before the others.
    const later = order.slice(order.indexOf(2))
    assert.deepStrictEqual(later.slice(0, 3).toSorted(), [0, 1, 2])
  })
})
