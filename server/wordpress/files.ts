/**
 * A server's files, as its owner reads and changes them. The machine that runs the server carries
 * the acts out.
 */
import type { Language } from '../../contract/errors.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import * as api from '../../contract/wordpress-files.ts'
import { type Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { createDiskRoom } from './disk-room.ts'
import type { FileAnswer, FileFault, FileOrder, WordpressDriver } from './driver.ts'
import { ownSite, type SiteRow } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export interface FileRouteDeps {
  readonly db: Database
  readonly driver: Pick<WordpressDriver, 'files' | 'state'>
  /** Limits a customer's acts. */
  readonly acts: Limit
}

export const fileSentences: Readonly<Record<Exclude<FileFault, 'missing'>, RuleKey>> = {
  exists: 'file_exists',
  kind: 'file_kind',
  link: 'file_link',
  name: 'file_name',
  ours: 'file_ours',
  denied: 'file_denied',
  full: 'file_full',
  offset: 'file_offset',
}
function refusalOf(fault: FileFault, field: string, language: Language): Refusal {
  if (fault === 'missing') return new Refusal('not_found')
  return new Refusal('invalid_input', {
    fields: { [field]: ruleText(fileSentences[fault], language) },
  })
}

/**
 * States in which files can be read. The owner of a server suspended for its bill cannot change
 * them.
 */
const readable: ReadonlySet<string> = new Set(['running', 'suspended'])
/** Most uploads that are remembered; the next piece of a forgotten one states its length anew. */
const mostUploads = 1_000

export function fileRoutes(http: Http, { db, driver, acts }: FileRouteDeps): void {
  const takeRoom = createDiskRoom(driver)
  /** Total bytes of files that come in pieces, by server and upload; oldest first. */
  const begun = new Map<string, number>()
  function begin(upload: string, total: number): void {
    begun.delete(upload)
    begun.set(upload, total)
    for (const oldest of begun.keys()) {
      if (begun.size <= mostUploads) break
      begun.delete(oldest)
    }
  }

  async function own(customerId: string, id: string, changes: boolean): Promise<SiteRow> {
    const site = await ownSite(db, customerId, id)
    if (changes ? site.status !== 'running' : !readable.has(site.status))
      throw new Refusal('server_not_running')
    // A write during an update would be lost where the update is undone.
    if (changes && (await hasUpdateUnderWay(db, site.id))) throw new Refusal('update_in_progress')
    await acts.take(customerId)
    return site
  }
  async function act(
    site: SiteRow,
    order: FileOrder,
    language: Language,
    field = 'path',
  ): Promise<Exclude<FileAnswer, { fault: FileFault }>> {
    const answer = await driver.files(site.id, order)
    if ('fault' in answer) throw refusalOf(answer.fault as FileFault, field, language)
    return answer as Exclude<FileAnswer, { fault: FileFault }>
  }

  http.read(api.listFiles, async ({ customerId, params, query, language }) => {
    const site = await own(customerId, params.id, false)
    const path = query.path ?? ''
    const answer = await act(site, { op: 'list', path }, language)
    if (!('entries' in answer)) throw new Refusal('unavailable')
    const collator = new Intl.Collator(language, { numeric: true })
    return {
      path,
      isWhole: answer.isWhole,
      entries: answer.entries
        .toSorted(
          (a, b) =>
            Number(b.kind === 'folder') - Number(a.kind === 'folder') ||
            collator.compare(a.name, b.name),
        )
        .map(({ name, kind, bytes, at }) => ({
          name,
          kind,
          bytes,
          changedAt: new Date(at).toISOString(),
        })),
    }
  })
  http.read(api.readFile, async ({ customerId, params, query, language }) => {
    const site = await own(customerId, params.id, false)
    const order = { op: 'read', path: query.path, offset: query.offset ?? 0 } as const
    const answer = await act(site, order, language)
    if (!('data' in answer) || answer.data === undefined) throw new Refusal('unavailable')
    return { bytes: answer.bytes, data: answer.data }
  })
  http.act(api.writeFile, async ({ customerId, params, body, language }) => {
    const site = await own(customerId, params.id, true)
    const { path, upload, offset, data, total, replaces } = body
    const end = offset + Buffer.byteLength(data, 'base64')
    if (end > total) throw refusalOf('offset', 'offset', language)
    const known = `${site.id}/${upload}`
    if (offset > 0 && (begun.get(known) ?? total) !== total)
      throw refusalOf('offset', 'offset', language)
    // Checked at each piece: uploads that begin together would each find room for themselves alone.
    const disk = { siteId: site.id, diskMb: site.disk_mb }
    if (!(await takeRoom(disk, end - offset, offset === 0 ? total : undefined)))
      throw refusalOf('full', 'path', language)
    begin(known, total)
    const isLast = end === total
    const order = { op: 'write', path, upload, offset, data, isLast, replaces } as const
    await act(site, order, language)
    if (isLast) begun.delete(known)
    return { bytes: end, done: isLast }
  })
  http.act(api.makeFolder, async ({ customerId, params, body, language }) => {
    const site = await own(customerId, params.id, true)
    await act(site, { op: 'folder', path: body.path }, language)
    return null
  })
  http.act(api.moveFile, async ({ customerId, params, body, language }) => {
    const site = await own(customerId, params.id, true)
    await act(site, { op: 'move', path: body.path, to: body.to }, language, 'to')
    return null
  })
  http.act(api.removeFile, async ({ customerId, params, query, language }) => {
    const site = await own(customerId, params.id, true)
    await act(site, { op: 'remove', path: query.path }, language)
    return null
  })
}
