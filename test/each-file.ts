/**
 * Runs before every test file: a transaction that asks for a second connection fails its test. What
 * the file takes of the processors, with the processes that it starts, is told to slowest.ts.
 */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { watchForSecondConnections } from '../server/platform/db.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** s of a processor, of the file's worker and of what it started and ended. */
    processorSeconds?: number
  }
}

/** Fields of proc_pid_stat(5), the first being 1: cutime and cstime, in hundredths of a second. */
const ofEnded = [16, 17]

function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1e6
  if (process.platform !== 'linux') return own
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The second field is the name, which may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ended = ofEnded.reduce((sum, field) => sum + Number(fields[field - 3]), 0)
  return own + ended / 100
}

watchForSecondConnections()

const began = processorSeconds()
// Vitest reads from the pattern which fixtures a hook asks for.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  Object.assign(file.meta, { processorSeconds: processorSeconds() - began })
})
