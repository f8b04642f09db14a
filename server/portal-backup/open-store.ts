import { folderStore } from './folder-store.ts'
import type { BackupStore } from './store.ts'

/** A folder. */
export function openStore(where: string): BackupStore {
  return folderStore(where)
}
