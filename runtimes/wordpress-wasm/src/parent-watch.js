// Ends this process when its parent has died, where the system does not (README): PHP can block the
// main thread for long, and must not outlive the portal. So the watch runs in a thread.
import { Worker, isMainThread, workerData } from 'node:worker_threads'

/** Whether this process was started with the watch. */
export const isWatching = () => process.argv.includes('--watch-parent')

/** Starts the watch if it was requested. */
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
