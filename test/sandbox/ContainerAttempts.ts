/**
 * Which of the attempts of `test/attacks/sandbox` are made in containers too.
 */
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Where the attempts lie. */
export const folder = fileURLToPath(new URL("../attacks/sandbox/", import.meta.url))

/** What an engine shows to everybody, and this package cannot take away. */
const shown: { readonly [name: string]: string } = {
  devices: "an engine gives its standard devices",
  "bomb-watches": "the user of a container is not the host's, so epoll is left to Python too",
  "release-agent": "control groups can be seen, read-only"
}

/** Refused by the same call or the same absence as others that are made; each container costs a third of a second. */
const alike =
  /^(?:network-(?:alg|ipv6|link-local|name|netlink|raw|unix-abstract|unix-path)|file-(?:dot-dot|hard-link|symlink|write)|proc-(?:cwd-and-fd|memory))$/u

/** Their names, without the ending. */
export const names: ReadonlyArray<string> = readdirSync(folder)
  .filter((name) => name.endsWith(".py"))
  .map((name) => name.slice(0, -".py".length))
  .filter((name) => !Object.hasOwn(shown, name) && !alike.test(name))
