/**
 * How soon `npm start` is ready on a prepared clone, and what the portal holds of memory when
 * nothing happens.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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
  // A minute of nothing: start-up garbage is collected, idle connections are closed.
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
  await portal.stop()
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
