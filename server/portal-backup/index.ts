/**
 * The whole portal, saved and rebuilt: database, sites, secret. What is written is described in
 * manifest.ts, how it is made in dump.ts and make.ts.
 */
export { makeBackup } from './make.ts'
export { definePortalBackups } from './nightly.ts'
export { refuseUnfinishedRestore, restoreBackup } from './restore.ts'
export { BackupFault } from './fault.ts'
export { verifyBackup } from './verify.ts'
