/**
 * The suite over containers of an engine, where one answers.
 */
import { Sandbox } from "effect-code-runtime"
import { conformance } from "effect-code-runtime/conformance"
import { afterAll, assert, beforeAll, it } from "vitest"
import { containers, images, makeImage, socketPath, whyNone } from "../sandbox/Dockerd.ts"

/** Registers it for one language. */
export const overContainers = (language: keyof typeof images, name: string): void => {
  if (whyNone !== undefined) {
    it(name, (context) => context.skip(whyNone))
    return
  }
  beforeAll(() => makeImage(language), 60_000)
  // Files' own hooks run last: the suite has closed its runtimes by then.
  afterAll(async () => assert.deepStrictEqual(await containers(), []))
  conformance({
    name,
    language,
    make: (limits) => Sandbox.layerOci({ language, image: images[language], socket: socketPath, ...limits })
  })
}
