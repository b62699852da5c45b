/**
 * The JavaScript guest: runs one program inside a fresh world and speaks the protocol over whatever channel it is given.
 *
 * Everything that it needs is captured before the program runs. A program that replaces intrinsics harms itself: no
 * method, iterator or getter that it can reach takes part in a frame.
 */
import { Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { inspect, type Inspection, type Json, parse, stringify, utf8Bytes } from "../../domain/LosslessJson.ts"
import { isDense } from "../../layers/DenseArrays.ts"

/** How a guest reaches its host. */
export interface GuestChannel {
  /** Hands over whole lines at once; they must survive whatever happens next in the guest. */
  readonly send: (lines: string) => void
  /** Keeps the guest's event loop alive while calls are open, and lets it end while none is. */
  readonly hold: (alive: boolean) => void
  /** The folder from which the program finds modules; otherwise the working directory. */
  readonly folder?: string
  /** Tells that the program has ended: what it does from now on belongs to no run. */
  readonly onSettled?: () => void
  /** Ends the guest for want of memory, where its host can tell that from other ends. */
  readonly outOfMemory?: () => never
}

interface ErrorClass {
  readonly name: string
  readonly memberNameProperty: string
}

interface Namespace {
  readonly global: string
  readonly names: ReadonlyArray<string>
  readonly errorClass?: ErrorClass
}

/** The host's first frame. The guest trusts its host, so it is not checked again. */
interface StartFrame {
  readonly type: "start"
  readonly program: string
  readonly columnOffset: number
  readonly namespaces: ReadonlyArray<Namespace>
  readonly maxOutputBytes: number
  readonly maxBindingBytes: number
  readonly maxConcurrentCalls: number
}

interface Answer {
  readonly type: "result" | "error"
  readonly id: number
  readonly value: Json
  readonly message: string
}

/** A place of the program on the stack, and those that called it. */
interface Site {
  readonly line: number
  readonly column: number
  readonly name: string
  readonly next: Site | undefined
}

interface Call {
  readonly name: string
  /** Its global and name as JSON. */
  readonly target: string
  readonly errorClass: (new (message: string) => Error) | undefined
  readonly memberNameProperty: string | undefined
  readonly site: Site | undefined
  readonly args: string
  readonly resolve: (value: Json) => void
  readonly reject: (error: unknown) => void
}

const fileName = "program.ts"
const mostFrames = 32
const mostUnsent = 1000
/** Calls of one turn of the program's event loop that leave one by one; later ones travel together. */
const callsAtOnce = 8
/** Characters of calls that travel together at most. */
const longestOutbox = 4096
/** Stack frames looked at for the line of a call. */
const sitesOfCall = 4

const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, deleteProperty, set } = Reflect
const { setPrototypeOf, create, is } = Object
const { format: formatWords, inspect: show } = process.getBuiltinModule("node:util")
const vm = process.getBuiltinModule("node:vm")
const showDefaults = show.defaultOptions
const { isArray } = Array
const ErrorConstructor = Error
const TypeErrorConstructor = TypeError
const RangeErrorConstructor = RangeError
const PromiseConstructor = Promise
const StringConstructor = String
const captureStackTrace = Error.captureStackTrace
/**
 * Calls the program, an async function, which never throws itself. From a text without a path and from a turn of its own,
 * so that the stacks that the program sees tell nothing of the host.
 */
const launch: (
  call: typeof Reflect.apply,
  then: typeof Promise.prototype.then,
  program: Function,
  complete: (value: unknown) => void,
  fail: (thrown: unknown) => void
) => () => void = new vm.Script(
  "(call, then, program, complete, fail) => () => { call(then, call(program, undefined, []), [complete, fail]) }",
  { filename: "code-runtime" }
).runInThisContext()
const promiseThen = Promise.prototype.then
const indexOf = String.prototype.indexOf
const slice = String.prototype.slice
const endsWith = String.prototype.endsWith
const exec = RegExp.prototype.exec
const replace = String.prototype.replace
const mapGet = Map.prototype.get
const mapSet = Map.prototype.set
const mapDelete = Map.prototype.delete
const toText = Function.prototype.call.bind(Object.prototype.toString)
const Script = vm.Script
const runInThisContext = vm.Script.prototype.runInThisContext
const mainContextLoader = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
const global = globalThis
const guestProcess = process
const getBuiltinModule = process.getBuiltinModule
const afterTurn = setImmediate
const later = setTimeout
/** How long a loop that has run dry is looked at once more, in milliseconds. */
const graceMs = 10
const listenerCount = process.listenerCount
const emit = process.emit

const bareList = <A>(): Array<A> => setPrototypeOf([], null)

const cause = (error: unknown): error is { readonly code?: unknown; readonly stack?: unknown } =>
  typeof error === "object" && error !== null

/** Calls a function with V8's own stack formatting and a depth of its choice, and puts back what the program had set. */
const withStacks = <A, B>(
  limit: number,
  format: ((error: Error, sites: Array<NodeJS.CallSite>) => unknown) | undefined,
  body: (subject: B) => A,
  subject: B
): A => {
  const formatBefore = ErrorConstructor.prepareStackTrace
  const limitBefore = ErrorConstructor.stackTraceLimit
  try {
    set(ErrorConstructor, "prepareStackTrace", format)
    set(ErrorConstructor, "stackTraceLimit", limit)
    return body(subject)
  } finally {
    set(ErrorConstructor, "prepareStackTrace", formatBefore)
    set(ErrorConstructor, "stackTraceLimit", limitBefore)
  }
}

/** Where the frames of the last call stood in the program, as offsets, and its places: many calls are made by one loop. */
const lastOffsets = new Int32Array(sitesOfCall)
let lastCount = -1
let lastSite: Site | undefined

/** The program's own places of a stack, innermost first. */
const programSites = (_error: unknown, sites: ReadonlyArray<NodeJS.CallSite>): Site | undefined => {
  let same = sites.length === lastCount
  for (let i = 0; i < sites.length; i++) {
    const site = sites[i]
    const offset = site === undefined || site.getFileName() !== fileName ? -1 : site.getPosition()
    if (lastOffsets[i] === offset) continue
    same = false
    lastOffsets[i] = offset
  }
  if (same) return lastSite
  lastCount = sites.length
  lastSite = readSites(sites)
  return lastSite
}

const readSites = (sites: ReadonlyArray<NodeJS.CallSite>): Site | undefined => {
  let first: Site | undefined
  for (let i = sites.length - 1; i >= 0; i--) {
    const site = sites[i]
    if (site === undefined || site.getFileName() !== fileName) continue
    first = {
      line: site.getLineNumber() ?? 1,
      column: site.getColumnNumber() ?? 1,
      name: site.getFunctionName() ?? "",
      next: first
    }
  }
  return first
}

const isSite = (value: unknown): value is Site => typeof value === "object" && value !== null

const captureSites = (below: (...args: Array<never>) => unknown): Site | undefined => {
  const holder: { stack?: unknown } = {}
  captureStackTrace(holder, below)
  const { stack } = holder
  return isSite(stack) ? stack : undefined
}

const sitesHere = (below: (...args: Array<never>) => unknown): Site | undefined =>
  withStacks(sitesOfCall, programSites, captureSites, below)

const siteText = (site: Site): string =>
  site.name === ""
    ? `    at ${fileName}:${site.line}:${site.column}`
    : `    at ${site.name} (${fileName}:${site.line}:${site.column})`

// A program may write any stack: a place that there cannot be would make the whole frame junk.
const frameOfStack = /^\s+at (?:async )?(?:(.*?) )?\(?program\.ts:([1-9]\d{0,8}):([1-9]\d{0,8})\)?$/u
const headOfSyntaxError = /^program\.ts:([1-9]\d{0,8})$/u

const frameText = (line: string, column: string, name: string): string =>
  `{"line":${line},"column":${column}${name === "" ? "" : `,"name":${stringify(name)}`}}`

/** The text of the line that begins at an index. */
const lineAt = (text: string, from: number): string => {
  const end: number = apply(indexOf, text, ["\n", from])
  return apply(slice, text, [from, end < 0 ? text.length : end])
}

const stackOf = (error: unknown): unknown => (cause(error) ? error.stack : undefined)

/** The frames of an error's stack, as JSON. Only the program's lines of V8's own text are read. */
const framesOf = (error: unknown): string => {
  let stack: unknown
  try {
    stack = withStacks(mostFrames, undefined, stackOf, error)
  } catch {
    return "[]"
  }
  if (typeof stack !== "string") return "[]"
  let text = ""
  let count = 0
  for (let at = 0; at < stack.length && count < mostFrames;) {
    const line = lineAt(stack, at)
    at += line.length + 1
    const frame: ReadonlyArray<string | undefined> | null = apply(exec, frameOfStack, [line])
    const head: ReadonlyArray<string | undefined> | null = count > 0 ? null : apply(exec, headOfSyntaxError, [line])
    if (frame !== null) {
      text += (count++ === 0 ? "" : ",") + frameText(frame[2] ?? "1", frame[3] ?? "1", frame[1] ?? "")
    } else if (head !== null) {
      // V8 shows a syntax error by its line, with carets below.
      const carets = lineAt(stack, at + lineAt(stack, at).length + 1)
      const column: number = apply(indexOf, carets, ["^"]) + 1
      if (column > 0) {
        text = frameText(head[1] ?? "1", StringConstructor(column), "")
        count++
      }
    }
  }
  return `[${text}]`
}

/** Where Node says from which file of the host it looked for a module. */
const importedFrom = / imported from [^\n]*$|\nRequire stack:[^]*$/u
const pathOfHost = /'(?:file:\/\/)?\/[^'\n]*\//u

/** `Name: message` of an error as it is now, a thrown string itself, anything else as Node shows it. */
const messageOf = (thrown: unknown): string => {
  try {
    if (typeof thrown === "string") return thrown
    if (!isError(thrown)) return show(thrown)
    const { code, message, name } = thrown
    const title = typeof name === "string" && name !== "" ? name : "Error"
    let said = typeof message === "string" ? message : show(message)
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
      said = apply(replace, apply(replace, said, [importedFrom, ""]), [pathOfHost, "'"])
    }
    return said === "" ? title : `${title}: ${said}`
  } catch {
    return "Error: the program threw a value that cannot be shown"
  }
}

const isError = (value: unknown): value is Error & { readonly code?: unknown } => {
  if (typeof value !== "object" || value === null) return false
  if (toText(value) === "[object Error]") return true
  for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
    if (prototype === ErrorConstructor.prototype) return true
  }
  return false
}

const refusedMemory = /allocation failed|could not allocate memory|out of memory|unable to grow instance memory/iu

/** Whether it is an error by which V8 or Node refuse memory that the system did not give. */
const tellsOfMemory = (thrown: unknown): boolean => {
  try {
    if (!isError(thrown)) return false
    const { code, message } = thrown
    if (code === "ERR_MEMORY_ALLOCATION_FAILED" || code === "ENOMEM") return true
    if (!(thrown instanceof RangeErrorConstructor) || typeof message !== "string") return false
    return apply(exec, refusedMemory, [message]) !== null
  } catch {
    return false
  }
}

/** A text cut at a length, so that many of them together are never longer than an engine can hold. */
const cutAt = (text: string, most: number): string => (text.length > most ? apply(slice, text, [0, most]) : text)

/** Texts of what stands behind an error: its causes and the errors it gathers; not much longer than `most`. */
const detailsOf = (thrown: unknown, most: number): string => {
  let text = ""
  try {
    let current = thrown
    for (let i = 0; i < 5 && isError(current) && text.length <= most; i++) {
      // A SuppressedError says nothing itself: it holds the error, and the one that it hid.
      if ("suppressed" in current && "error" in current) {
        text += `${text === "" ? "" : "\n"}- ${cutAt(messageOf(current.error), most)}\n- ${cutAt(messageOf(current.suppressed), most)}`
      }
      const errors = "errors" in current ? current.errors : undefined
      if (isArray(errors)) {
        for (let k = 0; k < errors.length && k < 10 && text.length <= most; k++) {
          text += `${text === "" ? "" : "\n"}- ${cutAt(messageOf(errors[k]), most)}`
        }
      }
      current = current.cause
      if (current !== undefined && text.length <= most) {
        text += `${text === "" ? "" : "\n"}Caused by: ${cutAt(messageOf(current), most)}`
      }
    }
  } catch {
    // A cause that cannot be read is not told.
  }
  return text
}

const makeErrorClass = ({ name }: ErrorClass): new (message: string) => Error => {
  const made = class extends ErrorConstructor {}
  defineProperty(made, "name", { configurable: true, value: name })
  defineProperty(made.prototype, "name", { configurable: true, writable: true, value: name })
  return made
}

const define = (name: string, value: unknown): void => {
  deleteProperty(global, name)
  defineProperty(global, name, { configurable: true, enumerable: true, writable: true, value })
}

/** Methods of the console that print their words, and where. */
const shortcuts = [
  ["log", "stdout"],
  ["info", "stdout"],
  ["debug", "stdout"],
  ["warn", "stderr"],
  ["error", "stderr"]
] as const

const replaceMethod = (name: keyof Console, method: (...words: ReadonlyArray<unknown>) => void): void => {
  defineProperty(method, "name", { configurable: true, value: name })
  defineProperty(console, name, { configurable: true, enumerable: true, writable: true, value: method })
}

/** What Node's console prints of words that are strings and the like; undefined where it does more than join them. */
const plainText = (words: ReadonlyArray<unknown>): string | undefined => {
  let text = ""
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (typeof word === "string") {
      // Words that follow a format are put into it.
      if (i === 0 && words.length > 1 && apply(indexOf, word, ["%"]) >= 0) return undefined
    } else if (showDefaults.colors || showDefaults.numericSeparator) return undefined
    else if (typeof word === "number") {
      if (is(word, -0)) return undefined
    } else if (typeof word !== "boolean" && word !== undefined && word !== null) return undefined
    text += i === 0 ? word : ` ${word}`
  }
  return text
}

/**
 * Gives the program a `require` that finds modules from a folder. Node's loader of modules is made for the first who asks:
 * most programs never do, and it is a good part of a guest's start.
 */
const defineRequire = (folder: string): void => {
  deleteProperty(global, "require")
  defineProperty(global, "require", {
    configurable: true,
    enumerable: true,
    get: () => setRequire(global, getBuiltinModule("node:module").createRequire(`${folder}/`)),
    set(this: unknown, value: unknown) {
      // An object that inherits from the global one gets a property of its own, as if there were no accessor.
      setRequire(typeof this === "object" && this !== null ? this : global, value)
    }
  })
}

/** Replaces the accessor by the value; the program may have changed what objects inherit, and closed the global one. */
const setRequire = (target: object, value: unknown): unknown => {
  const descriptor = { __proto__: null, configurable: true, enumerable: true, writable: true, value }
  defineProperty(target, "require", descriptor)
  return value
}

const nothing = (): void => {}

/** UTF-8 bytes of a character of a string at most, so that a short text needs no count. */
const mostBytes = 3

const isLonger = (text: string, cap: number): boolean => text.length * mostBytes > cap && utf8Bytes(text) > cap

/** Rejects a call with an error whose stack begins where the program called. */
const reject = (error: Error, call: (...args: Array<never>) => unknown): Promise<never> => {
  captureStackTrace(error, call)
  return PromiseConstructor.reject(error)
}

/**
 * A timer that a program lets go of is still something that could resume it: `AbortSignal.timeout`, a timer that was
 * unreferenced, a wait for a shared cell. The guest ends with its run anyhow.
 */
const keepTimers = (): void => {
  const timer = later(() => {}, 0)
  defineProperty(getPrototypeOf(timer) ?? {}, "unref", {
    configurable: true,
    writable: true,
    value: function <T>(this: T): T {
      return this
    }
  })
  clearTimeout(timer)
  const waitAsync = Atomics.waitAsync
  defineProperty(Atomics, "waitAsync", {
    configurable: true,
    writable: true,
    value: (...args: Parameters<typeof waitAsync>) => {
      const waiting: ReturnType<typeof waitAsync> = apply(waitAsync, Atomics, args)
      const timeout = args[3]
      if (waiting.async && typeof timeout === "number" && timeout < longestTimer) later(() => {}, timeout + graceMs)
      return waiting
    }
  })
}

/** The longest wait that a timer takes, in milliseconds. */
const longestTimer = 2_147_483_647

/** Starts the guest; the returned function takes the host's lines. */
export const startGuest = (channel: GuestChannel): ((text: string) => void) => {
  const { hold, send } = channel
  let settled = false
  // Before the host says how much, enough for what is wrong with the guest itself.
  let maxOutputBytes = 10_000
  let maxBindingBytes = 0
  let maxConcurrentCalls = 1
  let lastId = 0
  let open = 0
  let outbox = ""
  let burst = 0
  /** Whether the host's lines are being read: the program waits meanwhile, so that what they set off leaves together. */
  let receiving = false
  const calls = new Map<number, Call>()
  /** Calls that wait for room, in order: a list read from `firstWaiting` on. */
  let waiting = bareList<Call>()
  let firstWaiting = 0
  let waitingEnd = 0

  const log = (stream: "stdout" | "stderr", text: string): void => {
    if (settled) return
    flush()
    send(`{"type":"log","channel":"${stream}","text":${stringify(cut(text))}}\n`)
  }

  /** A text that is longer than the host takes is told just so far that the host sees it. */
  const cut = (text: string): string =>
    text.length > maxOutputBytes ? apply(slice, text, [0, maxOutputBytes + 1]) : text

  /** Tells the beginning of a character that a stream still held. */
  let endStreams = nothing

  const flush = (): void => {
    if (outbox === "") return
    const lines = outbox
    outbox = ""
    send(lines)
  }

  // ---- output

  /** A stream of the program: every write is an entry. */
  const capture = (stream: "stdout" | "stderr"): Writable => {
    const decoder = new StringDecoder("utf8")
    const decode = decoder.write
    const endDecoder = decoder.end
    const endBefore = endStreams
    endStreams = () => {
      endBefore()
      const rest: string = apply(endDecoder, decoder, [])
      if (rest !== "") log(stream, rest)
    }
    const writable = new Writable({
      decodeStrings: false,
      write(chunk: unknown, encoding, done) {
        const text =
          typeof chunk === "string" && (encoding === "utf8" || StringConstructor(encoding) === "utf-8")
            ? chunk
            : apply(decode, decoder, [typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk])
        if (text !== "") log(stream, text)
        done()
      }
    })
    return writable
  }

  /** What the console writes to: one entry a call, without the newline that the console adds. */
  const lineSink = (stream: "stdout" | "stderr"): Writable => {
    const sink = new Writable({ decodeStrings: false })
    sink.write = (chunk: unknown): boolean => {
      const text = StringConstructor(chunk)
      log(stream, apply(endsWith, text, ["\n"]) ? apply(slice, text, [0, -1]) : text)
      return true
    }
    return sink
  }

  const installOutput = (): void => {
    const streams = { stdout: capture("stdout"), stderr: capture("stderr") }
    for (const name of ["stdout", "stderr"] as const) {
      const stream = streams[name]
      defineProperty(guestProcess, name, { configurable: true, enumerable: true, get: () => stream })
    }
    // Node writes warnings below every stream, into the host's own standard error.
    guestProcess.removeAllListeners("warning")
    defineProperty(guestProcess, "_rawDebug", {
      configurable: true,
      value: (...words: ReadonlyArray<unknown>) => log("stderr", apply(formatWords, undefined, words))
    })
    const own = new console.Console({
      stdout: lineSink("stdout"),
      stderr: lineSink("stderr"),
      colorMode: false,
      groupIndentation: 2,
      // The sinks fail of nothing; to listen for errors around each write costs as much as the rest of it.
      ignoreErrors: false
    })
    // The object that the program, `node:console` and every module share keeps its identity. Nothing has imported it by
    // name yet, so what a program imports by name is the console's own.
    for (const key of ownKeys(own)) {
      const descriptor = getOwnPropertyDescriptor(own, key)
      if (typeof key === "string" && typeof descriptor?.value === "function") {
        defineProperty(console, key, { ...descriptor, configurable: true, writable: true })
      }
    }
    installShortcuts()
  }

  /**
   * Most of what programs print is plain words, for which Node's console does far more than it takes. Within a group, whose
   * lines are indented, it goes on as before.
   */
  const installShortcuts = (): void => {
    let grouped = false
    for (const name of ["group", "groupCollapsed"] as const) {
      const { [name]: original } = console
      replaceMethod(name, (...words) => {
        grouped = true
        apply(original, console, words)
      })
    }
    for (const [name, stream] of shortcuts) {
      const { [name]: original } = console
      replaceMethod(name, (...words) => {
        const text = grouped ? undefined : plainText(words)
        if (text === undefined) apply(original, console, words)
        else log(stream, text)
      })
    }
  }

  /** Warnings are the program's from its start: those before are of the flags that the guest was started with. */
  const installWarnings = (): void => {
    guestProcess.on("warning", (warning) => {
      // The one that Node gives for our own way of compiling.
      if (apply(indexOf, warning.message, ["USE_MAIN_CONTEXT_DEFAULT_LOADER"]) < 0) log("stderr", messageOf(warning))
    })
  }

  // ---- ends

  const unsentText = (): string => {
    let text = ""
    for (let i = firstWaiting; i < waitingEnd && i < firstWaiting + mostUnsent; i++) {
      const call = waiting[i]
      if (call === undefined) continue
      text += `${text === "" ? "" : ","}{${call.target}${placeText(call)}}`
    }
    return `"unsent":[${text}]`
  }

  const settle = (line: string): void => {
    if (settled) return
    endStreams()
    flush()
    settled = true
    channel.onSettled?.()
    send(line)
    // The host ends the guest; one that ended by itself could not be asked what it used.
    hold(true)
  }

  /** Node tells of a rejection when the turn that left it behind is over: one that stood at the return still counts. */
  const settleForNow = (line: string): void => {
    settle(line)
    mayFollow = true
    afterTurn(endTurn)
  }
  let mayFollow = false

  const endTurn = (): void => {
    if (mayFollow) send('{"type":"quiet"}\n')
    mayFollow = false
  }

  const complete = (value: unknown): void => {
    if (settled) return
    try {
      if (value === undefined) return settleForNow(`{"type":"done","tentative":true,${unsentText()}}\n`)
      const found = inspect(value, "value", maxOutputBytes, isDense)
      if (found === "oversize") return settle(`{"type":"overflow",${unsentText()}}\n`)
      if (found !== "lossless") {
        return settle(`{"type":"invalid","message":${stringify(found.message)},${unsentText()}}\n`)
      }
      const text = textOf(value)
      if (isLonger(text, maxOutputBytes)) return settle(`{"type":"overflow",${unsentText()}}\n`)
      settleForNow(`{"type":"done","value":${text},"tentative":true,${unsentText()}}\n`)
    } catch (error) {
      // A proxy's trap threw, or the text is longer than any string may be.
      fail(error)
    }
  }

  const fail = (thrown: unknown): void => {
    if (settled) return
    if (channel.outOfMemory !== undefined && tellsOfMemory(thrown)) {
      flush()
      channel.outOfMemory()
    }
    settle(threwLine(thrown))
  }

  const threwLine = (thrown: unknown): string => {
    const details = detailsOf(thrown, maxOutputBytes)
    return `{"type":"threw","message":${stringify(cut(messageOf(thrown)))},"frames":${framesOf(thrown)}${
      details === "" ? "" : `,"details":${stringify(cut(details))}`
    },${unsentText()}}\n`
  }

  /** Whether the loop has run dry before. */
  let lookedTwice = false

  const installEnds = (): void => {
    guestProcess.on("unhandledRejection", (reason) => {
      // A program with a listener of its own has handled it.
      if (apply(listenerCount, guestProcess, ["unhandledRejection"]) > 1) return
      if (mayFollow) {
        mayFollow = false
        send(threwLine(reason))
      } else {
        fail(reason)
      }
    })
    guestProcess.setUncaughtExceptionCaptureCallback((error) => {
      if (settled) return
      if (apply(listenerCount, guestProcess, ["uncaughtException"]) > 0) {
        apply(emit, guestProcess, ["uncaughtException", error, "uncaughtException"])
      } else {
        fail(error)
      }
    })
    guestProcess.on("beforeExit", () => {
      if (settled) return
      // With a call open or kept back the channel holds the loop; so nothing is left, unless a signal is on its way.
      if (!lookedTwice) {
        lookedTwice = true
        later(nothing, graceMs)
        return
      }
      fail(
        new ErrorConstructor(
          "nothing left that could resume the program: it awaits something that no timer, call or event will ever settle"
        )
      )
    })
    guestProcess.on("exit", () => {
      endStreams()
      flush()
    })
  }

  // ---- calls

  const placeText = (call: Call): string => {
    const { site } = call
    return site === undefined || site.column < 1 ? "" : `,"line":${site.line},"column":${site.column}`
  }

  const sendCall = (call: Call): void => {
    const id = ++lastId
    apply(mapSet, calls, [id, call])
    if (open++ === 0) hold(true)
    const line = `{"type":"call","id":${id},${call.target}${placeText(call)},"args":${call.args}}\n`
    if (receiving) {
      outbox += line
      if (outbox.length > longestOutbox) flush()
      return
    }
    if (burst === 0) apply(promiseThen, settledPromise, [endBurst])
    // The program may never come back from this turn of its loop, so the first calls of a turn leave at once.
    if (burst++ < callsAtOnce) return send(line)
    outbox += line
    if (outbox.length > longestOutbox) flush()
  }
  const endBurst = (): void => {
    burst = 0
    flush()
  }
  const settledPromise = PromiseConstructor.resolve()

  const rejection = (call: Call, message: string): unknown => {
    const { errorClass, memberNameProperty, name } = call
    const error = errorClass === undefined ? new ErrorConstructor(message) : new errorClass(message)
    // The program may have changed what objects inherit, descriptors among them.
    if (memberNameProperty !== undefined) {
      const member = { __proto__: null, configurable: true, enumerable: true, writable: true, value: name }
      defineProperty(error, memberNameProperty, member)
    }
    // The stack of the call itself: the answer came from outside of the program.
    let stack = message === "" ? error.name : `${error.name}: ${message}`
    for (let site = call.site; site !== undefined; site = site.next) stack += `\n${siteText(site)}`
    const own = { __proto__: null, configurable: true, writable: true, value: stack }
    defineProperty(error, "stack", own)
    return error
  }

  const makeBinding = (
    namespace: Namespace,
    name: string,
    errorClass: (new (message: string) => Error) | undefined
  ): ((...args: ReadonlyArray<unknown>) => Promise<Json>) => {
    const path = `${namespace.global}.${name}`
    const target = `"global":${stringify(namespace.global)},"name":${stringify(name)}`
    const call = function (...args: ReadonlyArray<unknown>): Promise<Json> {
      if (args.length > 1) {
        return reject(
          new TypeErrorConstructor(
            `${path} takes one argument, an object of parameters, but was called with ${args.length} arguments`
          ),
          call
        )
      }
      if (args.length === 1 && args[0] === undefined) {
        return reject(
          new TypeErrorConstructor(
            `${path} was called with undefined as its argument; pass a JSON value, or nothing for {}`
          ),
          call
        )
      }
      let text = "{}"
      if (args.length === 1) {
        const value = args[0]
        let found: Inspection
        try {
          found = inspect(value, "argument", maxBindingBytes, isDense)
          if (found === "lossless") text = textOf(value)
        } catch (error) {
          // A proxy's trap threw, or the text is longer than any string may be.
          return PromiseConstructor.reject(error)
        }
        if (found !== "lossless" && found !== "oversize") {
          return reject(
            new TypeErrorConstructor(`the argument of ${path} is not lossless JSON: ${found.message}`),
            call
          )
        }
        if (found === "oversize" || isLonger(text, maxBindingBytes)) {
          return reject(
            new ErrorConstructor(`the argument of ${path} exceeds maxBindingBytes (${maxBindingBytes} bytes)`),
            call
          )
        }
      }
      const site = sitesHere(call)
      return new PromiseConstructor<Json>((resolve, rejectCall) => {
        const made: Call = {
          name,
          target,
          errorClass,
          memberNameProperty: namespace.errorClass?.memberNameProperty,
          site,
          args: text,
          resolve,
          reject: rejectCall
        }
        if (open < maxConcurrentCalls) sendCall(made)
        else waiting[waitingEnd++] = made
      })
    }
    defineProperty(call, "name", { configurable: true, value: name })
    return call
  }

  const installNamespaces = (namespaces: ReadonlyArray<Namespace>): void => {
    for (const namespace of namespaces) {
      const errorClass = namespace.errorClass === undefined ? undefined : makeErrorClass(namespace.errorClass)
      if (namespace.errorClass !== undefined) define(namespace.errorClass.name, errorClass)
      const members = create(null)
      for (const name of namespace.names) {
        defineProperty(members, name, {
          configurable: true,
          enumerable: true,
          writable: true,
          value: makeBinding(namespace, name, errorClass)
        })
      }
      define(namespace.global, members)
    }
  }

  const answer = (frame: Answer): void => {
    const call: Call | undefined = apply(mapGet, calls, [frame.id])
    if (call === undefined) return
    apply(mapDelete, calls, [frame.id])
    if (frame.type === "result") call.resolve(frame.value)
    else call.reject(rejection(call, frame.message))
    if (firstWaiting < waitingEnd) {
      const next = waiting[firstWaiting]
      firstWaiting++
      if (firstWaiting === waitingEnd) {
        waiting = bareList()
        firstWaiting = waitingEnd = 0
      }
      open--
      if (next !== undefined) sendCall(next)
    } else if (--open === 0) {
      hold(false)
    }
  }

  // ---- the program

  const begin = (frame: StartFrame): void => {
    maxOutputBytes = frame.maxOutputBytes
    maxBindingBytes = frame.maxBindingBytes
    maxConcurrentCalls = frame.maxConcurrentCalls
    installWarnings()
    let program: unknown
    try {
      const script = new Script(frame.program, {
        filename: fileName,
        columnOffset: frame.columnOffset,
        importModuleDynamically: mainContextLoader
      })
      installNamespaces(frame.namespaces)
      program = apply(runInThisContext, script, [])
    } catch (error) {
      return fail(error)
    }
    if (typeof program !== "function") return fail(new ErrorConstructor("the compiled program is no function"))
    send('{"type":"started"}\n')
    hold(false)
    apply(promiseThen, settledPromise, [launch(apply, promiseThen, program, complete, fail)])
  }

  installOutput()
  installEnds()
  keepTimers()
  defineRequire(channel.folder ?? guestProcess.cwd())

  return (text) => {
    // An answer that comes now begins another turn, and concerns nobody.
    if (settled) return endTurn()
    receiving = true
    try {
      let at = 0
      for (;;) {
        const end = apply(indexOf, text, ["\n", at])
        if (end < 0) return
        const frame: StartFrame | Answer = readFrame(apply(slice, text, [at, end]))
        if (frame.type === "start") begin(frame)
        else answer(frame)
        at = end + 1
      }
    } finally {
      receiving = false
      flush()
    }
  }
}

/** The guest trusts its host: frames are taken as they are. */
const readFrame = (line: string): StartFrame | Answer => {
  const frame: unknown = parse(line)
  if (isHostFrame(frame)) return frame
  throw new ErrorConstructor("the host sent something that is no frame")
}

const isHostFrame = (frame: unknown): frame is StartFrame | Answer => typeof frame === "object" && frame !== null

/** The text of a value that `inspect` has found lossless. */
const textOf = (value: unknown): string => {
  if (isLossless(value)) return stringify(value)
  throw new ErrorConstructor("not JSON")
}

const isLossless = (value: unknown): value is Json => value !== undefined
