/**
 * Which word was meant by one that is misspelt.
 */

/** Letters to change, add, leave out or swap with their neighbour until one word is the other. */
const distance = (one: string, other: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1]
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
        )
      )
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}

/** Longer words are no slip of anybody's fingers, and comparing them would cost. */
const longest = 64

/** The word that was meant, at most two slips away and a third of its length; undefined where none is so near. */
export const nearest = (word: string, words: ReadonlyArray<string>): string | undefined => {
  if (word.length > longest) return undefined
  let found: string | undefined
  let least = 3
  for (const each of words) {
    const slips = distance(word.toLowerCase(), each.toLowerCase())
    if (slips < least && slips * 3 <= each.length) {
      found = each
      least = slips
    }
  }
  return found
}
