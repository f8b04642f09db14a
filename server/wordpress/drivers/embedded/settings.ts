/** What the embedded driver takes from the operator, read and judged before (server/variables.ts). */
export interface Settings {
  /** Whether sites may reach the public internet (plugin installs, updates). Off as shipped: without internet WordPress's dashboard waits for it. */
  readonly internet: boolean
  /** Most containers one site may have; each takes about 320 MB, and what there is no memory for is refused. */
  readonly maxContainers: number
}
