/** What both ends of the line say about the name server in a process of its own. */
import type { DnsDriver, RecordSet, ZoneHead } from '../../driver.ts'

/** Arguments and answer of each call, as they cross the line. */
export interface Calls {
  putZone: (head: ZoneHead, sets: readonly RecordSet[]) => void
  changeZone: (
    head: ZoneHead,
    fromSerial: number,
    sets: readonly RecordSet[],
  ) => 'applied' | 'behind'
  removeZone: (name: string) => void
  /** Null: nothing. */
  held: (name: string) => Awaited<ReturnType<DnsDriver['held']>> | null
  list: () => readonly string[]
  /** Null: it does not say. An earlier release does not know the call. */
  startId: () => string | null
  health: () => string | null
}

export const prefix = 'dns'
export const callNames = [
  'putZone',
  'changeZone',
  'removeZone',
  'held',
  'list',
  'startId',
  'health',
] as const satisfies readonly (keyof Calls)[]
