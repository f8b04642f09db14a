/** The protocol between the portal and the name server in its own process. */
import type { DnsDriver, RecordSet, ZoneHead } from '../../driver.ts'

/** Arguments and result of each call on the line. */
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
  /** Null: not reported. A release older than this call does not know it. */
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
