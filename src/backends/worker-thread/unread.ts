/**
 * How much a guest may have said that its host has not read. A program that floods its host waits for it, as a writer
 * waits at a full pipe: else the host would hold all of it, and would do nothing else until it had read all of it.
 */

/** What a message weighs: its characters, and something for itself. */
export const weightOf = (text: string): number => text.length + 64

/** A guest whose unread messages weigh more waits. */
export const mostUnread = 300_000

/** It goes on once they weigh no more than this. */
export const fewUnread = mostUnread / 2

/** Both sides count so much by themselves before they touch the count that they share. */
export const countedAtOnce = 32_000
