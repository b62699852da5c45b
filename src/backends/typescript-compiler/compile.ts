/**
 * Compiles one TypeScript program to a script whose value is an async function. Pure; runs in the compiler thread.
 *
 * Types are blanked in place, so that nothing moves. Only a program with syntax that cannot be erased (`enum`,
 * `namespace`, decorators, ...) is printed anew, with a source map.
 */
import * as vm from "node:vm"
import { blankSourceFile } from "ts-blank-space"
import ts from "typescript"
import * as HeapBudget from "./HeapBudget.ts"
import { type Compiled, lineStarts, makeLocate, placeAt } from "./locate.ts"
import { checkPrintedSize, longestCode, TooLong } from "./printedSize.ts"
import { harmless } from "./regularExpressions.ts"
import { unwrap } from "./unwrap.ts"

/** A program that was not compiled, and why. */
export interface Rejected {
  /** Begins with `SyntaxError: `. */
  readonly rejected: string
  readonly line?: number
  readonly column?: number
  /** Whether the compiler was left in the middle of its work, and should not be used again. */
  readonly retire?: boolean
}

/** Thrown at the first thing that makes a program illegal. */
class Illegal extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const parserOptions: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.ESNext,
  impliedNodeFormat: ts.ModuleKind.ESNext,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  // A module, so that `await` is an operator everywhere.
  setExternalModuleIndicator: (file) => void Reflect.set(file, "externalModuleIndicator", true)
}

const printerOptions: ts.CompilerOptions = {
  // The oldest supported Node has no `using`, no decorators and no `accessor`.
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Legacy,
  useDefineForClassFields: true,
  experimentalDecorators: false,
  sourceMap: true,
  newLine: ts.NewLineKind.LineFeed
}

const parse = (text: string): ts.SourceFile =>
  ts.createSourceFile("program.ts", text, parserOptions, false, ts.ScriptKind.TS)

const isDiagnostic = (value: unknown): value is ts.Diagnostic =>
  typeof value === "object" && value !== null && "messageText" in value

/** The first complaint of the parser. */
const complaint = (file: ts.SourceFile): Illegal | undefined => {
  const all: unknown = Reflect.get(file, "parseDiagnostics")
  const first: unknown = Array.isArray(all) ? all[0] : undefined
  return isDiagnostic(first) ? illegal(first) : undefined
}

const illegal = (diagnostic: ts.Diagnostic): Illegal =>
  new Illegal(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n").replace(/\.$/u, ""), diagnostic.start ?? 0)

// ---------------------------------------------------------------------------------------------------------------------
// What a program is made of
// ---------------------------------------------------------------------------------------------------------------------

const bind: unknown = Reflect.get(ts, "bindSourceFile")

/** Names that a node declares for what is inside it, once the file is bound. */
const localsOf = (node: ts.Node): ReadonlyMap<unknown, unknown> | undefined => {
  const locals: unknown = Reflect.get(node, "locals")
  return locals instanceof Map ? locals : undefined
}

const isValue = (symbol: unknown): boolean =>
  typeof symbol === "object" &&
  symbol !== null &&
  "flags" in symbol &&
  typeof symbol.flags === "number" &&
  (symbol.flags & ts.SymbolFlags.Value) !== 0

const modifiersOf = (node: ts.Node): ReadonlyArray<ts.ModifierLike> =>
  ts.canHaveModifiers(node) || ts.canHaveDecorators(node) ? (Reflect.get(node, "modifiers") ?? []) : []

const hasModifier = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  modifiersOf(node).some((modifier) => modifier.kind === kind)

const exportRemedy = "a program is the body of an async function: write `return x` instead of `export`"

interface Findings {
  /** Those of the wanted names that are used as values, in a scope where they mean what they mean at the top. */
  readonly used: ReadonlySet<string>
  /** Whether there is syntax that blanking does not do, or does not do well. */
  readonly print: boolean
  readonly awaits: boolean
}

const erasedModifiers: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AbstractKeyword,
  ts.SyntaxKind.DeclareKeyword,
  ts.SyntaxKind.OverrideKeyword,
  ts.SyntaxKind.PrivateKeyword,
  ts.SyntaxKind.ProtectedKeyword,
  ts.SyntaxKind.PublicKeyword,
  ts.SyntaxKind.ReadonlyKeyword
])

const contextualNames: ReadonlySet<string> = new Set(["get", "set", "static", "async", "accessor"])
const operatorNames: ReadonlySet<string> = new Set(["in", "instanceof"])

const textOfName = (name: ts.Node | undefined): string | undefined =>
  name !== undefined && ts.isIdentifier(name) ? name.text : undefined

/** Whether blanking types in a class body would join a field with the member after it. */
const joinsMembers = (members: ts.NodeArray<ts.ClassElement>): boolean => {
  let erased = false
  for (const member of members) {
    const name = textOfName(member.name)
    if (ts.isPropertyDeclaration(member) && member.initializer === undefined && contextualNames.has(name ?? ""))
      return true
    const bodiless =
      ts.isIndexSignatureDeclaration(member) ||
      (ts.isFunctionLike(member) && !("body" in member && member.body !== undefined)) ||
      hasModifier(member, ts.SyntaxKind.AbstractKeyword) ||
      hasModifier(member, ts.SyntaxKind.DeclareKeyword)
    if (bodiless) {
      erased = true
      continue
    }
    const blanked = erased || modifiersOf(member).some((modifier) => erasedModifiers.has(modifier.kind))
    const risky =
      (ts.isMethodDeclaration(member) && member.asteriskToken !== undefined) ||
      operatorNames.has(name ?? "") ||
      (erased && member.name?.kind === ts.SyntaxKind.ComputedPropertyName)
    if (blanked && risky) return true
    erased = false
  }
  return false
}

/** Walks the values of a file, never its types. */
const examine = (file: ts.SourceFile, wanted: ReadonlySet<string>, main: ts.Node | undefined): Findings => {
  const used = new Set<string>()
  const shadowed = new Map<string, number>()
  let print = false
  let awaits = false
  let inFunction = 0
  let inMain = false

  if (wanted.size > 0 && typeof bind === "function") bind(file, printerOptions)

  const reference = (name: string): void => {
    if (!wanted.has(name) || (shadowed.get(name) ?? 0) > 0 || (inMain && name === "main")) return
    used.add(name)
  }

  const decorated = (node: ts.Node, modifiers: ReadonlyArray<ts.ModifierLike>): void => {
    const decorator = modifiers.find(ts.isDecorator)
    if (decorator === undefined) return
    const offset = decorator.getStart(file)
    if (ts.isParameter(node)) {
      throw new Illegal("parameter decorators are not supported: only standard (TC39) decorators are", offset)
    }
    if (!ts.isClassLike(node) && !ts.isClassElement(node)) throw new Illegal("Decorators are not valid here", offset)
    print = true
  }

  const children = (node: ts.Node): void => ts.forEachChild(node, (child) => visit(child, node))

  const scoped = (node: ts.Node): void => {
    if (wanted.size === 0) return children(node)
    const locals = localsOf(node)
    const names: Array<string> = []
    if (locals !== undefined) {
      if (locals.size < wanted.size) {
        for (const [name, symbol] of locals)
          if (typeof name === "string" && wanted.has(name) && isValue(symbol)) names.push(name)
      } else for (const name of wanted) if (isValue(locals.get(name))) names.push(name)
    }
    const own = ts.isFunctionExpression(node) || ts.isClassExpression(node) ? textOfName(node.name) : undefined
    if (own !== undefined && wanted.has(own)) names.push(own)
    for (const name of names) shadowed.set(name, (shadowed.get(name) ?? 0) + 1)
    children(node)
    for (const name of names) shadowed.set(name, (shadowed.get(name) ?? 0) - 1)
  }

  const visit = (node: ts.Node, parent: ts.Node): void => {
    switch (node.kind) {
      case ts.SyntaxKind.Identifier: {
        if (wanted.size === 0 || !ts.isIdentifier(node)) return
        if (ts.isShorthandPropertyAssignment(parent)) {
          if (parent.name === node || parent.objectAssignmentInitializer === node) reference(node.text)
          return
        }
        if (
          Reflect.get(parent, "name") !== node &&
          Reflect.get(parent, "propertyName") !== node &&
          Reflect.get(parent, "label") !== node
        )
          reference(node.text)
        return
      }
      case ts.SyntaxKind.InterfaceDeclaration:
      case ts.SyntaxKind.TypeAliasDeclaration:
      case ts.SyntaxKind.TypeParameter:
      case ts.SyntaxKind.IndexSignature:
        return
      case ts.SyntaxKind.HeritageClause:
        if (ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword) return
        return children(node)
      case ts.SyntaxKind.ExpressionWithTypeArguments:
        return ts.isExpressionWithTypeArguments(node) ? visit(node.expression, node) : undefined
      case ts.SyntaxKind.ImportDeclaration:
        if (parent === file) return
        throw new Illegal("an import declaration may only stand at the top level of the program", node.getStart(file))
      case ts.SyntaxKind.ExportDeclaration:
      case ts.SyntaxKind.ExportAssignment:
      case ts.SyntaxKind.NamespaceExportDeclaration:
        if (parent === file) return
        if (ts.isModuleBlock(parent)) return children(node)
        throw new Illegal(exportRemedy, node.getStart(file))
      case ts.SyntaxKind.ImportEqualsDeclaration:
        if (!ts.isImportEqualsDeclaration(node) || node.isTypeOnly) return
        if (parent !== file && !ts.isModuleBlock(parent)) {
          throw new Illegal("an import declaration may only stand at the top level of the program", node.getStart(file))
        }
        if (parent === file && wanted.has(node.name.text) && ts.isEntityName(node.moduleReference)) {
          // An alias uses its namespace only if it is used itself: see `namesUsed`.
          return
        }
        return children(node)
      case ts.SyntaxKind.Decorator:
        return children(node)
      case ts.SyntaxKind.AwaitExpression:
        if (inFunction === 0) awaits = true
        return children(node)
      case ts.SyntaxKind.ForOfStatement:
        if (inFunction === 0 && ts.isForOfStatement(node) && node.awaitModifier !== undefined) awaits = true
        return scoped(node)
      case ts.SyntaxKind.BinaryExpression:
        if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.LessThanToken) {
          const at = node.operatorToken.getStart(file)
          // V8 would read the rest of the line as a comment.
          if (file.text.startsWith("<!--", at)) throw new Illegal("HTML comments are not allowed", at)
        }
        return children(node)
      case ts.SyntaxKind.VariableDeclarationList: {
        const kind = node.flags & ts.NodeFlags.BlockScoped
        if (kind === ts.NodeFlags.Using || kind === ts.NodeFlags.AwaitUsing) print = true
        if (kind === ts.NodeFlags.AwaitUsing && inFunction === 0) awaits = true
        return children(node)
      }
    }
    if (ts.isTypeNode(node)) return
    const modifiers = modifiersOf(node)
    if (modifiers.length > 0) {
      decorated(node, modifiers)
      for (const modifier of modifiers) {
        if (modifier.kind === ts.SyntaxKind.DeclareKeyword) return
        if (modifier.kind === ts.SyntaxKind.AccessorKeyword) print = true
        if (modifier.kind === ts.SyntaxKind.ExportKeyword && parent !== file && !ts.isModuleBlock(parent)) {
          throw new Illegal(exportRemedy, modifier.getStart(file))
        }
      }
    }
    if (ts.isClassLike(node) && joinsMembers(node.members)) print = true
    const isFunction =
      ts.isFunctionLike(node) || ts.isPropertyDeclaration(node) || ts.isClassStaticBlockDeclaration(node)
    if (isFunction) {
      if (ts.isFunctionLike(node) && !("body" in node && node.body !== undefined)) return
      inFunction += 1
    }
    if (node === main) inMain = true
    scoped(node)
    if (node === main) inMain = false
    if (isFunction) inFunction -= 1
  }

  for (const statement of file.statements) visit(statement, file)
  return { used, print, awaits }
}

// ---------------------------------------------------------------------------------------------------------------------
// Imports and exports
// ---------------------------------------------------------------------------------------------------------------------

/** A part of the text that is written over; the text keeps its length and its lines. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly by: ";" | "var"
}

const blanks = (text: string): string => text.replace(/[^\n\r\u2028\u2029]+/gu, (run) => " ".repeat(run.length))

const applyEdits = (text: string, edits: ReadonlyArray<Edit>): string => {
  let out = ""
  let done = 0
  for (const { by, from, to } of edits) {
    out += text.slice(done, from) + by + blanks(text.slice(from + by.length, to))
    done = to
  }
  return out + text.slice(done)
}

/** A static import as it is hoisted. */
interface Import {
  readonly statement: ts.Statement
  readonly module: string
  readonly attributes: string
  /** Exports and the names they get. */
  readonly named: ReadonlyArray<{ readonly exported: string; readonly local: string; readonly node: ts.Node }>
  readonly namespace: string | undefined
  /** The name of `import x = require("y")`. */
  readonly required: string | undefined
}

const moduleName = (specifier: ts.Expression, file: ts.SourceFile): string => {
  if (ts.isStringLiteral(specifier)) return specifier.text
  throw new Illegal("String literal expected", specifier.getStart(file))
}

const attributesOf = (node: ts.ImportDeclaration, file: ts.SourceFile): string => {
  if (node.attributes === undefined) return ""
  if (node.attributes.token !== ts.SyntaxKind.WithKeyword) {
    throw new Illegal(
      "import assertions are called attributes: write `with` instead of `assert`",
      node.attributes.getStart(file)
    )
  }
  const entries = node.attributes.elements.map((element) => {
    if (!ts.isStringLiteral(element.value)) throw new Illegal("String literal expected", element.value.getStart(file))
    return `[${JSON.stringify(element.name.text)}]:${JSON.stringify(element.value.text)}`
  })
  return `,{with:{${entries.join(",")}}}`
}

const importOf = (node: ts.ImportDeclaration, file: ts.SourceFile): Import | undefined => {
  const clause = node.importClause
  if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return undefined
  if (clause?.phaseModifier !== undefined) throw new Illegal("`import defer` is not supported", clause.getStart(file))
  const named: Array<Import["named"][number]> = []
  if (clause?.name !== undefined) named.push({ exported: "default", local: clause.name.text, node: clause.name })
  const bindings = clause?.namedBindings
  if (bindings !== undefined && ts.isNamedImports(bindings)) {
    for (const element of bindings.elements) {
      if (element.isTypeOnly) continue
      named.push({ exported: (element.propertyName ?? element.name).text, local: element.name.text, node: element })
    }
  }
  const namespace = bindings !== undefined && ts.isNamespaceImport(bindings) ? bindings.name.text : undefined
  const module = moduleName(node.moduleSpecifier, file)
  return { statement: node, module, attributes: attributesOf(node, file), named, namespace, required: undefined }
}

const typeOnlyExport = (statement: ts.Statement): boolean =>
  ts.isInterfaceDeclaration(statement) ||
  ts.isTypeAliasDeclaration(statement) ||
  hasModifier(statement, ts.SyntaxKind.DeclareKeyword)

interface TopLevel {
  readonly imports: ReadonlyArray<Import>
  /** `import A = N.B`, by name. */
  readonly aliases: ReadonlyMap<string, ts.ImportEqualsDeclaration>
  readonly erased: ReadonlyArray<ts.Statement>
}

const topLevel = (file: ts.SourceFile): TopLevel => {
  const imports: Array<Import> = []
  const aliases = new Map<string, ts.ImportEqualsDeclaration>()
  const erased: Array<ts.Statement> = []
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      erased.push(statement)
      const found = importOf(statement, file)
      if (found !== undefined) imports.push(found)
    } else if (ts.isExportDeclaration(statement)) {
      if (!statement.isTypeOnly) throw new Illegal(exportRemedy, statement.getStart(file))
      erased.push(statement)
    } else if (ts.isExportAssignment(statement) || ts.isNamespaceExportDeclaration(statement)) {
      throw new Illegal(exportRemedy, statement.getStart(file))
    } else if (hasModifier(statement, ts.SyntaxKind.ExportKeyword)) {
      if (!typeOnlyExport(statement)) throw new Illegal(exportRemedy, statement.getStart(file))
      erased.push(statement)
    } else if (ts.isImportEqualsDeclaration(statement)) {
      const reference = statement.moduleReference
      if (statement.isTypeOnly) erased.push(statement)
      else if (ts.isExternalModuleReference(reference)) {
        erased.push(statement)
        const module = moduleName(reference.expression, file)
        imports.push({
          statement,
          module,
          attributes: "",
          named: [],
          namespace: undefined,
          required: statement.name.text
        })
      } else aliases.set(statement.name.text, statement)
    }
  }
  return { imports, aliases, erased }
}

const firstName = (name: ts.ModuleReference): string | undefined => {
  let node: ts.Node = name
  while (ts.isQualifiedName(node)) node = node.left
  return textOfName(node)
}

/** Names used as values; an alias that is used uses the name that it begins with. */
const namesUsed = (top: TopLevel, used: ReadonlySet<string>): ReadonlySet<string> => {
  const all = new Set(used)
  // A set that grows while it is walked is walked to its end.
  for (const name of all) {
    const alias = top.aliases.get(name)
    const first = alias === undefined ? undefined : firstName(alias.moduleReference)
    if (first !== undefined) all.add(first)
  }
  return all
}

/** What the imports become before the program. No name of the program can be in the way of it. */
interface Hoisted {
  readonly text: string
  /** From and to in the text, offset of what it stands for in the program. */
  readonly places: ReadonlyArray<readonly [from: number, to: number, offset: number]>
  /** The name by which the text knows SyntaxError, if it needs it. */
  readonly syntaxError: string | undefined
}

const hoist = (file: ts.SourceFile, imports: ReadonlyArray<Import>, used: ReadonlySet<string>): Hoisted => {
  const identifiers: unknown = Reflect.get(file, "identifiers")
  const taken = (name: string): boolean =>
    identifiers instanceof Map ? identifiers.has(name) : file.text.includes(name)
  let count = 0
  const fresh = (): string => {
    do count += 1
    while (taken(`$import${count}`))
    return `$import${count}`
  }
  let text = ""
  const places: Array<readonly [number, number, number]> = []
  let syntaxError: string | undefined
  for (const { attributes, module, named, namespace, required, statement } of imports) {
    const offset = statement.getStart(file)
    const from = text.length
    const load = `await import(${JSON.stringify(module)}${attributes})`
    const bare = ts.isImportDeclaration(statement) && statement.importClause === undefined
    const names = named.filter(({ local }) => used.has(local))
    const whole = namespace !== undefined && used.has(namespace) ? namespace : undefined
    const common = required !== undefined && used.has(required) ? required : undefined
    if (bare) text += `${load};`
    else if (names.length > 0 || whole !== undefined || common !== undefined) {
      const exports = fresh()
      text += `const ${exports}=${load};`
      for (const { exported, node } of names) {
        syntaxError ??= fresh()
        const start = text.length
        const message = `The requested module '${module}' does not provide an export named '${exported}'`
        text += `if(!(${JSON.stringify(exported)} in ${exports}))throw new ${syntaxError}(${JSON.stringify(message)});`
        places.push([start, text.length, node.getStart(file)])
      }
      for (const { exported, local } of names) text += `const ${local}=${exports}[${JSON.stringify(exported)}];`
      if (whole !== undefined) text += `const ${whole}=${exports};`
      if (common !== undefined) text += `const ${common}="default" in ${exports}?${exports}.default:${exports};`
    }
    if (text.length > from) places.push([from, text.length, offset])
  }
  return { text, places, syntaxError }
}

// ---------------------------------------------------------------------------------------------------------------------
// Programs that only make sense when they are called
// ---------------------------------------------------------------------------------------------------------------------

const withoutParentheses = (node: ts.Expression): ts.Expression => {
  let inner = node
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression
  return inner
}

const callable = (node: ts.Expression): node is ts.FunctionExpression | ts.ArrowFunction => {
  const inner = withoutParentheses(node)
  return ts.isArrowFunction(inner) || (ts.isFunctionExpression(inner) && inner.asteriskToken === undefined)
}

/** The end of the function, if the program is one function expression and nothing else; it may lack the name of a declaration. */
const loneFunction = (file: ts.SourceFile): number | undefined => {
  const [first, ...rest] = file.statements
  if (first === undefined || !rest.every(ts.isEmptyStatement)) return undefined
  if (ts.isExpressionStatement(first)) return callable(first.expression) ? first.expression.end : undefined
  const nameless =
    ts.isFunctionDeclaration(first) &&
    first.body !== undefined &&
    first.asteriskToken === undefined &&
    (first.name === undefined || first.name.text === "") &&
    modifiersOf(first).every((modifier) => modifier.kind === ts.SyntaxKind.AsyncKeyword)
  return nameless ? first.end : undefined
}

/** The declaration of `main`, if the program is only declarations. */
const mainOf = (file: ts.SourceFile): ts.Node | undefined => {
  let main: ts.Node | undefined
  let prologue = true
  for (const statement of file.statements) {
    const directive = ts.isExpressionStatement(statement) && ts.isStringLiteral(statement.expression)
    if (directive && prologue) continue
    prologue = false
    if (ts.isVariableStatement(statement)) {
      const kind = statement.declarationList.flags & ts.NodeFlags.BlockScoped
      if (kind === ts.NodeFlags.Using || kind === ts.NodeFlags.AwaitUsing) return undefined
      if (kind !== ts.NodeFlags.Const || hasModifier(statement, ts.SyntaxKind.DeclareKeyword)) continue
      for (const declaration of statement.declarationList.declarations) {
        if (
          textOfName(declaration.name) === "main" &&
          declaration.initializer !== undefined &&
          callable(declaration.initializer)
        ) {
          main = declaration
        }
      }
    } else if (ts.isFunctionDeclaration(statement)) {
      if (statement.name?.text === "main" && statement.body !== undefined && statement.asteriskToken === undefined)
        main = statement
    } else if (
      !ts.isClassDeclaration(statement) &&
      !ts.isInterfaceDeclaration(statement) &&
      !ts.isTypeAliasDeclaration(statement) &&
      !ts.isEnumDeclaration(statement) &&
      !ts.isModuleDeclaration(statement) &&
      !ts.isImportDeclaration(statement) &&
      !ts.isImportEqualsDeclaration(statement) &&
      !ts.isExportDeclaration(statement) &&
      !ts.isEmptyStatement(statement)
    )
      return undefined
  }
  return main
}

// ---------------------------------------------------------------------------------------------------------------------
// Compiling
// ---------------------------------------------------------------------------------------------------------------------

const around = "(function(){"

interface Source {
  /** What stands before the program on its first line, and after it. */
  readonly before: string
  readonly after: string
  readonly edits: ReadonlyArray<Edit>
  readonly hoisted: Hoisted
  readonly inserted: readonly [offset: number, length: number] | undefined
}

/** The opening of the async function, and what comes after its closing brace. */
const opening = (hoisted: Hoisted): readonly [string, string] =>
  hoisted.syntaxError === undefined
    ? ['(async function(){"use strict";', ")"]
    : [`${around}const ${hoisted.syntaxError}=SyntaxError;return async function(){"use strict";`, "})()"]

const extras = (
  hoisted: Hoisted,
  at: number,
  inserted: Source["inserted"]
): Pick<Compiled, "imports" | "inserted"> => ({
  imports: hoisted.places.map(([from, to, offset]) => [from + at, to + at, offset] as const),
  ...(inserted === undefined ? {} : { inserted })
})

const blanked = (body: string, source: Source): Compiled => {
  const [open, close] = opening(source.hoisted)
  const start = open + source.hoisted.text + source.before
  return {
    code: `${start}${applyEdits(body, source.edits)}${source.after}\n}${close}`,
    // V8 gives no column to a call site before the first one, and what the imports throw has its place there.
    columnOffset: source.hoisted.syntaxError === undefined ? -start.length : 0,
    prefix: start.length,
    ...extras(source.hoisted, open.length, source.inserted)
  }
}

/** Looks at what is about to be printed. */
const sized: ts.TransformerFactory<ts.SourceFile> = () => (file) => {
  checkPrintedSize(file)
  return file
}

const printed = (text: string, source: Source): Compiled => {
  const { hoisted } = source
  const open = `${hoisted.syntaxError === undefined ? "" : `const ${hoisted.syntaxError}=SyntaxError;`}return async function(){"use strict";`
  const start = open + hoisted.text + source.before
  const input = `${start}${applyEdits(text, source.edits)}${source.after}\n}`
  const output = ts.transpileModule(input, {
    fileName: "program.ts",
    reportDiagnostics: true,
    compilerOptions: printerOptions,
    transformers: { after: [sized] }
  })
  const diagnostic = output.diagnostics?.[0]
  if (diagnostic !== undefined) {
    const { message, offset } = illegal(diagnostic)
    throw new Illegal(message, Math.max(0, offset - start.length))
  }
  const map: unknown = JSON.parse(output.sourceMapText ?? "{}")
  const mappings =
    typeof map === "object" && map !== null && "mappings" in map && typeof map.mappings === "string" ? map.mappings : ""
  return {
    code: `${around}${output.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/u, "")}\n})()`,
    columnOffset: -around.length,
    prefix: start.length,
    mappings,
    ...extras(hoisted, open.length, source.inserted)
  }
}

const nothing: Hoisted = { text: "", places: [], syntaxError: undefined }

/** The file blanked; undefined where its syntax cannot be blanked. */
const blank = (file: ts.SourceFile, edits: ReadonlyArray<Edit>): string | undefined => {
  let erasable = true
  const edited = new Set(edits.map(({ from }) => from))
  const body = blankSourceFile(file, (node) => {
    if (!edited.has(node.getStart(file))) erasable = false
  })
  return erasable ? body : undefined
}

/** An early error of JavaScript that the parser of TypeScript leaves to others: `const a = 1; const a = 2`. */
const earlyError = (
  compiled: Compiled
): { readonly message: string; readonly line?: number; readonly column?: number } | undefined => {
  try {
    return void new vm.Script(harmless(compiled.code), { filename: "program.ts" })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // The only place where V8 says where: "program.ts:3", the line itself, and carets under the place.
    const [head = "", , carets = ""] = error.stack?.split("\n") ?? []
    const line = Number(/^program\.ts:(\d+)$/u.exec(head)?.[1])
    if (!(line > 0)) return { message: error.message }
    return /^\s*\^+$/u.test(carets)
      ? { message: error.message, line, column: carets.indexOf("^") + 1 }
      : { message: error.message, line }
  }
}

/** Of the ways to compile a text, the first whose code is legal; else the complaint about the first. */
const legal = (program: string, ways: ReadonlyArray<() => Compiled | undefined>): Compiled | Rejected => {
  let rejected: Rejected | undefined
  for (const way of ways) {
    const compiled = way()
    if (compiled === undefined) continue
    const error = earlyError(compiled)
    if (error === undefined) return compiled
    const { column, line, message } = error
    const shift = line === 1 ? compiled.columnOffset : 0
    const place = line === undefined ? undefined : makeLocate(program, compiled)(line, (column ?? 1 - shift) + shift)
    rejected ??= {
      rejected: `SyntaxError: ${message}`,
      ...(place === undefined ? {} : column === undefined ? { line: place.line } : place)
    }
  }
  return rejected ?? { rejected: "SyntaxError: the program cannot be compiled" }
}

/** The program is one function: it is called, and its result returned. */
const compileFunction = (text: string, end: number): Compiled | Rejected => {
  const before = "return ("
  const inserted = ")()"
  const called = `${text.slice(0, end)}${inserted}${text.slice(end)}`
  const file = parse(before + called)
  const inProgram = (offset: number): number => {
    const at = Math.max(0, offset - before.length)
    return at <= end ? at : Math.max(end, at - inserted.length)
  }
  try {
    const error = complaint(file)
    if (error !== undefined) throw error
    const { print } = examine(file, new Set(), undefined)
    const source = { before, after: "", edits: [], hoisted: nothing, inserted: [end, inserted.length] } as const
    return legal(text, [
      () => {
        const body = print ? undefined : blank(file, [])
        return body === undefined ? undefined : blanked(body.slice(before.length), source)
      },
      () => printed(called, source)
    ])
  } catch (error) {
    throw error instanceof Illegal ? new Illegal(error.message, inProgram(error.offset)) : error
  }
}

const compileText = (text: string): Compiled | Rejected => {
  const file = parse(text)
  const end = loneFunction(file)
  if (end !== undefined) return compileFunction(text, end)
  const error = complaint(file)
  if (error !== undefined) throw error

  const top = topLevel(file)
  const main = mainOf(file)
  const wanted = new Set(top.aliases.keys())
  for (const alias of top.aliases.values()) {
    const first = firstName(alias.moduleReference)
    if (first !== undefined) wanted.add(first)
  }
  for (const { named, namespace, required } of top.imports) {
    for (const { local } of named) wanted.add(local)
    if (namespace !== undefined) wanted.add(namespace)
    if (required !== undefined) wanted.add(required)
  }
  if (main !== undefined) wanted.add("main")
  const found = examine(file, wanted, main)
  const used = namesUsed(top, found.used)
  const edits: Array<Edit> = top.erased.map((node) => ({ from: node.getStart(file), to: node.end, by: ";" }))
  for (const [name, alias] of top.aliases) {
    const from = alias.getStart(file)
    edits.push(used.has(name) ? { from, to: from + "import".length, by: "var" } : { from, to: alias.end, by: ";" })
  }
  edits.sort((left, right) => left.from - right.from)
  const calls = main !== undefined && !found.awaits && !used.has("main")
  const hoisted = hoist(file, top.imports, used)
  const after = calls ? "\nreturn await main()" : ""
  const source = { before: "", after, edits, hoisted, inserted: undefined }
  return legal(text, [
    () => {
      const body = found.print ? undefined : blank(file, edits)
      return body === undefined ? undefined : blanked(body, source)
    },
    () => printed(text, source)
  ])
}

/** What a text can take besides its nodes: at worst each character is a complaint of its own, of some 200 bytes. */
const bytesACharacter = 256

/** Compiles a program; the heap may grow by so many bytes meanwhile, and the text must be short enough for it. Never throws. */
export const compile = (program: string, maxHeapBytes = Infinity): Compiled | Rejected => {
  if (program.length * bytesACharacter > maxHeapBytes) {
    const most = Math.floor(maxHeapBytes / bytesACharacter)
    return { rejected: `SyntaxError: the program is too long to compile (more than ${most} characters)` }
  }
  try {
    HeapBudget.grant(maxHeapBytes)
    return compileText(unwrap(program))
  } catch (error) {
    if (error instanceof Illegal) {
      return {
        rejected: `SyntaxError: ${error.message}`,
        ...placeAt(lineStarts(program), Math.min(error.offset, program.length))
      }
    }
    if (error instanceof HeapBudget.OutOfHeap) {
      const most = Math.floor(maxHeapBytes / 1_048_576)
      return {
        rejected: `SyntaxError: the program takes too much memory to compile (more than ${most} MB)`,
        retire: true
      }
    }
    if (error instanceof TooLong) {
      return {
        rejected: `SyntaxError: the program is too long once it is compiled (more than ${longestCode} characters)`
      }
    }
    // An exhausted stack leaves memos of this program in the parser, which would misread the next one.
    if (error instanceof RangeError)
      return { rejected: "SyntaxError: the program is nested too deeply to compile", retire: true }
    return { rejected: "SyntaxError: the compiler failed on the program", retire: true }
  }
}
