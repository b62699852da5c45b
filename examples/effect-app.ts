// A program that calls host functions, in an Effect app.
import { Console, Context, Effect, Layer, Schema } from "effect"
import { CodeRuntime, WorkerThread } from "effect-code-runtime"

/** A service of the app, which a binding uses. */
class Prices extends Context.Service<Prices, { readonly of: (item: string) => Effect.Effect<number> }>()("Prices") {}

/** What a program is to pass: its author reads what was missing. */
const Question = Schema.Struct({ item: Schema.String })

const prices = Layer.succeed(Prices, { of: (item) => Effect.succeed(item.length * 100) })

// The text that a model wrote.
const program = `
  const items = ["tea", "coffee"]
  const prices: number[] = await Promise.all(items.map((item) => shop.priceOf({ item })))
  console.log("asked for", items.length, "prices")
  return { total: prices.reduce((sum, price) => sum + price, 0) }
`

const main = Effect.gen(function* () {
  const runtime = yield* CodeRuntime.CodeRuntime
  const success = yield* runtime.run({
    program,
    bindings: [
      {
        global: "shop",
        functions: {
          priceOf: (args) =>
            Effect.flatMap(Schema.decodeUnknownEffect(Question)(args), ({ item }) => Prices.use((_) => _.of(item)))
        },
        errorClass: { name: "ShopError", memberNameProperty: "tool" }
      }
    ]
  })
  yield* Console.log(success.value, success.logs)
}).pipe(
  Effect.catchReason("CodeRunFailed", "Timeout", (timeout) => Console.error(`too slow: ${timeout.message}`)),
  Effect.provide([WorkerThread.layer({ computeMs: 5_000 }), prices])
)

await Effect.runPromise(main)
