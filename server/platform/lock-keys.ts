/**
 * PostgreSQL's advisory locks that have one holder in a whole database, each with its number. They
 * stand together so that no two are the same: who waits for one of them should not wait for what
 * another one guards. The sandbox, which knows nothing of the portal, has 727 081.
 */
export const lockKeys = {
  /** Making the portal's role and database. */
  makeDatabase: 727_001,
  /** Giving events their place in line. */
  relayEvents: 727_010,
  /** Seeding the demo. */
  seedDemo: 727_020,
  /** Shared by every process with a worker for jobs; had alone by who finds no other. */
  jobWorkers: 727_030,
  /** Giving a claim of a domain its pair of name servers. */
  claimDomain: 727_031,
  /** Walking the ledger's chains. */
  walkLedger: 727_032,
} as const
