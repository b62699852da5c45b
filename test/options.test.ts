/**
 * Careless callers: whatever is wrong with the options of a layer is told by the option's own name, its value and what it
 * must be. Callers without types give anything at all.
 */
import type * as Layer from "effect/Layer"
import {
  type CodeRuntime,
  Limits,
  NodeProcess,
  PromiseAdapter,
  PythonProcess,
  Sandbox,
  WorkerThread
} from "effect-code-runtime"
import { assert, describe, it } from "vitest"

const layers: { readonly [name: string]: { readonly make: unknown; readonly options: ReadonlyArray<string> } } = {
  "WorkerThread.layer": { make: WorkerThread.layer, options: ["permission"] },
  "NodeProcess.layer": { make: NodeProcess.layer, options: ["permission", "cgroup", "standbyMs"] },
  "PythonProcess.layer": { make: PythonProcess.layer, options: ["python", "cgroup", "standbyMs"] },
  "Sandbox.layer": {
    make: Sandbox.layer,
    options: [
      "language",
      "readOnly",
      "writableMb",
      "packages",
      "env",
      "commands",
      "maxProcesses",
      "interpreter",
      "engine",
      "cgroup",
      "zygote",
      "standbyMs"
    ]
  },
  "Sandbox.layerOci": {
    make: Sandbox.layerOci,
    options: [
      "language",
      "image",
      "engine",
      "socket",
      "runtime",
      "interpreter",
      "packages",
      "writableMb",
      "env",
      "maxProcesses",
      "cpus",
      "standbyMs"
    ]
  }
}

/** What every layer is given beside the option that is wrong. */
const beside: { readonly [name: string]: object } = {
  "Sandbox.layer": { language: "python" },
  "Sandbox.layerOci": { language: "python", image: "some-image" }
}

const isMake = (value: unknown): value is (...args: ReadonlyArray<unknown>) => Layer.Layer<CodeRuntime.CodeRuntime> =>
  typeof value === "function"

const failureOf = async (name: string, ...args: ReadonlyArray<unknown>): Promise<Error> => {
  const make = layers[name]?.make
  if (!isMake(make)) return assert.fail(`there is no ${name}`)
  const runtime = await PromiseAdapter.make(make(...args)).catch((error: unknown) => error)
  if (runtime instanceof Error) return runtime
  return assert.fail(`${name} took ${JSON.stringify(args)}`)
}

describe.each(Object.keys(layers))("%s", (name) => {
  const known = [...(layers[name]?.options ?? []), ...Limits.keys]

  it.each([null, 42, "fast", true, [[]]])(
    "given %j instead of options, says so by a typed failure",
    async (options) => {
      const error = await failureOf(name, options)
      assert.instanceOf(error, Limits.InvalidLimit)
      assert.match(error.message, /^options is (?:null|42|"fast"|true|an array); it must be an object of options$/u)
    }
  )

  it("lists exactly its own options for one that does not exist", async () => {
    const { message } = await failureOf(name, { ...beside[name], zzz: 1 })
    const [start, listed = ""] = message.split(". The options are ")
    assert.strictEqual(start, "zzz is 1; it must be left out: there is no such option")
    assert.sameMembers(listed.split(", "), known)
  })

  it.each(known)("knows what was meant by %s in other letters", async (key) => {
    const wrong = key === key.toLowerCase() ? `${key}${key.at(-1)}` : key.toLowerCase()
    const { message } = await failureOf(name, { ...beside[name], [wrong]: 1 })
    assert.include(
      message,
      `${wrong} is 1; it must be left out: there is no such option; did you mean ${key}? The options`
    )
  })

  it.each(known)("refuses %s of a type that it cannot have, and names the bound", async (key) => {
    const error = await failureOf(name, { ...beside[name], [key]: 1n })
    assert.instanceOf(error, Limits.InvalidLimit)
    assert.match(error.message, new RegExp(`^${key} is 1; it must be .{8,}`, "u"))
  })
})

const told: ReadonlyArray<readonly [name: string, options: object, message: string]> = [
  ["NodeProcess.layer", { standbyMs: -1 }, "standbyMs is -1; it must be a number of at least 0; Infinity is for ever"],
  ["NodeProcess.layer", { standbyMs: Number.NaN }, "standbyMs is NaN; it must be a number of at least 0"],
  ["NodeProcess.layer", { cgroup: "no" }, 'cgroup is "no"; it must be true or false'],
  ["NodeProcess.layer", { permission: true }, "permission is true; it must be false, or an object of allowRead and"],
  [
    "NodeProcess.layer",
    { permission: { allowRaed: ["*"] } },
    "permission is an object; it must be false, or an object of"
  ],
  ["PythonProcess.layer", { python: "/nowhere/python3" }, "or name it by the option python of PythonProcess.layer"],
  ["Sandbox.layer", {}, 'language is undefined; it must be one of "typescript" and "python"'],
  [
    "Sandbox.layer",
    { language: "python", interpreter: "/nowhere/python3" },
    "or name it by the option interpreter of Sandbox.layer"
  ],
  [
    "Sandbox.layer",
    { language: "typescript", interpreter: "/nowhere/node" },
    "/nowhere/node is not there; name a Node by the option interpreter of Sandbox.layer"
  ],
  ["Sandbox.layer", { language: "typescript", interpreter: "/bin/true" }, "/bin/true is no Node; name a Node by"],
  ["Sandbox.layer", { language: "typescript", interpreter: "node" }, "it must be the absolute path of a Node"],
  ["Sandbox.layer", { language: "python", engine: "docker" }, "Sandbox.layerOci is for engines of containers"],
  ["Sandbox.layer", { language: "python", env: { A: 1 } }, "env is an object; it must be an object of texts"],
  [
    "Sandbox.layer",
    { language: "python", readOnly: ["/data"] },
    "readOnly is an array; it must be a list of { from, to }"
  ],
  [
    "Sandbox.layer",
    { language: "python", readOnly: [{ from: "/nowhere", to: "/data" }] },
    'readOnly.from is "/nowhere"; it must be the absolute path of a file or a folder, but it does not exist'
  ],
  [
    "Sandbox.layer",
    { language: "python", packages: "/nowhere" },
    'packages is "/nowhere"; it must be the absolute path of a folder, but it does not exist'
  ],
  [
    "Sandbox.layer",
    { language: "python", packages: "/etc/passwd" },
    'packages is "/etc/passwd"; it must be the absolute path of a folder, but it is a file'
  ],
  [
    "Sandbox.layer",
    { language: "python", commands: ["/nowhere/head"] },
    'commands is "/nowhere/head"; it must be the absolute path of a file, but it does not exist'
  ],
  [
    "Sandbox.layer",
    { language: "python", commands: ["/usr"] },
    'commands is "/usr"; it must be the absolute path of a file, but it is a folder'
  ],
  [
    "Sandbox.layer",
    { language: "python", commands: ["head"] },
    'commands is "head"; it must be the absolute path of a file'
  ],
  ["Sandbox.layerOci", { language: "python" }, "image is undefined; it must be the name of an image"],
  [
    "Sandbox.layerOci",
    { language: "python", image: "x", socket: "unix:///run/docker.sock" },
    "it must be the absolute path of a unix socket"
  ],
  [
    "Sandbox.layerOci",
    { language: "python", image: "x", engine: "containerd" },
    'it must be one of "docker" and "podman"'
  ]
]

it.each(told)("%s(%o) says: %s", async (name, options, message) => {
  assert.include((await failureOf(name, options)).message, message)
})

it.each([null, 42, NodeProcess.layer, {}, undefined])(
  "PromiseAdapter.make(%s) says that it takes a layer",
  async (given) => {
    const error = await Reflect.apply(PromiseAdapter.make, undefined, [given]).catch((reason: unknown) => reason)
    assert.instanceOf(error, TypeError)
    if (!(error instanceof TypeError)) return
    assert.match(error.message, /^PromiseAdapter\.make takes a layer, such as WorkerThread\.layer\(\), and was given /u)
    assert.strictEqual(error.message.endsWith("; call it"), typeof given === "function")
  }
)
