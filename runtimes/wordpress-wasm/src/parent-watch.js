// Runs as a thread: PHP can hold the main thread for long, and must not outlive the portal.
import { workerData } from 'node:worker_threads'

const timer = setInterval(() => {
  if (process.ppid !== workerData.parent) process.kill(process.pid, 'SIGKILL')
}, 1_000)
timer.ref()
