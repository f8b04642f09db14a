/** A site of its own without a portal: the port it answers on, the process, and what ends both. */
export function startBare(limits?: {
  memoryMb?: number
  phpMemoryMb?: number
}): Promise<{ port: number; pid: number; stop(): Promise<void> }>
/** Seconds from nothing to the first page. */
export function bareRun(): Promise<number>
