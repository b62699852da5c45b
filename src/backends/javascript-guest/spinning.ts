/**
 * Adaptive spinning: how a JavaScript guest waits for its host's answers.
 *
 * A guest that sleeps is woken by another processor that slept as well, and on a virtual machine each of these takes
 * several times as long as all that a call is. So a guest whose answers come that late looks for the next one itself for
 * as long as that may take, and goes to sleep where it does not come: the functions take longer, or nobody has a
 * processor to spare.
 */

/** What a guest has to wait with. Times are in milliseconds. */
export interface Waiting {
  readonly now: () => number
  /** Does something after what was set off before, in this turn of the event loop. */
  readonly soon: (task: () => void) => void
  /** Does something in the next turn, or never. */
  readonly later: (task: () => void) => void
  /** Takes what the host has said; undefined where that is nothing. */
  readonly poll: () => string | undefined
  /** Whether the program waits for answers. */
  readonly isWaiting: () => boolean
}

const { apply, getOwnPropertyDescriptor } = Reflect
const { hrtime } = process
const afterTurn = setImmediate
const promiseThen = Promise.prototype.then
const settled = Promise.resolve()
// Else `then` would ask the constructor that the program may have changed.
Object.defineProperty(settled, "constructor", { value: undefined })

const prototypes = [Array.prototype, Object.prototype]
const firstPlaces = ["0", "1"]

/**
 * Whether setters of the program stand where Node writes as it runs an immediate or a timer: to the first places of a list
 * that is empty. What they throw would end the run, although the program has set off neither.
 */
const isListReached = (): boolean => {
  for (let i = 0; i < prototypes.length; i++) {
    for (let k = 0; k < firstPlaces.length; k++) {
      if (getOwnPropertyDescriptor(prototypes[i] ?? {}, firstPlaces[k] ?? "") !== undefined) return true
    }
  }
  return false
}

/** The clock and the turns of Node's event loop. */
export const loop: Pick<Waiting, "now" | "soon" | "later"> = {
  now: () => {
    const time = hrtime()
    return time[0] * 1000 + time[1] / 1e6
  },
  // Not by a tick: Node keeps those in a list that setters of the program reach.
  soon: (task) => void apply(promiseThen, settled, [task]),
  // Else it sleeps from here on, as a guest does whose answers are late: slower, and nothing else.
  later: (task) => {
    if (!isListReached()) afterTurn(task)
  }
}

/** An answer that comes sooner did not have to wake anybody. */
const slowMs = 0.055

/** How long a guest looks for one answer. */
const spinMs = 0.1

/** How long it looks for answers, one after the other, before its event loop turns: timers and rejections wait so long. */
const turnMs = 2

/** Where it does not pay it is tried again after so many answers, after four times as many the next time, and so on. */
const leastRest = 4
const longestRest = 1024

/** It has paid where it found so many before it found nothing: something else held the host up. */
const enough = 16

/** After so many answers it is known how soon they come: it must be so much sooner than to a guest that sleeps. */
const trial = 64
const gain = 0.8

/** Steps of promises after an answer within which a program makes its next call, or does something else first. */
const mostSteps = 32

/** Looks at a port between two looks at the clock. */
const looks = 8

/** The weight of the last answer in what is usual. */
const weight = 1 / 8

/** Makes the handler of a guest's messages, and what is to be told of each call that leaves. */
export const spinning = (
  receive: (text: string) => void,
  { isWaiting, later, now, poll, soon }: Waiting
): { readonly onSend: () => void; readonly onMessage: (text: string) => void } => {
  let sentAt = 0
  let sent = 0
  /** How long answers take for a guest that sleeps, and for one that spins. */
  let asleepMs = 0
  let awakeMs = 0
  let spins = false
  let found = 0
  let tried = 0
  let restsLeft = 0
  let rest = leastRest

  const stop = (hasPaid: boolean): void => {
    if (hasPaid) rest = leastRest
    else if (rest < longestRest) rest *= 4
    spins = false
    restsLeft = rest
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
    tried = 0
    awakeMs = 0
    return spins
  }

  let turnEndsAt = 0
  const begin = (): void => {
    turnEndsAt = now() + turnMs
    look()
  }

  let seen = 0
  let steps = 0
  const goOn = (): void => {
    seen = sent
    steps = 0
    soon(step)
  }
  const step = (): void => {
    if (sent === seen && ++steps < mostSteps) soon(step)
    else if (sent === seen || now() > turnEndsAt) later(begin)
    else look()
  }

  const look = (): void => {
    if (!isWaiting()) spins = false
    if (!spins) return
    const answer = next()
    if (answer === undefined) return stop(found >= enough)
    found++
    awakeMs += now() - sentAt
    if (++tried === trial) {
      if (awakeMs > gain * asleepMs * trial) stop(false)
      tried = 0
      awakeMs = 0
    }
    receive(answer)
    goOn()
  }

  return {
    onSend: () => {
      sentAt = now()
      sent++
    },
    onMessage: (text) => {
      const tookMs = now() - sentAt
      receive(text)
      // What comes by itself while it spins is not what it slept for.
      if (spins || !decide(tookMs)) return
      turnEndsAt = now() + turnMs
      goOn()
    }
  }
}
