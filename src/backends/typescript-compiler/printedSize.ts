/**
 * How long a program is once it is printed anew. A few hundred characters can make gigabytes: constants of enums that
 * double, a long name of a namespace before each of its members, the indentation of deep nesting.
 */
import ts from "typescript"

/** Thrown where a program would become longer than `longestCode`. */
export class TooLong extends Error {}

/** Characters of the longest code that a program may become; a megabyte of `1;` makes 11 million, its source map included. */
export const longestCode = 32 * 1_048_576

/** What a node may print besides its names and literals: keywords, marks, spaces. */
const perNode = 8
const indentation = 4
/** A character of a literal that was made may be printed as `\u0000`. */
const escaped = 6

const isName = (node: ts.Node): node is ts.Identifier | ts.PrivateIdentifier =>
  ts.isIdentifier(node) || ts.isPrivateIdentifier(node)

const isLiteral = (node: ts.Node): node is ts.LiteralLikeNode =>
  ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

/** What grows to the left, such as `a + b + c` or `a.b.c`, is indented once however long it is. */
const isLeftmost = (child: ts.Node, parent: ts.Node): boolean =>
  (ts.isBinaryExpression(parent) && parent.left === child) ||
  ((ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent) || ts.isCallExpression(parent)) &&
    parent.expression === child)

/** The longest name that may be put before another as it is printed, such as a namespace's before its members. */
const longestOwner = (file: ts.Node): number => {
  let longest = 0
  const visit = (node: ts.Node): void => {
    if (ts.isModuleDeclaration(node) || ts.isEnumDeclaration(node) || ts.isClassLike(node))
      longest = Math.max(longest, node.name?.text.length ?? 0)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return longest
}

/** Throws `TooLong` if a transformed file might print more than `longestCode`. */
export const checkPrintedSize = (file: ts.SourceFile): void => {
  const owner = longestOwner(ts.getOriginalNode(file))
  let size = 0
  let deepest = 0
  let longestName = 0
  let generated = 0
  const visit = (node: ts.Node, depth: number): void => {
    size += perNode
    if (depth > deepest) deepest = depth
    if (isName(node)) {
      const { length } = node.text
      if (length > longestName) longestName = length
      // A name that is made only as it is printed: that of some node, with a number behind it.
      if (length === 0) generated += 1
      size += length + owner
    } else if (isLiteral(node)) size += node.text.length * (node.pos < 0 ? escaped : 1)
    if (ts.isStatement(node) || ts.isClassElement(node)) size += depth * indentation
    if (size > longestCode) throw new TooLong()
    ts.forEachChild(node, (child) => visit(child, isLeftmost(child, node) ? depth : depth + 1))
  }
  visit(file, 0)
  size += generated * (longestName + perNode)
  // Lines of a comment are indented too.
  size += file.getLineStarts().length * deepest * indentation
  if (size > longestCode) throw new TooLong()
}
