/** Tells an owner, by notification and letter, that another account has proven one of its names. */
import type { Language } from '../../contract/errors.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { siteById } from './store.ts'

/** What is needed to tell the owner of a lost name. */
export interface DisplacedDeps {
  readonly outbox: Pick<EventOutbox, 'publishEvent'>
  readonly portalUrl: string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
}

interface Told {
  readonly name: string
  readonly site: string
  readonly link: string
}

const letter = {
  subject: {
    en: ({ name }: Told) => `${name} now leads to another account’s server`,
    vi: ({ name }: Told) => `${name} đã chuyển sang máy chủ của tài khoản khác`,
  },
  text: {
    en: ({ name, site, link }: Told) =>
      `Another account has proven by a record in the DNS that ${name} is theirs. The name was ` +
      `therefore taken from your server ${site} and leads to theirs now. Your server, its ` +
      'content and its other names stay as they are.\n' +
      `If you gave ${name} away, there is nothing to do. If it is still yours, somebody else can ` +
      'change its DNS: change your password where its DNS is managed, remove every TXT record of ' +
      `_portal-challenge.${name} that is not yours, and add the name to your server again. The ` +
      `record that you need then is a new one, and is shown here: ${link}`,
    vi: ({ name, site, link }: Told) =>
      `Một tài khoản khác đã chứng minh bằng bản ghi DNS rằng ${name} là của họ. Vì vậy tên miền ` +
      `này đã được gỡ khỏi máy chủ ${site} của bạn và nay trỏ về máy chủ của họ. Máy chủ, nội ` +
      'dung và các tên miền khác của bạn vẫn giữ nguyên.\n' +
      `Nếu bạn đã chuyển nhượng ${name}, bạn không cần làm gì. Nếu tên miền vẫn là của bạn thì ` +
      'có người khác đang sửa được DNS của tên miền: hãy đổi mật khẩu ở nơi quản lý DNS, xoá mọi ' +
      `bản ghi TXT _portal-challenge.${name} không phải của bạn, rồi thêm lại tên miền vào máy ` +
      `chủ. Khi đó bạn cần một bản ghi mới, xem tại: ${link}`,
  },
} as const

/** Called in the transaction that takes the name from the server. */
export async function tellDisplaced(
  tx: Tx,
  { outbox, portalUrl, mail, owner }: DisplacedDeps,
  of: { readonly siteId: string; readonly name: string },
): Promise<void> {
  const site = await siteById(tx, of.siteId)
  if (!site || site.deleted_at !== null) return
  const { email, language } = await owner(tx, site.customer_id)
  await outbox.publishEvent(tx, site.customer_id, 'wordpress.domain', {
    wp: { id: site.id, name: site.name },
    domain: { name: of.name, state: 'displaced' },
  })
  const told = {
    name: of.name,
    site: site.name,
    link: `${portalUrl}/wordpress/${site.id}?tab=domain`,
  }
  await mail(tx, email, letter.subject[language](told), letter.text[language](told))
}
