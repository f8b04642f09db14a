import { StoreFault } from '../platform/object-store/index.ts'

/** A fault of a backup or of the request: a sentence for the operator. */
export class BackupFault extends StoreFault {}
