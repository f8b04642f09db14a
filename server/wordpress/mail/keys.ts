/** Keys that sign letters (DKIM, RFC 6376): one for each site and domain, made when needed. */
import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { SignKey } from '../../messages/index.ts'
import type { MailDeps } from './deps.ts'

const generate = promisify(generateKeyPair)
const modulusBits = 2048

export interface DomainKey {
  readonly domain: string
  readonly selector: string
  /** The public key as SubjectPublicKeyInfo, Base64. */
  readonly publicKey: string
}

type KeyDeps = Pick<MailDeps, 'db' | 'clock' | 'secrets' | 'addressing'>

const purposeOf = (selector: string, domain: string): string => `site-mail:${selector}.${domain}`

/**
 * The holder of a domain's key: the site itself. Names below the sites' domain share one key, so
 * that the provider has one record to publish.
 */
function holderOf(
  { addressing }: Pick<KeyDeps, 'addressing'>,
  siteId: string,
  domain: string,
): { siteId: string | null; domain: string } {
  return domain.endsWith(`.${addressing.host}`)
    ? { siteId: null, domain: addressing.host }
    : { siteId, domain }
}

/**
 * The row of a domain's key; null where no resolver could find the record, because the name is
 * known on this machine only.
 */
async function rowOf(deps: KeyDeps, siteId: string | null, domain: string) {
  const find = () =>
    deps.db
      .selectFrom('site_mail_key')
      .selectAll()
      .where('domain', '=', domain)
      .where('site_id', siteId === null ? 'is' : '=', siteId)
      .executeTakeFirst()
  const known = await find()
  if (known) return known
  const made = await generate('rsa', {
    modulusLength: modulusBits,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  const selector = `wp-${randomBytes(4).toString('hex')}`
  await deps.db
    .insertInto('site_mail_key')
    .values({
      site_id: siteId,
      domain,
      selector,
      key_sealed: deps.secrets.seal(purposeOf(selector, domain), made.privateKey),
      public_key: made.publicKey.toString('base64'),
      created_at: deps.clock.now(),
    })
    // Another process may make the key at the same moment.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await find()
  if (!row) throw new Error(`the key of ${domain} is gone again`)
  return row
}

/** The key for a domain's record; made when there is none yet. */
export async function keyOf(deps: KeyDeps, siteId: string, domain: string): Promise<DomainKey> {
  const holder = holderOf(deps, siteId, domain)
  const row = await rowOf(deps, holder.siteId, holder.domain)
  return { domain: row.domain, selector: row.selector, publicKey: row.public_key }
}

/**
 * The key that signs for a domain; undefined for a name that no resolver outside this machine
 * knows.
 */
export async function signingKeyOf(
  deps: KeyDeps,
  siteId: string,
  domain: string,
): Promise<SignKey | undefined> {
  const holder = holderOf(deps, siteId, domain)
  if (!holder.domain.includes('.')) return undefined
  const row = await rowOf(deps, holder.siteId, holder.domain)
  return {
    domain: row.domain,
    selector: row.selector,
    privateKey: deps.secrets.open(purposeOf(row.selector, row.domain), row.key_sealed),
  }
}

/** The text of the record at `<selector>._domainkey.<domain>`. */
export const keyRecord = ({ publicKey }: DomainKey): string => `v=DKIM1; k=rsa; p=${publicKey}`
