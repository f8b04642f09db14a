/**
 * Backup and restore of the whole portal: database, sites, secret. manifest.ts describes the
 * content, dump.ts and make.ts make it.
 */
export { makeBackup } from './make.ts'
export { definePortalBackups } from './nightly.ts'
export { refuseUnfinishedRestore, restoreBackup } from './restore.ts'
export { BackupFault } from './fault.ts'
export { verifyBackup } from './verify.ts'
