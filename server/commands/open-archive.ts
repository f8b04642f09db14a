import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { ensureWordpress } from '../../scripts/wordpress-files.mjs'
import type { Config } from '../config.ts'
import { connectRuntime } from '../drivers.ts'
import { createLog } from '../platform/log.ts'
import { lineThrough, publishHosts } from '../sites-line.ts'
import { openSites } from '../sites.ts'
import type { SiteSpec, WordpressDriver } from '../wordpress/index.ts'
import type { Output } from './output.ts'

const defaultPort = 8_090
const host = 'archive.localhost'
const megabyte = 1_048_576

/** Files and port of the command line; undefined: it is invalid. */
function readOptions(options: readonly string[]): { files: string[]; port: number } | undefined {
  const files: string[] = []
  let port = defaultPort
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!
    if (option === '--port') port = Number(options[++at])
    else if (option.startsWith('--')) return undefined
    else files.push(path.resolve(option))
  }
  const isSound = Number.isInteger(port) && port > 0 && port < 65_536 && files.length > 0
  return isSound ? { files, port } : undefined
}

/** Resolves when the user ends the command. */
const ended = (): Promise<unknown> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })

/** Imports the packages into a fresh site. Answers the reason if that fails. */
async function fill(
  driver: WordpressDriver,
  spec: SiteSpec,
  files: readonly string[],
): Promise<string | undefined> {
  const password = randomBytes(18).toString('base64url')
  await driver.install(spec, { user: 'archive', password, email: 'archive@localhost.invalid' })
  await driver.start(spec)
  const laidOut = await driver.layOutImport(spec, files)
  if ('problem' in laidOut) return `${laidOut.problem.code} ${laidOut.problem.detail}`.trim()
  for (;;) {
    const { phase, problem } = await driver.stepImport(spec, [])
    if (problem) return `${problem.code} ${problem.detail}`.trim()
    if (phase === 'done') break
  }
  await driver.switchImport(spec, randomUUID())
  await driver.start(spec)
  return undefined
}

/**
 * `open-archive <file>… [--port N]`: unpacks a site's backup, or any package that can be imported,
 * into a temporary folder and serves it on this machine's loopback until the command ends. It needs
 * neither portal nor database, and leaves nothing.
 */
export async function openArchiveCommand(
  config: Config,
  _databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  const wish = readOptions(options)
  if (!wish) {
    out.refuse('npm run portal -- open-archive <file> [more files] [--port N]')
    return 64
  }
  const missing = wish.files.find((file) => !existsSync(file))
  if (missing !== undefined) {
    out.refuse(`There is no file ${missing}.`)
    return 1
  }
  await ensureWordpress()
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-archive-'))
  const spec: SiteSpec = {
    id: randomUUID(),
    url: `http://${host}:${wish.port}`,
    hosts: [],
    title: 'Archive',
    language: 'en',
    cpu: 2,
    ramMb: 1_024,
    diskMb: 1_024 * 1_024,
    databaseDiskMb: 1_024 * 1_024,
    containers: 1,
    generation: 0,
  }
  const sites = openSites(
    {
      ...config,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      SITES_PORT: wish.port,
      SITES_DOMAIN: undefined,
      SITES_TLS_PORT: undefined,
      sitesScheme: 'http',
      portalBehindEdge: undefined,
      TRUST_PROXY: 'off',
    },
    createLog('silent'),
  )
  const { port1, port2 } = new MessageChannel()
  const ofSites = lineThrough(port1)
  sites.serve(ofSites)
  ofSites.listen()
  const line = lineThrough(port2)
  line.listen()
  const over = ended()
  try {
    await sites.listen()
    const driver = await connectRuntime(line)
    out.line('Unpacking…')
    const problem = await Promise.race([
      fill(driver, spec, wish.files),
      over.then(() => 'it was ended'),
    ])
    if (problem !== undefined) {
      out.refuse(`The archive could not be opened: ${problem}`)
      return 1
    }
    const entries = [{ host, site: spec.id, state: 'live' as const }]
    await line.sendRequest(publishHosts, { entries })
    const { diskUsedMb, databaseUsedMb } = await driver.state(spec.id)
    out.line(`The site answers at ${spec.url} (${diskUsedMb + databaseUsedMb} MB).`)
    out.line(`Signs you in, once, within a minute: ${await driver.adminLink(spec.id, '')}`)
    out.line('Ctrl-C ends it and removes what was unpacked.')
    out.fields({ url: spec.url, bytes: (diskUsedMb + databaseUsedMb) * megabyte })
    await over
    return 0
  } finally {
    port2.close()
    await sites.close()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 })
  }
}
