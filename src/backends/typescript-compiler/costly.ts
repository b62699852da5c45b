/** Flags of a regular expression that V8 may take seconds to read, or what looks like them: `/u`, `/giv`. */
const unicodeFlags = /\/[dgimsy]*[uv][dgimsuvy]*(?![\p{ID_Continue}$])/u

/** Whether a text may hold a regular expression with `u` or `v`. */
export const mayBeCostly = (text: string): boolean => unicodeFlags.test(text)
