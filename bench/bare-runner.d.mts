/** A site of its own without a portal: the port it answers on, the process, and what ends both. */
export function startBare(limits?: {
  memoryMb?: number
  phpMemoryMb?: number
  runtimeDir?: string
}): Promise<{ port: number; pid: number; siteDir: string; stop(): Promise<void> }>
/** Seconds from nothing to the first page. */
export function bareRun(): Promise<number>
