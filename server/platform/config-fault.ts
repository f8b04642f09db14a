/**
 * What an operator set, or started on, and has to change: one sentence a fault. A process that it
 * ends has the exit code 78 (EX_CONFIG of sysexits.h), so that no supervisor starts it again.
 */
export class ConfigFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}
