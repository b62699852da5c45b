/** `WorkerThreadCodeRuntime` as the module of a row of a `cordis.yml`, which loads a module's default export. */
export { WorkerThreadCodeRuntime as default } from "../Cordis.ts"
