/** The files of one server for a session of SFTP: faults become SFTP's statuses. */
import path from 'node:path'
import { ruleText } from '../../../contract/server-sentences.ts'
import type { FileAnswer, FileEntry, FileFault, FileOrder, WordpressDriver } from '../driver.ts'
import { fileSentences } from '../files.ts'
import { SftpFault, status, type Status } from './protocol.ts'

const statuses: Readonly<Partial<Record<FileFault, Status>>> = {
  missing: status.noSuchFile,
  denied: status.permissionDenied,
  ours: status.permissionDenied,
  link: status.permissionDenied,
}
const sentenceOf = (fault: FileFault): string =>
  fault === 'missing' ? 'No such file' : ruleText(fileSentences[fault], 'en')

type Done<A> = A extends { fault: FileFault } ? never : A

export interface SiteFiles {
  act(order: FileOrder): Promise<Done<FileAnswer>>
  /** Throws SftpFault when there is nothing of that name. */
  entry(where: string): Promise<FileEntry>
  entries(where: string): Promise<readonly FileEntry[]>
  /** A piece from byte `offset` on, and the length of the whole file. */
  piece(where: string, offset: number): Promise<{ readonly bytes: number; readonly data: Buffer }>
}

/**
 * A client's path as the name of a file of the site: relative, without dots. The site's folder is
 * the root, and no path leads above it.
 */
export const relativePath = (asked: string): string =>
  path.posix.normalize(`/${asked}`).replace(/^\/+/, '').replace(/\/+$/, '')

/**
 * @param siteId the site of the files
 * @param mayAct throws SftpFault where the session may no longer act, or change anything
 */
export function siteFiles(
  driver: Pick<WordpressDriver, 'files'>,
  siteId: string,
  mayAct: (changes: boolean) => Promise<void>,
): SiteFiles {
  const reads: ReadonlySet<FileOrder['op']> = new Set(['list', 'stat', 'read'])
  async function act(order: FileOrder): Promise<Done<FileAnswer>> {
    await mayAct(!reads.has(order.op))
    const answer = await driver.files(siteId, order)
    if ('fault' in answer) {
      const fault = answer.fault as FileFault
      throw new SftpFault(statuses[fault] ?? status.failure, sentenceOf(fault))
    }
    return answer as Done<FileAnswer>
  }
  async function entries(order: FileOrder): Promise<readonly FileEntry[]> {
    const answer = await act(order)
    if (!('entries' in answer)) throw new SftpFault(status.failure, 'No answer')
    // Clients would take a partial list for the whole, and delete or copy by it.
    if (!answer.isWhole)
      throw new SftpFault(status.failure, 'This folder has more than 5,000 entries')
    return answer.entries
  }
  return {
    act,
    async entry(where) {
      const [entry] = await entries({ op: 'stat', path: where })
      if (!entry) throw new SftpFault(status.noSuchFile, sentenceOf('missing'))
      return entry
    },
    entries: (where) => entries({ op: 'list', path: where }),
    async piece(where, offset) {
      const answer = await act({ op: 'read', path: where, offset })
      if (!('data' in answer) || typeof answer.data !== 'string')
        throw new SftpFault(status.failure, 'No answer')
      return { bytes: answer.bytes as number, data: Buffer.from(answer.data, 'base64') }
    },
  }
}
