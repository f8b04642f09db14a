/** The keys that open a server's files by SFTP, which their owner adds and removes. */
import { ruleText } from '../../../contract/server-sentences.ts'
import * as api from '../../../contract/wordpress-sftp.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Language } from '../../../contract/errors.ts'
import { isUuid, type Database, type Tx } from '../../platform/db.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Http } from '../../platform/http.ts'
import type { Limit } from '../../platform/limits.ts'
import { lockSite, ownSite } from '../store.ts'
import { addKey, keysOf, presentKey, removeKey } from './keys.ts'
import { letterOfKey } from './letters.ts'
import { readPublicKey } from './public-key.ts'

export interface SftpRouteDeps {
  readonly db: Database
  readonly clock: Clock
  /**
   * How programs connect; null where there is no SFTP. Asked at each call, because the port may be
   * taken.
   */
  readonly address: () => { host: string; port: number; fingerprint: string } | null
  /** Limits a customer's new keys. */
  readonly newKeys: Limit
  readonly customer: (
    tx: Tx,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** Base of links in letters. */
  readonly portalUrl: string
}

export function sftpRoutes(http: Http, deps: SftpRouteDeps): void {
  const { db, clock, address, newKeys } = deps
  http.read(api.getSftp, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    const at = address()
    return {
      address: at && { ...at, user: site.name },
      keys: (await keysOf(db, site.id)).map(presentKey),
    }
  })
  http.write(api.addSshKey, async ({ tx, customerId, params, body, language, ip }) => {
    const site = await ownSite(tx, customerId, params.id)
    const refuse = (rule: Parameters<typeof ruleText>[0]) =>
      new Refusal('invalid_input', { fields: { key: ruleText(rule, language) } })
    const key = readPublicKey(body.key)
    if (typeof key === 'string') throw refuse(key)
    await newKeys.take(customerId)
    // The lock keeps two simultaneous requests from exceeding the limit together.
    await lockSite(tx, site.id)
    if ((await keysOf(tx, site.id)).length >= api.mostSshKeys) throw refuse('ssh_key_many')
    const row = await addKey(tx, { siteId: site.id, name: body.name, key, at: clock.now() })
    if (!row) throw refuse('ssh_key_known')
    const added = presentKey(row)
    const owner = await deps.customer(tx, customerId)
    const page = `${deps.portalUrl}/wordpress/${site.id}?tab=files`
    const { fingerprint, name } = added
    const told = { key: name, fingerprint, server: site.name, from: ip, page }
    const { subject, text } = letterOfKey(told, owner.language)
    await deps.mail(tx, owner.email, subject, text)
    return added
  })
  http.write(api.removeSshKey, async ({ tx, customerId, params }) => {
    const site = await ownSite(tx, customerId, params.id)
    const removed = isUuid(params.key) && (await removeKey(tx, site.id, params.key))
    if (!removed) throw new Refusal('not_found')
    return null
  })
}
