/**
 * Every export of every public module says what it is, in a sentence.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

interface Manifest {
  readonly exports: { readonly [subpath: string]: string | { readonly [condition: string]: string } }
}
const manifest: Manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"))

/** Files of this package, of which some are patterns. */
const filesOf = (patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  patterns.flatMap((pattern) => (pattern.includes("*") ? globSync(pattern, { cwd: root }).toSorted() : [pattern]))

/** The sources of the entry points. */
const entries = filesOf(
  Object.values(manifest.exports).flatMap((exported) =>
    typeof exported === "string" ? [] : (exported["@effect-code-runtime/source"] ?? [])
  )
)

// Only this package's own files are read: what others export is theirs to explain.
const options: ts.CompilerOptions = { noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true }
const host = ts.createCompilerHost(options)
host.resolveModuleNameLiterals = (literals, file) =>
  literals.map(({ text }) =>
    text.startsWith(".")
      ? { resolvedModule: { resolvedFileName: resolve(dirname(file), text), extension: ts.Extension.Ts } }
      : { resolvedModule: undefined }
  )
const program = ts.createProgram(
  entries.map((entry) => resolve(root, entry)),
  options,
  host
)
const checker = program.getTypeChecker()

interface Exported {
  readonly name: string
  readonly symbol: ts.Symbol
}

const target = (symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)

const isInternal = (symbol: ts.Symbol): boolean => symbol.getJsDocTags(checker).some(({ name }) => name === "internal")

/** The exports of a module and of the modules that it exports as namespaces. */
const exportsOf = (module: ts.Symbol, prefix: string): ReadonlyArray<Exported> =>
  checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = target(exported)
    const name = `${prefix}${exported.name}`
    if ((symbol.flags & ts.SymbolFlags.ValueModule) !== 0) return exportsOf(symbol, `${name}.`)
    return isInternal(symbol) ? [] : [{ name, symbol }]
  })

/** Each declaration's own comment: a type and a value of one name are explained both. */
const commentsOf = (symbol: ts.Symbol): ReadonlyArray<string> =>
  (symbol.declarations ?? []).flatMap((declaration) => {
    const holder = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    // Of the signatures of one function the first speaks for all.
    if (ts.isFunctionDeclaration(holder) && declaration !== symbol.declarations?.[0]) return []
    const comments = ts.getJSDocCommentsAndTags(holder).filter(ts.isJSDoc)
    return [ts.getTextOfJSDocComment(comments.at(-1)?.comment) ?? ""]
  })

/** The first paragraph begins as a sentence does and has an end. */
const startsWithSentence = (comment: string): boolean => {
  const paragraph = comment.split(/\n\s*\n/u)[0]?.replace(/\s+/gu, " ") ?? ""
  return /^[\p{Lu}`@0-9][^]*[.?](?: |$)/u.test(paragraph)
}

describe("docstrings", () => {
  for (const entry of entries) {
    it(entry, () => {
      const source = program.getSourceFile(resolve(root, entry)) ?? assert.fail(`${entry} is not there`)
      const module = checker.getSymbolAtLocation(source) ?? assert.fail(`${entry} exports nothing`)
      const exported = exportsOf(module, "")
      assert.isNotEmpty(exported)
      const silent = exported.flatMap(({ name, symbol }) => {
        const file = symbol.declarations?.[0]?.getSourceFile().fileName
        const place = file === undefined ? "" : ` (${relative(root, file)})`
        return commentsOf(symbol).every(startsWithSentence) && (symbol.declarations ?? []).length > 0
          ? []
          : [`${name}${place}`]
      })
      assert.deepStrictEqual(silent, [])
    })
  }

  it("cover what the reference of the API covers", () => {
    const typedoc: { readonly entryPoints: ReadonlyArray<string> } = JSON.parse(
      readFileSync(`${root}typedoc.json`, "utf8")
    )
    assert.sameMembers(
      filesOf(typedoc.entryPoints).map((entry) => resolve(root, entry)),
      entries.map((entry) => resolve(root, entry))
    )
  })
})
