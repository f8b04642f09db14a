/**
 * Collects the garbage of the start: compiled schemas, documents, text that was read once. V8
 * collects when it needs memory, and an idle portal needs none: without this call some 60 MB stay
 * allocated until there is load.
 */
import module from 'node:module'
import v8 from 'node:v8'
import vm from 'node:vm'

/**
 * Long enough after the start that the first visitors are not delayed by a pause of some 100 ms.
 */
const afterMs = 10_000

/** Collects it, once. Keeps no process alive. */
export function collectStartUpGarbage(): void {
  setTimeout(() => {
    // V8's documented way to its collector where the process was not started with the flag.
    v8.setFlagsFromString('--expose-gc')
    const collect = vm.runInNewContext('gc') as () => void
    v8.setFlagsFromString('--no-expose-gc')
    collect()
    // The compile cache speeds up the next start; NODE_COMPILE_CACHE sets its folder.
    module.flushCompileCache()
  }, afterMs).unref()
}
