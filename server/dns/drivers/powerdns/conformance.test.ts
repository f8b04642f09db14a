/**
 * The PowerDNS driver against its stand-in, or a real server. `PDNS_SERVER=/usr/sbin/pdns_server
 * npm test server/dns/drivers/powerdns` starts that program with its SQLite backend in a temporary
 * folder.
 */
import { openNameServer } from '../../../../sandbox/name-server.ts'
import { openPowerdns } from '../../../../sandbox/powerdns/index.ts'
import { askFor } from '../../../../test/dns-question.ts'
import { openHttp } from '../../../../test/http-server.ts'
import { openPowerdnsServer, type PowerdnsServer } from '../../../../test/powerdns-server.ts'
import { conformance } from '../conformance.ts'
import { createPowerdns } from './index.ts'
import { settings } from './settings.ts'

const apiKey = 'key'
const program = process.env['PDNS_SERVER']

async function openStandIn(): Promise<PowerdnsServer> {
  const standIn = openPowerdns({ apiKey })
  const log = (line: string): void => {
    throw new Error(line)
  }
  const http = await openHttp(standIn.routes)
  const names = await openNameServer({
    host: '127.0.0.1',
    port: 0,
    answer: (question) => standIn.answer(question),
    log,
  })
  return {
    url: http.url,
    dnsPort: names.port,
    pid: 0,
    close: async () => void (await Promise.all([http.close(), names.close()])),
  }
}

conformance(program === undefined ? 'powerdns (stand-in)' : 'powerdns (real)', async () => {
  const server = await (program === undefined ? openStandIn() : openPowerdnsServer(program, apiKey))
  const driver = createPowerdns(settings.parse({ url: server.url, apiKey }))
  return {
    driver,
    ask: askFor(server.dnsPort),
    settlesMs: 5000,
    ownNameServers: true,
    async dispose() {
      await driver.close()
      await server.close()
    },
  }
})
