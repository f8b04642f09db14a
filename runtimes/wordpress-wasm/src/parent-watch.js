// Ends this process when its parent is gone, where the system does not do it (README): PHP can hold
// the main thread for long, and must not outlive the portal. The watch is a thread.
import { Worker, isMainThread, workerData } from 'node:worker_threads'

/** Whether this process was started with the watch. */
export const isWatching = () => process.argv.includes('--watch-parent')

/** Begins the watch where it was asked for. */
export function watchParent() {
  if (!isWatching()) return
  new Worker(new URL(import.meta.url), {
    workerData: { parent: process.ppid },
    resourceLimits: { maxOldGenerationSizeMb: 8 },
  }).unref()
}

if (!isMainThread && workerData?.parent !== undefined) {
  const timer = setInterval(() => {
    if (process.ppid !== workerData.parent) process.kill(process.pid, 'SIGKILL')
  }, 1_000)
  timer.ref()
}
