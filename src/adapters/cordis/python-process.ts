/** `PythonProcessCodeRuntime` as the module of a row of a `cordis.yml`, which loads a module's default export. */
export { PythonProcessCodeRuntime as default } from "../Cordis.ts"
