/**
 * A fault in the operator's configuration: one sentence per fault. A process that ends because of
 * it has the exit code 78 (EX_CONFIG of sysexits.h), so that no supervisor restarts it.
 */
export class ConfigFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}
