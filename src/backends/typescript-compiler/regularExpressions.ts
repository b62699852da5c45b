/**
 * Regular expressions that V8 takes long to read. With `u` or `v` each class, such as `\p{L}` or `\w`, may take it a
 * third of a millisecond and 200 kB outside of any heap, and nothing stops it meanwhile: not even the end of its thread.
 */
import ts from "typescript"
import { mayBeCostly } from "./costly.ts"

/** Characters of costly literals that one program may have read before it runs: some 100 ms at worst. */
const most = 256

interface Literal {
  readonly start: number
  readonly body: string
  readonly flags: string
}

const costlyLiterals = (code: string): ReadonlyArray<Literal> => {
  const file = ts.createSourceFile("program.js", code, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS)
  const found: Array<Literal> = []
  const visit = (node: ts.Node): void => {
    if (node.kind !== ts.SyntaxKind.RegularExpressionLiteral) return ts.forEachChild(node, visit)
    const start = node.getStart(file)
    const text = code.slice(start, node.end)
    const slash = text.lastIndexOf("/")
    const flags = text.slice(slash)
    if (/[uv]/u.test(flags)) found.push({ start, body: text.slice(1, slash), flags })
    return undefined
  }
  visit(file)
  return found
}

/**
 * The code with long costly expressions made harmless, each as long as it was. What is wrong in one of them is found when
 * the program begins, in its guest.
 */
export const harmless = (code: string): string => {
  if (code.length <= most || !mayBeCostly(code)) return code
  const literals = costlyLiterals(code)
  if (literals.reduce((sum, { body }) => sum + body.length, 0) <= most) return code
  let out = ""
  let done = 0
  for (const { body, flags, start } of literals) {
    out += `${code.slice(done, start)}/${"x".repeat(body.length)}${flags}`
    done = start + 1 + body.length + flags.length
  }
  return out + code.slice(done)
}
