/**
 * Adaptive spinning: how a JavaScript guest waits for its host's answers.
 *
 * A guest that sleeps is woken by another processor that slept as well, and on a virtual machine each of these takes
 * several times as long as all that a call is. So a guest whose answers come that late looks for the next one itself for
 * as long as that may take, and goes to sleep where it does not come: the functions take longer, or nobody has a
 * processor to spare.
 */

/** What a guest has to wait with. Times are in milliseconds. */
export interface Waiting extends Turns {
  /** Takes what the host has said; undefined where that is nothing. */
  readonly poll: () => string | undefined
  /** Whether the program waits for answers. */
  readonly isWaiting: () => boolean
}

export interface Turns {
  readonly now: () => number
  /** Lets the program go on after an answer, as its event loop would next. */
  readonly resume: () => void
}

const { apply } = Reflect
const { hrtime } = process
/** What Node does after each callback; it is in no documentation. */
const tick: unknown = Reflect.get(process, "_tickCallback")

/** The time and the turns of this Node; undefined where it has no way to end a turn, and then nobody spins. */
export const turns: Turns | undefined =
  typeof tick === "function"
    ? {
        now: () => {
          const time = hrtime()
          return time[0] * 1000 + time[1] / 1e6
        },
        resume: () => apply(tick, process, [])
      }
    : undefined

/** An answer that comes sooner did not have to wake anybody. */
const slowMs = 0.045

/** How long a guest looks for one answer. */
const spinMs = 0.1

/** How long it looks for answers, one after the other, before its event loop has its turn. */
const turnMs = 2

/** Where it does not pay it is tried again after so many answers, after four times as many the next time, and so on. */
const leastRest = 4
const longestRest = 4096

/** After so many answers it is known whether it pays: they must come so much sooner than to a guest that sleeps. */
const trial = 64
const gain = 0.8

/** Looks at a port between two looks at the clock. */
const looks = 8

/** The weight of the last answer in what is usual. */
const weight = 1 / 16

/** Makes the handler of a guest's messages, and what is to be told of each call that leaves. */
export const spinning = (
  receive: (text: string) => void,
  { isWaiting, now, poll, resume }: Waiting
): { readonly onSend: () => void; readonly onMessage: (text: string) => void } => {
  let sentAt = 0
  /** How long answers take for a guest that sleeps, and for one that spins. */
  let asleepMs = 0
  let awakeMs = 0
  let spins = false
  let found = 0
  let restsLeft = 0
  let rest = leastRest

  const stop = (): void => {
    spins = false
    restsLeft = rest
    rest = rest < longestRest ? rest * 4 : longestRest
  }

  const next = (): string | undefined => {
    const until = now() + spinMs
    do {
      for (let i = 0; i < looks; i++) {
        const text = poll()
        if (text !== undefined) return text
      }
    } while (now() < until)
    return undefined
  }

  /** Whether to spin from here on, after an answer for which the guest slept. */
  const decide = (tookMs: number): boolean => {
    // What took longer tells nothing more: it was no matter of waking somebody.
    asleepMs += ((tookMs < 4 * spinMs ? tookMs : 4 * spinMs) - asleepMs) * weight
    if (restsLeft > 0) restsLeft--
    spins = restsLeft === 0 && asleepMs > slowMs && asleepMs < 2 * spinMs
    found = 0
    awakeMs = 0
    return spins
  }

  return {
    onSend: () => {
      sentAt = now()
    },
    onMessage: (text) => {
      const arrivedAt = now()
      const tookMs = arrivedAt - sentAt
      receive(text)
      if (!spins && !decide(tookMs)) return
      for (const until = arrivedAt + turnMs; now() < until;) {
        resume()
        if (!isWaiting()) return
        const answer = next()
        if (answer === undefined) return stop()
        awakeMs += now() - sentAt
        receive(answer)
        if (++found < trial) continue
        if (awakeMs > gain * asleepMs * trial) return stop()
        rest = leastRest
        found = 0
        awakeMs = 0
      }
    }
  }
}
