/**
 * The numbers of the PostgreSQL advisory locks that the whole database shares. They are listed in
 * one file so that no two are equal: a process that waits for one lock should not wait for another
 * one's holder. The sandbox, which knows nothing of the portal, uses 727 081.
 */
export const lockKeys = {
  /** Making the portal's role and database. */
  makeDatabase: 727_001,
  /** Giving events their place in line. */
  relayEvents: 727_010,
  /** Seeding the demo. */
  seedDemo: 727_020,
  /**
   * Shared by every process with a worker for jobs; taken exclusively by a process that finds no
   * other.
   */
  jobWorkers: 727_030,
  /** Giving a claim of a domain its pair of name servers. */
  claimDomain: 727_031,
  /** Walking the ledger's chains. */
  walkLedger: 727_032,
  /** Pricing something, shared; another version of the catalogue, alone. */
  catalog: 727_034,
  /** Giving an update its place among those that are under way. */
  beginUpdate: 727_035,
  /** Keeping an upload for a ticket; its second number is a hash of whose it is. */
  ticketUploads: 727_112,
  /** Migrating. */
  migrate: 727_033,
  /** Adding an act of the operator to its chain. */
  operatorActs: 727_090,
  /** The number that Kysely's migrator has, by which releases before number 2 migrate. */
  migrateByKysely: 3_853_314_791_062_309_107n,
} as const
