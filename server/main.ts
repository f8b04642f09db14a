/**
 * Opens the parts that must run while the portal restarts: the database, and the services for
 * customers' visitors (machine.ts). Then starts the portal (api.ts) as supervised child processes,
 * as many as PORTAL_PROCESSES says. Visitors of customers' sites do not notice a restart of the
 * portal. A machine whose ROLES name neither api nor worker has no portal of its own.
 */
import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { withEnvFile } from './env-file.ts'
import { createMachine } from './machine.ts'
import { superviseChild, StartFailure, type SupervisedChild } from './platform/supervisor.ts'
import { createLog } from './platform/log.ts'
import { readRootSecret } from './platform/secrets.ts'
import { supervisePostgres, type SupervisedPostgres } from './platform/postgres/supervisor.ts'
import { closeOnSignals } from './platform/shutdown.ts'
import { collectStartUpGarbage } from './platform/start-up-garbage.ts'
import { notePid, refuseSecondPortal } from './portal-pid.ts'
import {
  bootRequest,
  drainRequest,
  lineTo,
  openToOthersRequest,
  portalIsReady,
  type Boot,
} from './sites-line.ts'
import { programOf, programOfRelease, releaseRoot } from './programs.ts'
import { forgetRelease, notedRelease } from './release-folder.ts'
import { readSettings } from './settings.ts'
import { printFaults, whyNotStarted } from './start-failures.ts'
import { noteStart } from './version.ts'

const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

/** Time limits for work in progress at a stop, ms: the portal's, and the total. */
const portalLimitMs = 20_000
const closeLimitMs = 25_000

/**
 * Undefined when the configuration is not valid: the child process, which also checks the catalogue
 * and the drivers, reports why.
 */
function configOf(env: NodeJS.ProcessEnv): Config | undefined {
  try {
    return readConfig(env)
  } catch (error) {
    if (error instanceof ConfigFault) return undefined
    throw error
  }
}

/**
 * Settings that this process used when it opened. A change of one needs a full restart, customers'
 * sites included.
 */
const ownSettings = [
  'ROLES',
  'PORTAL_PROCESSES',
  'NODE_NAME',
  'NODE_LISTEN',
  'NODE_KEY',
  'HOST',
  'SITES_DOMAIN',
  'SITES_PORT',
  'SITES_TLS_PORT',
  'portalBehindEdge',
  'DATA_DIR',
  'DATABASE_URL',
  'EMBEDDED_PG_USER',
  'TRUST_PROXY',
  'SITES_CACHE_MB',
  'WORDPRESS_RUNTIME',
  'DOCKER_SOCKET',
  'DOCKER_WORDPRESS_IMAGE',
  'DOCKER_MARIADB_IMAGE',
  'WORDPRESS_INTERNET',
  'WORDPRESS_MAX_CONTAINERS',
  'WORDPRESS_MAX_CPU',
  'WORDPRESS_MAX_RAM_MB',
  'WORDPRESS_PAGE_SECONDS',
  'DNS_DRIVER',
  'sitesScheme',
] as const satisfies readonly (keyof Config)[]

/** Settings of the name server's process: a change of one starts that process again. */
const nameServerSettingsOf = ['DNS_PORT', 'DNS_AXFR_ALLOW', 'LOG_LEVEL'] as const

/** The one that is set, or the file's in DATA_DIR. */
const secretOf = ({ DATA_DIR, PORTAL_SECRET }: Config): string | undefined =>
  readRootSecret(DATA_DIR, PORTAL_SECRET)

/** Why a portal with the new settings would not start on the data of this one. */
function refusedByData(
  now: Config,
  fresh: Config,
  /** The one that the database's is encrypted with; undefined where none was made yet. */
  secretNow: string | undefined,
): string | undefined {
  const isKnown = secretNow === undefined || secretOf(fresh) === secretNow
  if (!isKnown && fresh.PORTAL_SECRET_PREVIOUS !== secretNow)
    return 'PORTAL_SECRET changed and PORTAL_SECRET_PREVIOUS is not the one before'
  if (fresh.sandbox !== now.sandbox) return 'the sandbox is switched on or off by a whole restart'
  return undefined
}

const portalOf = (release: string): string =>
  release === releaseRoot ? programOf('api') : programOfRelease(release, 'api')

/** The environment at the start of this process, without `.env`, whose content may change later. */
const given = { ...process.env }

async function run(): Promise<void> {
  // Other users of this machine must not read customers' data. Child processes inherit the umask.
  process.umask(0o027)
  try {
    Object.assign(process.env, withEnvFile(given))
  } catch (error) {
    printFaults([(error as Error).message])
    process.exit(78)
  }
  let env: NodeJS.ProcessEnv = { ...process.env }
  const config = configOf(env)
  let current = config
  /** The secret of the settings with which a process of the portal got ready last. */
  let secret: string | undefined
  const log = createLog(config?.LOG_LEVEL ?? 'info')
  if (config) noteStart(log, 'parent')
  const machine = config && createMachine(config, log)
  let postgres: SupervisedPostgres | undefined
  let openedDatabaseUrl: Promise<string> | undefined
  let openedToOthers: Promise<void> | undefined
  let startedAt: number | undefined = Date.now()
  let portalPid: number | undefined
  /** The folder whose code the portal's processes run, and the one that is to follow it. */
  let release = releaseRoot
  let releaseTried: string | undefined
  const lines = new WeakMap<ChildProcess, MessageConnection>()

  /**
   * Called once, when a process of the portal has found all settings valid. Returns the database's
   * URL.
   */
  async function openAll(): Promise<string> {
    if (!config || !machine) throw new Error('the settings are not valid')
    const { DATABASE_URL, DATA_DIR, EMBEDDED_PG_USER } = config
    await refuseSecondPortal(DATA_DIR, portalPid)
    // Before the database, because it answers from its own disk.
    await machine.openNameServer()
    if (DATABASE_URL === undefined)
      postgres = await supervisePostgres(
        {
          folder: path.join(DATA_DIR, 'postgres'),
          runAsUser: EMBEDDED_PG_USER,
          log: printLine,
        },
        log,
      )
    await machine.openSites()
    return DATABASE_URL ?? postgres?.url ?? ''
  }

  const openPortal = (index: number): SupervisedChild =>
    superviseChild({
      name: 'the portal',
      file: () => portalOf(releaseTried ?? release),
      log,
      env: () => env,
      sharesPorts: true,
      retire: async (child) => void (await lines.get(child)?.sendRequest(drainRequest)),
      onStart(child, isReady) {
        if (index === 0) portalPid = child.pid
        const line = lineTo(child)
        lines.set(child, line)
        const began = startedAt ?? Date.now()
        line.onRequest(bootRequest, async (): Promise<Boot> => ({
          databaseUrl: await (openedDatabaseUrl ??= openAll()),
          began,
          notesPid: index === 0,
        }))
        line.onRequest(openToOthersRequest, async ({ key }: { key: string }) => {
          await (openedToOthers = machine?.openToOthers(key))
          return null
        })
        line.onNotification(portalIsReady, () => {
          startedAt = undefined
          secret = current && secretOf(current)
          isReady()
        })
        machine?.serve(line)
        line.listen()
      },
    })

  /** Settings that are not valid are a process's of the portal to report. */
  const isPortal = !config || config.ROLES.has('api') || config.ROLES.has('worker')
  /** The first one, by which commands find the portal, is replaced last. */
  const portals: SupervisedChild[] = []
  /** The others start after the first one, so that no two processes migrate an empty database. */
  async function openPortals(): Promise<void> {
    for (let index = 0; index < (config?.PORTAL_PROCESSES ?? 1); index++) {
      const portal = openPortal(index)
      portals.push(portal)
      await portal.ready
    }
  }

  /** Reads `.env` again in a new child process; customers' sites keep running. */
  function reload(): void {
    let fresh: NodeJS.ProcessEnv
    try {
      fresh = withEnvFile(given)
    } catch (error) {
      log.error({ err: error }, 'the settings stay as they are')
      return
    }
    const settings = readSettings(fresh)
    if ('faults' in settings) {
      log.error(
        { faults: settings.faults },
        'the new settings are not valid: they stay as they are',
      )
      return
    }
    const fixed = ownSettings.filter(
      (name) => config && !isDeepStrictEqual(config[name], settings.config[name]),
    )
    if (fixed.length > 0) {
      log.error({ changed: fixed }, 'these settings need a whole restart: they stay as they are')
      return
    }
    const unfit = config && refusedByData(config, settings.config, secret)
    if (unfit) {
      log.error(`${unfit}: the settings stay as they are`)
      return
    }
    env = fresh
    log.info('the settings are read anew')
    const { config: now } = settings
    const before = current
    current = now
    if (nameServerSettingsOf.some((name) => String(before?.[name]) !== String(now[name])))
      machine?.restartNameServer(now)
    void takeOver()
  }

  /**
   * Replaces the portal's processes, by those of another release if an operator's command noted
   * one.
   */
  async function takeOver(): Promise<void> {
    const noted = config && notedRelease(config.DATA_DIR)
    releaseTried = noted
    let replaced = true
    // One after the other; if one does not get ready, the others stay.
    for (const portal of portals.toReversed()) replaced &&= await portal.replace()
    releaseTried = undefined
    if (!config || noted === undefined) return
    if (replaced) release = noted
    log.info({ release, noted }, replaced ? 'another release took over' : 'the release stays')
    forgetRelease(config.DATA_DIR)
  }

  /** A machine without the portal: other machines' portals reach it over NODE_LISTEN. */
  async function openMachineAlone(): Promise<void> {
    if (!config || !machine) throw new Error('the settings are not valid')
    await refuseSecondPortal(config.DATA_DIR, process.pid)
    await machine.openNameServer()
    await machine.openSites()
    await machine.openToOthers(config.NODE_KEY ?? '')
    notePid(config.DATA_DIR, process.pid)
    for (const line of machine.lines()) printLine(`  ${line}`)
    printLine(`  Ready. Ctrl-C stops everything.`)
  }

  async function close(): Promise<void> {
    await Promise.all(portals.map((portal) => portal.stop(portalLimitMs)))
    await machine?.close()
    await postgres?.stop()
  }
  const shutdown = closeOnSignals(
    async (signal) => {
      if (signal) printLine('Stopping: finishing what is in flight …')
      await close()
      if (signal) printLine('Stopped.')
    },
    closeLimitMs,
    log,
    { reload },
  )

  try {
    if (isPortal) await openPortals()
    else await openMachineAlone()
    collectStartUpGarbage()
  } catch (error) {
    shutdown.disarm()
    // The child process has printed its own faults.
    const [openingFault] = (await Promise.allSettled([openedDatabaseUrl, openedToOthers])).flatMap(
      (opened) => (opened.status === 'rejected' ? [whyNotStarted(opened.reason)] : []),
    )
    if (openingFault !== undefined) printFaults([openingFault])
    else if (!isPortal) printFaults([whyNotStarted(error)])
    await close()
    process.exit(error instanceof StartFailure && openingFault === undefined ? error.exitCode : 1)
  }
}

// The start script has it compiled beforehand by importing it.
if (import.meta.main) await run()
