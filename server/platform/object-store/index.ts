/** Files by name, in a folder or in a bucket of S3. */
export { folderStore } from './folder-store.ts'
export { openStore } from './open-store.ts'
export { NoSuchFile, StoreFault, type ObjectStore } from './store.ts'
