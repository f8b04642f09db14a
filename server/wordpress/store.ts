/** SQL of the WordPress module, and servers as the API shows them. */
import { sql, type Selectable } from 'kysely'
import { currency as currencySchema } from '../../contract/money.ts'
import { PhpSettings } from '../../contract/wordpress-php.ts'
import type { UpdatePolicy } from '../../contract/wordpress-updates.ts'
import type { Server, Status } from '../../contract/wordpress.ts'
import type { InvoiceLinks } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import type { DB } from '../platform/db-types.ts'
import { databaseError, isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { SiteSpec } from './driver.ts'

export type SiteRow = Selectable<DB['site']>

/** The addresses of sites: `<name>.<host>`, with the port that browsers need. */
export interface SiteAddressing {
  /** The scheme that sites write into their pages, and should be reached by. */
  readonly scheme: 'http' | 'https'
  /**
   * The scheme that works now: HTTP until the sites' domain has its certificate. Absent: `scheme`.
   */
  readonly shownScheme?: () => 'http' | 'https'
  /** `localhost`, or SITES_DOMAIN. */
  readonly host: string
  /** Empty, or `:8082`. */
  readonly portSuffix: string
}
/**
 * The addressing that the operator has configured. `isCovered`: whether the sites' domain has its
 * certificate.
 */
export const addressingOf = (
  config: {
    readonly sitesScheme: 'http' | 'https'
    readonly SITES_DOMAIN?: string | undefined
    readonly SITES_PORT: number
  },
  isCovered: () => boolean = () => true,
): SiteAddressing => ({
  scheme: config.sitesScheme,
  shownScheme: () => (isCovered() ? config.sitesScheme : 'http'),
  host: config.SITES_DOMAIN ?? 'localhost',
  portSuffix: config.SITES_DOMAIN === undefined ? `:${config.SITES_PORT}` : '',
})
export const domainOf = (addressing: SiteAddressing, name: string): string =>
  `${name}.${addressing.host}${addressing.portSuffix}`
export const urlOf = (addressing: SiteAddressing, name: string): string =>
  `${addressing.scheme}://${domainOf(addressing, name)}`
/** The address at which a browser finds the site now. */
export const shownUrlOf = (addressing: SiteAddressing, name: string): string =>
  `${addressing.shownScheme?.() ?? addressing.scheme}://${domainOf(addressing, name)}`

const urlAt = (addressing: SiteAddressing, host: string): string =>
  `${addressing.scheme}://${host}${addressing.portSuffix}`

/** The customer's own names for a server, oldest first. */
export const heldNames = async (db: Queryable, siteId: string): Promise<string[]> =>
  (
    await db
      .selectFrom('site_domain')
      .select('name')
      .where('site_id', '=', siteId)
      .where('released_at', 'is', null)
      .orderBy('id')
      .execute()
  ).map(({ name }) => name)

const formerNames = async (db: Queryable, siteId: string): Promise<string[]> =>
  (
    await db
      .selectFrom('host')
      .select('name')
      .where('site_id', '=', siteId)
      .where('kind', '=', 'former')
      .orderBy('name')
      .execute()
  ).map(({ name }) => name)

/**
 * Releases the server's names: the same customer may use them again at once, others by the rules of
 * domains.ts.
 */
export async function releaseNames(tx: Tx, siteId: string, now: Date): Promise<void> {
  await tx
    .updateTable('site_domain')
    .set({ released_at: now })
    .where('site_id', '=', siteId)
    .where('released_at', 'is', null)
    .execute()
}

/** Whether a write failed because another site has or had the name. */
export const nameIsTaken = (error: unknown): boolean =>
  databaseError(error)?.constraint === 'host_pkey'

/** Every host name that a server answers on, and the address that browsers find it at. */
export async function namesOf(
  db: Queryable,
  addressing: SiteAddressing,
  site: Pick<SiteRow, 'id' | 'name' | 'primary_host'>,
): Promise<{ url: string; others: string[] }> {
  const held = await heldNames(db, site.id)
  const own = `${site.name}.${addressing.host}`
  const primary = held.find((name) => name === site.primary_host)
  const former = (await formerNames(db, site.id)).map((name) => `${name}.${addressing.host}`)
  return {
    url: primary === undefined ? urlOf(addressing, site.name) : urlAt(addressing, primary),
    others: [...(primary === undefined ? held : [own, ...held]), ...former].filter(
      (name) => name !== primary,
    ),
  }
}

/** PHP settings until the owner changes them; the platform limits the time of pages to less. */
const usualPhp: PhpSettings = { uploadMb: 64, pageSeconds: 600, inputVars: 5_000, debug: false }
export const phpSettingsOf = ({
  php_settings: chosen,
}: Pick<SiteRow, 'php_settings'>): PhpSettings =>
  PhpSettings.parse({ ...usualPhp, ...(chosen as object) })

export async function specOf(
  db: Queryable,
  addressing: SiteAddressing,
  site: SiteRow,
): Promise<SiteSpec> {
  const { url, others } = await namesOf(db, addressing, site)
  return {
    id: site.id,
    url,
    hosts: others,
    title: site.name,
    language: site.language === 'vi' ? 'vi' : 'en',
    cpu: site.cpu,
    ramMb: site.ram_mb,
    diskMb: site.disk_mb,
    databaseDiskMb: site.mariadb_disk_mb,
    containers: site.containers,
    generation: site.generation,
    mail: site.mail_enabled && !site.mail_suspended,
    php: phpSettingsOf(site),
  }
}

/** Servers with what is shown of their subscription, invoice and names. */
export const joined = (db: Queryable) =>
  db
    .selectFrom('site as s')
    .leftJoin('subscription as u', 'u.id', 's.subscription_id')
    // The newest invoice for the server: the order's, or that of the last renewal.
    .leftJoin('invoice as i', (join) =>
      join
        .on('i.id', '=', sql<string>`coalesce(u.invoice_id, s.invoice_id)`)
        // An invoice of a former owner is not shown.
        .onRef('i.customer_id', '=', 's.customer_id'),
    )
    .where('s.deleted_at', 'is', null)
    .selectAll('s')
    .select([
      'i.id as shown_invoice_id',
      'i.number as invoice_number',
      'i.status as invoice_status',
      'i.total as invoice_total',
      'i.amount_paid as invoice_paid',
      'u.period_end as renews_at',
      'u.status as subscription_status',
      sql<
        { name: string; verified: boolean; pointed: boolean | null; checked_at: string }[]
      >`coalesce((
        select jsonb_agg(jsonb_build_object('name', d.name, 'verified', d.verified, 'pointed',
        d.pointed, 'checked_at', d.checked_at) order by d.id)
        from site_domain d where d.site_id = s.id and d.released_at is null), '[]')`.as('held'),
      sql<Date | null>`(select m.content_at from site_mirror m where m.site_id = s.id
        and m.state = 'following')`.as('mirrored_at'),
      'u.price as subscription_price',
      'u.cancel_at_period_end as ends',
    ])

export type Joined = Awaited<ReturnType<ReturnType<typeof joined>['executeTakeFirstOrThrow']>>

export function present(
  row: Joined,
  at: { addressing: SiteAddressing; links: InvoiceLinks; catalog: Catalog },
): Server {
  const invoiced =
    row.shown_invoice_id !== null && row.invoice_total !== null && row.invoice_paid !== null
  return {
    id: row.id,
    name: row.name,
    status: row.status as Status,
    reason: row.reason,
    held: row.held_at && { since: row.held_at.toISOString(), reason: row.held_told },
    restarting: row.status === 'running' && row.generation > row.settled_generation,
    mirroredAt: row.mirrored_at?.toISOString() ?? null,
    downSince: (row.status === 'running' && row.down_since?.toISOString()) || null,
    cpu: row.cpu,
    ram: row.ram_mb,
    disk: row.disk_mb,
    mariadb_disk_size: row.mariadb_disk_mb,
    replicate: row.containers,
    size: row.plan_id,
    domain: domainOf(at.addressing, row.name),
    url: shownUrlOf(at.addressing, row.name),
    domains: row.held.map(({ name }) => name),
    primaryDomain: row.held.find(({ name }) => name === row.primary_host)?.name ?? null,
    domainStates: row.held.map(({ name, verified, pointed, checked_at }) => ({
      name,
      verified,
      pointed,
      checkedAt: new Date(checked_at).toISOString(),
    })),
    planned:
      row.planned_plan_id === null || row.planned_containers === null
        ? null
        : {
            size: row.planned_plan_id,
            replicate: row.planned_containers,
            plan: at.catalog.plans.find(({ id }) => id === row.planned_plan_id)?.name ?? null,
          },
    configs: { region: { id: row.region_id, name: row.region_name } },
    price: Number(row.subscription_price ?? row.price),
    currency: currencySchema.parse(row.currency),
    createdAt: row.created_at.toISOString(),
    renewsAt:
      row.subscription_status === 'active' && row.ends !== true
        ? (row.renews_at?.toISOString() ?? null)
        : null,
    subscriptionId: row.subscription_id,
    invoice: invoiced
      ? {
          id: row.shown_invoice_id ?? '',
          number: row.invoice_number,
          status: row.invoice_status ?? '',
          amount_paid: Number(row.invoice_paid),
          amount_due:
            row.invoice_status === 'open'
              ? Number((row.invoice_total ?? 0n) - (row.invoice_paid ?? 0n))
              : 0,
          currency: currencySchema.parse(row.currency),
          hosted_invoice_url: at.links.hosted(row.shown_invoice_id ?? ''),
        }
      : null,
  }
}

/** Which of these ids are servers of the customer. */
export async function ownServers(
  db: Queryable,
  customerId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('site')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', 'in', ids)
    .execute()
  return rows.map(({ id }) => id)
}

/** The customer's server; undefined also for a server of another customer. */
const siteOf = (db: Queryable, customerId: string, id: string): Promise<Joined | undefined> =>
  joined(db).where('s.id', '=', id).where('s.customer_id', '=', customerId).executeTakeFirst()

/**
 * The customer's server by the id of an address. Refuses with not_found what is no id, and a server
 * of another customer.
 */
export async function ownSite(db: Queryable, customerId: string, id: string): Promise<Joined> {
  const site = isUuid(id) ? await siteOf(db, customerId, id) : undefined
  if (!site) throw new Refusal('not_found')
  return site
}

/**
 * Whether a server accepts names. A failed one never runs, a deleted one stays `deleting` for ever:
 * a name given to them would be lost to everybody.
 */
export const takesNames = ({ status }: { readonly status: string }): boolean =>
  status !== 'failed' && status !== 'deleting'

/**
 * The own host name of the customer's server; undefined for another customer's server. Refuses a
 * server that accepts no names.
 */
export async function hostOf(
  db: Queryable,
  addressing: SiteAddressing,
  customerId: string,
  id: string,
): Promise<string | undefined> {
  const site = isUuid(id) ? await siteOf(db, customerId, id) : undefined
  if (site && !takesNames(site)) throw new Refusal('server_not_running')
  return site && `${site.name}.${addressing.host}`
}

/** The customer's server and its own host name, whatever its state. */
export async function ownHostOf(
  db: Queryable,
  addressing: SiteAddressing,
  customerId: string,
  id: string,
): Promise<{ readonly siteId: string; readonly host: string } | undefined> {
  const site = isUuid(id) ? await siteOf(db, customerId, id) : undefined
  return site && { siteId: site.id, host: `${site.name}.${addressing.host}` }
}

export const siteById = (db: Queryable, id: string): Promise<SiteRow | undefined> =>
  db.selectFrom('site').selectAll().where('id', '=', id).executeTakeFirst()

/** The server's row, locked until the transaction ends. */
export const lockSite = (tx: Tx, id: string): Promise<SiteRow | undefined> =>
  tx.selectFrom('site').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/**
 * The customer's own server, locked until the transaction ends. Refuses with not_found a server
 * that was handed over since it was looked up.
 */
export async function lockOwnSite(tx: Tx, id: string, customerId: string): Promise<SiteRow> {
  const site = await lockSite(tx, id)
  if (site?.customer_id !== customerId) throw new Refusal('not_found')
  return site
}

/** Whether the server has run, so that its paid time counts as used. */
export const hasRun = ({ status }: Pick<SiteRow, 'status'>): boolean =>
  status === 'running' || status === 'suspended'

/** The node of a site without one: portals that knew only one node had this one. */
export const firstNode = 'main'

export interface HostRow {
  readonly id: string
  readonly status: string
  readonly host: string
  readonly node: string
  readonly via: string | null
  /** The host name to which visitors of the server's other names are redirected. */
  readonly primary: string | null
  /** False: the owner has switched the page cache off. */
  readonly page_cache: boolean
  /** User and hash of the password that visitors are asked for; null: none. */
  readonly visit_user: string | null
  readonly visit_hash: string | null
  /** Addresses and networks (CIDR) that may not visit it. */
  readonly denied_networks: string[]
}

/**
 * What an edge must know of every host name, or of those of the given sites: the server's own name
 * below `host`, its former ones, and those that customers brought. `via`: the edge of the server's
 * node.
 */
export async function hostRows(
  db: Queryable,
  host: string,
  sites: readonly string[] | null,
): Promise<HostRow[]> {
  const { rows } = await sql<HostRow>`
    select s.id, s.status, case h.kind when 'custom' then h.name else h.name || '.' || ${host}::text
    end as host, coalesce(s.node_id, ${firstNode}::text) as node, n.sites_address as via,
    d.name as primary, s.page_cache, s.visit_user, s.visit_hash, s.denied_networks
    from host h join site s on s.id = h.site_id
    left join site_domain d on d.site_id = s.id and d.name = s.primary_host
      and d.released_at is null and d.verified and d.pointed is not false
    left join node n on n.id = coalesce(s.node_id, ${firstNode}::text)
    where s.deleted_at is null
      ${sites === null ? sql`` : sql`and s.id = any(${[...sites]}::uuid[])`}
  `.execute(db)
  return rows
}

/** Which updates the site gets automatically. */
export async function setUpdatePolicy(tx: Tx, siteId: string, policy: UpdatePolicy): Promise<void> {
  await tx.updateTable('site').set({ update_policy: policy }).where('id', '=', siteId).execute()
}
