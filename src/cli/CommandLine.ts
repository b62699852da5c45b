/**
 * The commands, their flags and their help.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Schema from "effect/Schema"
import * as Limits from "../domain/Limits.ts"
import * as Backends from "./Backends.ts"
import * as Bindings from "./Bindings.ts"
import { check } from "./CheckCommand.ts"
import * as ExitCode from "./ExitCode.ts"
import { writeLine } from "./Output.ts"
import { run } from "./RunCommand.ts"

/** Sections of the help that explain rather than list, by title. */
class Topics extends Context.Service<Topics, ReadonlyArray<readonly [title: string, text: string]>>()(
  "effect-code-runtime/cli/Topics"
) {}

const flagName = (key: Limits.LimitKey): string => key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

const unitOf = (key: Limits.LimitKey): string => /Ms$|Bytes$|Mb$/u.exec(key)?.[0].toLowerCase() ?? "count"

const meanings: { readonly [key in Limits.LimitKey]: string } = {
  computeMs: "Busy time of the program, in milliseconds; waiting for a binding does not count",
  maxWallMs: "Time from the program's start to its end, in milliseconds",
  maxOutputBytes: "Bytes of the JSON of all logs and of the value together",
  maxBindingBytes: "Bytes of the JSON of one argument or one result of a call",
  maxProgramBytes: "Bytes of the program",
  maxMemoryMb: "Memory of the guest, in MiB",
  maxConcurrentCalls: "Binding functions at work at once; more calls wait, in order",
  maxConcurrentRuns: "Runs at once; the command line has one",
  standby: "Guests that boot while the program is read"
}

/** Defaults that are not the library's, in words. */
const defaults: { readonly [key in Limits.LimitKey]?: string } = {
  maxConcurrentRuns: "no limit",
  standby: "0, 1 for -"
}

/** A limit as a flag: what is wrong with a value names flag, value and bound. */
const limit = (key: Limits.LimitKey): Flag.Flag<Option.Option<number>> => {
  const bound = Limits.boundOf(key)
  const byDefault = defaults[key] ?? String(Limits.defaults[key])
  const holds = Schema.is(Limits.fields[key])
  return Flag.String(flagName(key)).pipe(
    Flag.withMetavar(`<${unitOf(key)}>`),
    Flag.withDescription(`${meanings[key]}; ${bound} (default ${byDefault})`),
    Flag.filterMap(
      (text) => {
        const value = text.trim() === "" ? Number.NaN : Number(text)
        return holds(value) ? Option.some(value) : Option.none()
      },
      () => `Expected: ${bound}`
    ),
    Flag.optional
  )
}

const limits = {
  computeMs: limit("computeMs"),
  maxWallMs: limit("maxWallMs"),
  maxOutputBytes: limit("maxOutputBytes"),
  maxBindingBytes: limit("maxBindingBytes"),
  maxProgramBytes: limit("maxProgramBytes"),
  maxMemoryMb: limit("maxMemoryMb"),
  maxConcurrentCalls: limit("maxConcurrentCalls"),
  maxConcurrentRuns: limit("maxConcurrentRuns"),
  standby: limit("standby")
} satisfies { readonly [key in Limits.LimitKey]: unknown }

const given = (flags: { readonly [key in Limits.LimitKey]: Option.Option<number> }): Limits.LimitsInput => {
  const input: { [key in Limits.LimitKey]?: number } = {}
  for (const key of Limits.keys) {
    const flag = flags[key]
    if (Option.isSome(flag)) input[key] = flag.value
  }
  return input
}

const file = Argument.String("file").pipe(
  Argument.withDescription("The program: a .ts, .mts, .js, .mjs or .py file, or - for standard input")
)

const checkedFile = Argument.String("file").pipe(
  Argument.withDescription(
    "The program: a .ts, .mts, .js, .mjs or .py file (Python must be installed), or - for TypeScript on standard input"
  )
)

const widest = Math.max(...Backends.names.map((name) => name.length))

const backendList = Object.entries(Backends.backends)
  .map(([name, { summary }]) => `  ${name.padEnd(widest)}  ${summary}`)
  .join("\n")

const programTopic = `  A program is the body of an async function: await and return work at the top, imports too. What it returns
  is its value, and must be lossless JSON. It runs in a fresh guest and calls nothing but its bindings.`

const outputTopic = `  Standard output carries the value alone, as JSON: on one line, or spread on a terminal. A program that
  returns nothing prints nothing; null prints null. All that it logs, to whichever channel, comes on standard
  error, as it happens; so do the failure, with a code frame of the line, and calls left open.
  --json prints one object instead, failed or not; logs are then in it and not on standard error:
    { value?, logs, error?: { kind, message }, usage, unsettledCalls }`

const runCommand = Command.make(
  "run",
  {
    file,
    bindings: Flag.String("bindings").pipe(
      Flag.withMetavar("<module>"),
      Flag.withDescription("A module whose exports are namespaces that the program can call; may be repeated"),
      Flag.atLeast(0)
    ),
    backend: Flag.String("backend").pipe(
      Flag.withMetavar(`<${Backends.names.join("|")}>`),
      Flag.withDescription("Where the program runs; by default the first backend of the file's language"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print the whole result as one JSON object"),
      Flag.withDefault(false)
    ),
    logs: Flag.Boolean("logs").pipe(
      Flag.withDescription(
        "Show logs on standard error as they come; the default, except with --json (off: --no-logs)"
      ),
      Flag.optional
    ),
    ...limits
  },
  ({ backend, bindings, file: program, json, logs, ...flags }) =>
    run({ file: program, backend, bindings, json, logs, limits: given(flags) })
).pipe(
  Command.withDescription("Run one program: its value on standard output, its logs on standard error."),
  Command.annotate(Topics, [
    ["THE PROGRAM", programTopic],
    ["BINDINGS", Bindings.topic],
    ["OUTPUT", outputTopic],
    ["BACKENDS", backendList],
    ["EXIT CODES", ExitCode.table]
  ]),
  Command.withExamples([
    { command: "code-runtime run report.ts --bindings ./tools.ts", description: "A program with bindings" },
    { command: "echo 'return 6 * 7' | code-runtime run -", description: "A program from standard input" },
    {
      command: "code-runtime run report.ts --json --compute-ms 5000 | jq .error.kind",
      description: "The whole result, five seconds of busy time at most"
    }
  ])
)

const checkCommand = Command.make("check", { file: checkedFile }, check).pipe(
  Command.withDescription("Compile one program and run nothing; a failure shows the place."),
  Command.annotate(Topics, [["EXIT CODES", ExitCode.checkTable]]),
  Command.withExamples([{ command: "code-runtime check report.ts && echo fine" }])
)

export const command = Command.make("code-runtime").pipe(
  Command.withDescription("Run one model-written program against functions that you provide."),
  Command.withSubcommands([runCommand, checkCommand]),
  Command.annotate(Topics, [["EXIT CODES", ExitCode.table]]),
  Command.withExamples([
    { command: "code-runtime run report.ts --bindings ./tools.ts", description: "Run a program" },
    { command: "code-runtime run --help", description: "Learn how programs, bindings and output work" }
  ])
)

const topicsOf = (annotations: Context.Context<never>): string =>
  Option.getOrElse(Context.getOption(annotations, Topics), () => [])
    .map(([title, text]) => `\n\n${title}\n${text}`)
    .join("")

/** Help on standard output; what is wrong with an invocation, and where to read on, on standard error. */
const presenter: CliOutput.Presenter = {
  present: (event) => {
    const target = event._tag === "InvalidInvocation" ? "stderr" : "stdout"
    const formatter = CliOutput.defaultFormatter({ colors: false, globalFlags: "summary" })
    switch (event._tag) {
      case "Help":
        return writeLine(target, formatter.formatHelpDoc(event.helpDoc) + topicsOf(event.helpDoc.annotations))
      case "Version":
        return writeLine(target, event.version)
      case "InvalidInvocation": {
        const messages = event.errors.map((error) => formatter.formatCliError(error))
        return writeLine(target, `${messages.join("\n")}\nSee ${event.commandPath.join(" ")} --help`)
      }
    }
  }
}

/** How the commands present themselves, and the flags that all of them have. */
export const presentation: Layer.Layer<never> = Layer.mergeAll(
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  CliOutput.layerPresenter(presenter)
)

/** Runs the command that the arguments name. */
export const main = (version: string, args: ReadonlyArray<string>) => Command.runWith(command, { version })(args)
