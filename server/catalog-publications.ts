/**
 * Publications of the catalogue that take effect later, and the letter about one that could not.
 */
import { definePublications, type Publications } from './catalog/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Database, Tx } from './platform/db.ts'
import type { Jobs } from './platform/jobs.ts'
import type { Log } from './platform/log.ts'
import { memberOf } from './staff/index.ts'

/** The staff member's language is unknown: the letter has both. */
const couldNot = (version: number, link: string) => ({
  subject: `The catalogue you published did not count · Danh mục bạn công bố không có hiệu lực`,
  text:
    `Somebody changed what is sold before your publication was due: version ${version} is in ` +
    'use. Yours would have taken that back, so it did not count. Look at it and publish it ' +
    `again: ${link}\n\n` +
    `Gói và giá đang bán đã thay đổi trước khi bản công bố của bạn đến hạn: phiên bản ${version} ` +
    'đang có hiệu lực. Bản của bạn sẽ ghi đè thay đổi đó nên không được áp dụng. Hãy xem lại và ' +
    `công bố lần nữa: ${link}`,
})

export function catalogPublications(parts: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'define'>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly portalUrl: string
  readonly onCount: () => void
}): Publications {
  return definePublications({
    ...parts,
    async tell(tx, staffId, version) {
      const { email, disabledAt } = await memberOf(tx, staffId)
      if (disabledAt !== null) return
      const { subject, text } = couldNot(version, `${parts.portalUrl}/operator/catalog`)
      await parts.mail(tx, email, subject, text)
    },
  })
}
