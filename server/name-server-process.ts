/** The name server's process, a child of main.ts. It ends on SIGTERM, and with its parent. */
import { openNameServer, openRequest, systemErrorOver, type NameServer } from './name-server.ts'
import type { NameServerSettings } from './name-server.ts'
import { createLog } from './platform/log.ts'
import { closeOnSignals } from './platform/shutdown.ts'
import { collectStartUpGarbage } from './platform/start-up-garbage.ts'
import { lineTo } from './sites-line.ts'
import { printFaults } from './start-failures.ts'
import { noteStart } from './version.ts'

/** Longest time that calls in progress get to finish at shutdown, ms. */
const closeLimitMs = 4_000

function run(): void {
  if (!process.connected) {
    printFaults(['This is the part of the portal that server/main.ts starts: run npm start.'])
    process.exit(64) // EX_USAGE of sysexits.h
  }
  let opened: Promise<NameServer> | undefined
  const line = lineTo(process)
  line.onRequest(openRequest, async (settings: NameServerSettings) => {
    const log = createLog(settings.logLevel)
    noteStart(log, 'name_server')
    opened = openNameServer(settings, log)
    try {
      ;(await opened).serve(line)
    } catch (error) {
      throw systemErrorOver(error)
    }
    collectStartUpGarbage()
    return null
  })
  line.listen()
  closeOnSignals(
    async () => {
      await (await opened?.catch(() => undefined))?.close()
    },
    closeLimitMs,
    createLog('error'),
    { ofTheTerminal: false },
  )
  process.once('disconnect', () => process.exit(0))
}

// The start script has it compiled beforehand by importing it.
if (import.meta.main) run()
