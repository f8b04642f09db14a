/** A real PowerDNS in a folder of its own, if one is installed: PDNS_SERVER names the program. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './portal.ts'

export interface PowerdnsServer {
  readonly url: string
  readonly dnsPort: number
  /** 0: it is not running. */
  readonly pid: number
  close(): Promise<void>
}

/** Needs its SQLite backend; PDNS_SCHEMA names the schema if it is not where Debian has it. */
export async function openPowerdnsServer(program: string, apiKey: string): Promise<PowerdnsServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'powerdns-'))
  const [port, dnsPort] = await Promise.all([freePort(), freePort()])
  const schema =
    process.env['PDNS_SCHEMA'] ?? '/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql'
  const database = new DatabaseSync(path.join(folder, 'zones.db'))
  database.exec(readFileSync(schema, 'utf8'))
  database.close()
  writeFileSync(
    path.join(folder, 'pdns.conf'),
    [
      'launch=gsqlite3',
      `gsqlite3-database=${path.join(folder, 'zones.db')}`,
      'local-address=127.0.0.1',
      `local-port=${dnsPort}`,
      'api=yes',
      `api-key=${apiKey}`,
      'webserver=yes',
      'webserver-address=127.0.0.1',
      `webserver-port=${port}`,
      `socket-dir=${folder}`,
      // It would otherwise ask the internet whether it is up to date.
      'security-poll-suffix=',
      'guardian=no',
      'daemon=no',
    ].join('\n'),
  )
  const server = spawn(program, [`--config-dir=${folder}`], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  for (let tries = 0; tries < 100; tries++) {
    const isUp = await fetch(`${url}/api/v1/servers`, { headers: { 'x-api-key': apiKey } }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) break
    await pause(100)
  }
  return {
    url,
    dnsPort,
    pid: server.pid ?? 0,
    async close() {
      server.kill()
      await gone
      rmSync(folder, { recursive: true })
    },
  }
}
