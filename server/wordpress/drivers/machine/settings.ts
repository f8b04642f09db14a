/**
 * What the embedded driver takes from the operator, read and judged before (server/variables/).
 */
export interface Settings {
  /**
   * Whether sites may reach the public internet (plugin installs, updates). Off as shipped: they
   * reach their own address alone, and WordPress is told so, whose dashboard would wait for the
   * internet otherwise.
   */
  readonly internet: boolean
  /**
   * Most containers one site may have; each takes about 320 MB, and what there is no memory for is
   * refused.
   */
  readonly maxContainers: number
  /** How long PHP may take for one page, s. */
  readonly pageSeconds: number
  /** Processors that a plan can be given here; those of the machine when null. */
  readonly maxCpu: number | null
  /** Memory, MB, likewise. */
  readonly maxRamMb: number | null
}
