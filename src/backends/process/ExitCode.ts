/**
 * The exit code by which a guest in a process of its own says that its memory is used up, as `docs/protocol.md` tells.
 */
export const outOfMemoryCode = 213
