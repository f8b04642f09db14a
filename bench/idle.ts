/**
 * How soon `npm start` is ready on a prepared clone; and the idle portal's memory and database
 * queries.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { idleQueries } from './idle-queries.ts'
import { median, memoryOf, report, startPortal } from './portal.ts'

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-idle-'))
try {
  const starts: number[] = []
  for (let run = 0; run < 3; run++) {
    const portal = await startPortal({ dataDir, command: ['npm', 'start', '--silent'] })
    starts.push(portal.readyMs / 1000)
    await portal.stop()
  }
  console.log(
    '      npm start, first on an empty DATA_DIR: ' +
      `${starts.map((one) => one.toFixed(2)).join(' ')} s`,
  )
  report('npm start on a prepared clone until ready (worst)', Math.max(...starts), 8, 's')

  const portal = await startPortal({ dataDir })
  // A minute without work: garbage of the start is collected, idle connections are closed.
  await pause(60_000)
  const samples: number[] = []
  for (let sample = 0; sample < 5; sample++) {
    samples.push(memoryOf(portal.process.pid ?? 0))
    await pause(1000)
  }
  report(
    'idle memory, PostgreSQL and sandbox included (proportional set)',
    median(samples),
    250,
    'MB',
  )

  const queries = await idleQueries(dataDir, 60)
  const perSecond = queries.reduce((sum, query) => sum + query.perSecond, 0)
  for (const { connection, text, perSecond: each } of queries.slice(0, 12))
    console.log(`      ${each.toFixed(2)} a second  ${connection.padEnd(15)} ${text.slice(0, 90)}`)
  // Only the portal's process queries the database.
  report('queries of an idle portal, sandbox included', perSecond, 3, 'a second')
  await portal.stop()
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
