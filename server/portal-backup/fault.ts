import { StoreFault } from '../platform/object-store/index.ts'

/** What is wrong with a backup or with what was asked for: a sentence for the operator. */
export class BackupFault extends StoreFault {}
