/** `NodeProcessCodeRuntime` as the module of a row of a `cordis.yml`, which loads a module's default export. */
export { NodeProcessCodeRuntime as default } from "../Cordis.ts"
