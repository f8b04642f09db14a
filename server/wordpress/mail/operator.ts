/** The operator's decisions about the mail of sites. */
import type { SuspensionCause } from '../../../contract/wordpress-mail.ts'
import { isUuid, type Tx } from '../../platform/db.ts'
import { Refusal, type Sentence } from '../../platform/errors.ts'
import type { MailDeps } from './deps.ts'
import { keyOf, keyRecord } from './keys.ts'
import { settingOf } from './store.ts'
import { resumeMail, suspendMail, type SuspensionDeps } from './suspension.ts'

/** The server that the operator named, with the former state of its mail. */
export interface MailDecision {
  readonly siteId: string
  readonly name: string
  readonly customerId: string
  /** Why its mail was suspended; null: it was not. */
  readonly was: SuspensionCause | null
}

const refusal = (code: 'not_found' | 'conflict', said: Sentence): Refusal =>
  new Refusal(code, { fields: { server: said } })

async function decisionOn(tx: Tx, server: string): Promise<MailDecision> {
  const site = await tx
    .selectFrom('site')
    .select(['id', 'name', 'customer_id'])
    .where('deleted_at', 'is', null)
    .where(isUuid(server) ? 'id' : 'name', '=', server)
    .executeTakeFirst()
  if (!site)
    throw refusal('not_found', {
      en: `There is no server ${server}.`,
      vi: `Không có máy chủ ${server}.`,
    })
  const was = (await settingOf(tx, site.id))?.suspended_for ?? null
  return {
    siteId: site.id,
    name: site.name,
    customerId: site.customer_id,
    was: was as SuspensionCause | null,
  }
}

/**
 * Suspends the mail of a server, named by id or name. Refuses with not_found, and with conflict
 * where it is suspended already.
 */
export async function suspendMailOf(
  tx: Tx,
  deps: SuspensionDeps,
  of: { readonly server: string; readonly cause: SuspensionCause; readonly note: string | null },
): Promise<MailDecision> {
  const decision = await decisionOn(tx, of.server)
  if (!(await suspendMail(tx, deps, { ...of, siteId: decision.siteId })))
    throw refusal('conflict', {
      en: `E-mail of ${of.server} was suspended already.`,
      vi: `Email của ${of.server} đã bị tạm ngưng từ trước.`,
    })
  return decision
}

/**
 * Resumes the mail of a server, named by id or name. Refuses with not_found, and with conflict
 * where it is not suspended.
 */
export async function resumeMailOf(
  tx: Tx,
  deps: SuspensionDeps,
  server: string,
): Promise<MailDecision> {
  const decision = await decisionOn(tx, server)
  if (!(await resumeMail(tx, deps, decision.siteId)))
    throw refusal('conflict', {
      en: `E-mail of ${server} is not suspended.`,
      vi: `Email của ${server} không bị tạm ngưng.`,
    })
  return decision
}

/**
 * The DNS record of the key that signs letters from names below the sites' domain; undefined where
 * that is no public domain.
 */
export async function ownMailKey(
  deps: Pick<MailDeps, 'db' | 'clock' | 'secrets' | 'addressing'>,
): Promise<{ readonly name: string; readonly value: string } | undefined> {
  const { host } = deps.addressing
  if (!host.includes('.')) return undefined
  const key = await keyOf(deps, '', `any.${host}`)
  return { name: `${key.selector}._domainkey.${key.domain}`, value: keyRecord(key) }
}
