/** CPU time and memory of a site's container: its own process and those that run PHP. */
import { readFileSync } from 'node:fs'
import { childrenOf } from '../server/wordpress/drivers/machine/process-memory.ts'
import { cpuSecondsOf } from './portal.ts'

const treeOf = (pid: number): number[] => [pid, ...childrenOf(pid)]

/** CPU time so far, ms, without that of processes that have ended. */
export const containerCpuMs = (pid: number): number =>
  treeOf(pid).reduce((sum, one) => sum + cpuSecondsOf(one) * 1_000, 0)

/** Memory, MB; pages that several processes share are counted proportionally (proc(5), Pss). */
export const containerMemoryMb = (pid: number): number =>
  treeOf(pid).reduce((sum, one) => {
    const rollup = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8')
    return sum + Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) / 1_024
  }, 0)
