/** A test portal whose support receives letters, which the mail server of example.vn may sign. */
import { generateKeyPairSync } from 'node:crypto'
import { openTestDns } from './dns-server.ts'
import { freePort, openTestPortal, type ManualClock, type TestPortal } from './portal.ts'

export const support = 'support@help.example.net'
const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
export { publicKey }
/** The signature of the mail server of example.vn, where test customers have their addresses. */
export const dkim = { domainName: 'example.vn', keySelector: 'key', privateKey }

export interface SupportMail {
  readonly portal: TestPortal
  /** The port that receives letters. */
  readonly port: number
  close(): Promise<void>
}

export async function openSupportMail(clock: ManualClock): Promise<SupportMail> {
  const dns = await openTestDns()
  dns.records.set('TXT key._domainkey.example.vn', [
    `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
  ])
  const port = await freePort()
  const portal = await openTestPortal({
    clock,
    env: {
      SUPPORT_MAIL: support,
      SUPPORT_MAIL_PORT: String(port),
      DNS_RESOLVERS: dns.address,
    },
  })
  return {
    portal,
    port,
    async close() {
      await portal.close()
      await dns.close()
    },
  }
}
