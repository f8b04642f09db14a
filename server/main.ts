/**
 * Opens what outlives the portal: its database, and what visitors of customers' sites meet; then the portal itself (api.ts), in a process of its own
 * that is started again when it ends. Whoever visits a customer's site notices nothing of that.
 */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { keepProcess, StartFailure } from './platform/kept-process.ts'
import { createLog } from './platform/log.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from './platform/postgres/index.ts'
import { closeOnSignals } from './platform/shutdown.ts'
import { collectStartUpGarbage } from './platform/start-up-garbage.ts'
import { refuseSecondPortal } from './portal-pid.ts'
import { bootRequest, lineTo, portalIsReady, type Boot } from './sites-line.ts'
import { openSites } from './sites.ts'
import { tellFaults, whyNotStarted } from './start-failures.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Longest time for what is in flight, ms: of the portal, and of all together. */
const portalLimitMs = 20_000
const closeLimitMs = 25_000

/** Undefined when it is not valid: the portal, which judges catalogue and providers as well, says why. */
function configOf(env: NodeJS.ProcessEnv): Config | undefined {
  try {
    return readConfig(env)
  } catch (error) {
    if (error instanceof ConfigFault) return undefined
    throw error
  }
}

async function run(): Promise<void> {
  const config = configOf(process.env)
  const log = createLog(config?.LOG_LEVEL ?? 'info')
  const sites = config && openSites(config, log)
  let postgres: EmbeddedPostgres | undefined
  let ground: Promise<string> | undefined
  let startedAt: number | undefined = Date.now()
  let portalPid: number | undefined

  /** Once, when the portal has found all settings good. Answers the database's address. */
  async function openGround(): Promise<string> {
    if (!config || !sites) throw new Error('the settings are not valid')
    const { DATABASE_URL, DATA_DIR, EMBEDDED_PG_USER } = config
    await refuseSecondPortal(DATA_DIR, portalPid)
    if (DATABASE_URL === undefined) {
      postgres = await startEmbeddedPostgres({ folder: path.join(DATA_DIR, 'postgres'), runAsUser: EMBEDDED_PG_USER, log: say })
      void postgres.died.then((why) => {
        log.fatal({ why }, 'the database is gone')
        process.exit(1)
      })
    }
    await sites.listen()
    return DATABASE_URL ?? postgres?.url ?? ''
  }

  const portal = keepProcess(
    fileURLToPath(new URL('api.ts', import.meta.url)),
    (child, isReady) => {
      portalPid = child.pid
      const line = lineTo(child)
      const began = startedAt ?? Date.now()
      startedAt = undefined
      line.onRequest(bootRequest, async (): Promise<Boot> => ({ databaseUrl: await (ground ??= openGround()), began }))
      line.onNotification(portalIsReady, isReady)
      if (sites) sites.serve(line)
      else line.listen()
    },
    log,
  )

  async function close(): Promise<void> {
    await portal.stop(portalLimitMs)
    await sites?.close()
    await postgres?.stop()
  }
  const shutdown = closeOnSignals(
    async (signal) => {
      if (signal) say('Stopping: finishing what is in flight …')
      await close()
      if (signal) say('Stopped.')
    },
    closeLimitMs,
    log,
  )

  try {
    await portal.ready
    collectStartUpGarbage()
  } catch (error) {
    shutdown.disarm()
    // What the portal found it has told itself.
    const groundFault = await ground?.then(
      () => undefined,
      (why: unknown) => whyNotStarted(why),
    )
    if (groundFault !== undefined) tellFaults([groundFault])
    await close()
    process.exit(error instanceof StartFailure && groundFault === undefined ? error.exitCode : 1)
  }
}

// The start script has it compiled beforehand by importing it.
if (import.meta.main) await run()
