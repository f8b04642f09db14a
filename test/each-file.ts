/**
 * Runs before every test file: a transaction that requests a second connection fails its test. The
 * CPU time of the file, including the processes that it starts, is reported to slowest.ts.
 */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { watchForSecondConnections } from '../server/platform/db.ts'

declare module 'vitest' {
  interface TaskMeta {
    /**
     * CPU time in seconds, of the file's worker and of the processes that it started and that have
     * ended.
     */
    processorSeconds?: number
  }
}

/** Fields of proc_pid_stat(5), counted from 1: cutime and cstime, in hundredths of a second. */
const ofEnded = [16, 17]

function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1e6
  if (process.platform !== 'linux') return own
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The second field is the name, which may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ended = ofEnded.reduce((sum, field) => sum + Number(fields[field - 3]), 0)
  return own + ended / 100
}

watchForSecondConnections()

const began = processorSeconds()
// Vitest reads from the pattern which fixtures a hook needs.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  Object.assign(file.meta, { processorSeconds: processorSeconds() - began })
})
