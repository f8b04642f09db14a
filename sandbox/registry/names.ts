/** The register: registered names, and their owners' settings. */
import { domainToASCII } from 'node:url'
import { getDomain, getPublicSuffix } from 'tldts'
import type { Database } from '../database.ts'

export const registryTable = `
  create table if not exists sandbox.registry_names (
    name text primary key,
    nameservers text[] not null,
    ds text[] not null,
    changed_at timestamptz not null default now()
  )`

export interface RegisteredName {
  /** A-labels, lower case, without a dot at the end. */
  readonly name: string
  readonly nameservers: readonly string[]
  /** Each `keytag algorithm digesttype digest`. */
  readonly ds: readonly string[]
}

const icannOnly = { allowPrivateDomains: false, extractHostname: false } as const
const hostName =
  /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/
const dsText = /^(\d{1,5}) (\d{1,3}) (\d{1,3}) ([0-9a-f]{2}(?:[0-9a-f]{2}){0,63})$/

const spell = (name: string): string => domainToASCII(name.trim().replace(/\.$/, '')).toLowerCase()

/**
 * The ending under which names are registered (com, com.vn). An unknown ending is the name's last
 * label, so that shop.test works too.
 */
export const endingOf = (name: string): string | undefined =>
  getPublicSuffix(name, icannOnly) ?? undefined
/** The registered name that `name` equals or lies below; undefined for an ending. */
export const registrableOf = (name: string): string | undefined =>
  getDomain(name, icannOnly) ?? undefined

/** The registration in its stored spelling, or an error. */
export function readRegistration(of: {
  readonly name: unknown
  readonly nameservers: unknown
  readonly ds?: unknown
}): RegisteredName | { readonly error: string } {
  const name = typeof of.name === 'string' ? spell(of.name) : ''
  if (!hostName.test(name) || registrableOf(name) !== name)
    return { error: 'name: a name directly below an ending such as com or com.vn' }
  const listed = (value: unknown): string[] | undefined =>
    Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
  const nameservers = listed(of.nameservers)?.map(spell)
  if (!nameservers || nameservers.length > 13 || !nameservers.every((one) => hostName.test(one))) {
    return { error: 'nameservers: a list of up to 13 host names' }
  }
  const ds = listed(of.ds ?? [])?.map((one) => one.trim().toLowerCase().replaceAll(/\s+/g, ' '))
  if (!ds || ds.length > 8 || !ds.every((one) => dsText.test(one)))
    return { error: 'ds: a list of "keytag algorithm digesttype digest"' }
  return { name, nameservers: [...new Set(nameservers)], ds }
}

export async function register(
  db: Database,
  { name, nameservers, ds }: RegisteredName,
): Promise<void> {
  await db.query(
    `insert into sandbox.registry_names (name, nameservers, ds) values ($1, $2, $3)
     on conflict (name) do update set nameservers = excluded.nameservers, ds = excluded.ds,
     changed_at = now()`,
    [name, nameservers, ds],
  )
}

/** False: the name was not registered. */
export async function drop(db: Database, name: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from sandbox.registry_names where name = $1', [
    spell(name),
  ])
  return rowCount === 1
}

export async function find(db: Database, name: string): Promise<RegisteredName | undefined> {
  const { rows } = await db.query<RegisteredName>(
    'select name, nameservers, ds from sandbox.registry_names where name = $1',
    [name],
  )
  return rows[0]
}

export async function latest(db: Database): Promise<readonly RegisteredName[]> {
  const { rows } = await db.query<RegisteredName>(
    `select name, nameservers, ds from sandbox.registry_names order by changed_at desc, name
      limit 200`,
  )
  return rows
}
