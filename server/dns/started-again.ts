/**
 * A name server in its own process may restart while this process runs. Its stored zones then lack
 * the changes that a full disk or a crash of its machine lost. The sweep for missed changes covers
 * only recent changes; so every zone is compared after a restart.
 */
import type { Database } from '../platform/db.ts'
import type { DnsDriver } from './driver.ts'

export interface StartedAgain {
  /** Records that the present name server has loaded everything. */
  note(): Promise<void>
  /**
   * Compares all zones if the name server has restarted, and synchronises those that differ from
   * the database. The next call repeats what failed.
   */
  catchUp(sync: (name: string) => Promise<void>): Promise<void>
  /** Makes the work in progress end soon. */
  stop(): void
}

const pageSize = 1000
/** Zones synchronised in parallel. */
const together = 8

export function watchStarts(deps: {
  db: Database
  driver: DnsDriver
  /**
   * Zones that the driver serves for the portal itself, and the function that puts them again if
   * needed.
   */
  own: readonly string[]
  serveOwn: () => Promise<void>
}): StartedAgain {
  const { db, driver } = deps
  let known: string | undefined
  const behind = new Set<string>()
  let stopped = false

  async function compareAll(): Promise<void> {
    const gone = new Set(await driver.list())
    let after = 0n
    for (;;) {
      const zones = await db
        .selectFrom('dns_served')
        .select(['seq', 'id', 'name', 'serial'])
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(pageSize)
        .$castTo<{ seq: bigint; id: string; name: string; serial: bigint }>()
        .execute()
      for (const { seq, id, name, serial } of zones) {
        if (stopped) return
        gone.delete(name)
        const held = await driver.held(name)
        if (held?.id !== id || held.serial < Number(serial)) behind.add(name)
        after = seq
      }
      if (zones.length < pageSize) break
    }
    for (const name of gone) if (!deps.own.includes(name)) behind.add(name)
  }

  return {
    async note() {
      known = await driver.startId?.()
    },
    async catchUp(sync) {
      const present = await driver.startId?.()
      if (present !== undefined && present !== known) {
        await deps.serveOwn()
        await compareAll()
        known = present
      }
      const names = [...behind]
      let failed: PromiseRejectedResult | undefined
      for (let at = 0; at < names.length && !stopped; at += together) {
        const some = names.slice(at, at + together)
        const done = await Promise.allSettled(some.map(sync))
        for (const [index, name] of some.entries())
          if (done[index]?.status === 'fulfilled') behind.delete(name)
        failed ??= done.find((one) => one.status === 'rejected')
      }
      // A failure does not hold up the other zones; the next sweep tries again.
      if (failed) throw failed.reason
    },
    stop() {
      stopped = true
    },
  }
}
