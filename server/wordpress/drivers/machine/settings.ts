/**
 * The operator's settings of the embedded driver, read and validated before (server/variables/).
 */
export interface Settings {
  /**
   * Whether sites may reach the public internet (plugin installs, updates). Off by default: they
   * reach only their own address, and WordPress is told so, because its dashboard would otherwise
   * wait for the internet.
   */
  readonly internet: boolean
  /**
   * Most containers of one site. Each takes about 320 MB, and a container without memory for it is
   * refused.
   */
  readonly maxContainers: number
  /** Longest time of PHP for one page, seconds. */
  readonly pageSeconds: number
  /** Most processors of a plan; null: the machine's. */
  readonly maxCpu: number | null
  /** Most memory of a plan, MB; null: the machine's. */
  readonly maxRamMb: number | null
}
