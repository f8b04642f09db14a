/** Tells owners about the mail of their sites, by notification and by letter. */
import type { Language } from '../../../contract/errors.ts'
import type { SuspensionCause } from '../../../contract/wordpress-mail.ts'
import { hours, later } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db.ts'
import type { SiteRow } from '../store.ts'
import type { MailDeps } from './deps.ts'

export type TellDeps = Pick<MailDeps, 'clock' | 'mail' | 'answerable' | 'portalUrl'> & {
  readonly outbox: Pick<MailDeps['outbox'], 'publishEvent'>
  readonly owner: (tx: Tx, customerId: string) => ReturnType<MailDeps['owner']>
}
type Site = Pick<SiteRow, 'id' | 'name' | 'customer_id'>
export type MailNews = 'limit' | 'suspended' | 'resumed'

/** Shortest time between two notices of the limit to an owner. */
const limitToldMs = hours(24)

const causes: Readonly<Record<SuspensionCause, Record<Language, string>>> = {
  bounces: {
    en:
      'Many of its last messages were refused for good, because their addresses do not exist or ' +
      'do not want them.',
    vi:
      'Nhiều thư gần đây bị từ chối hẳn, vì địa chỉ người nhận không tồn tại hoặc không muốn ' +
      'nhận thư.',
  },
  complaint: {
    en: 'Somebody who got its messages complained about them.',
    vi: 'Có người nhận đã khiếu nại về thư của máy chủ này.',
  },
  operator: {
    en: 'We suspended it.',
    vi: 'Chúng tôi đã tạm ngưng.',
  },
}

async function tell(
  tx: Tx,
  deps: TellDeps,
  site: Site,
  of: {
    what: MailNews
    letter: (language: Language, link: string) => { subject: string; text: string }
  },
): Promise<void> {
  const { email, language } = await deps.owner(tx, site.customer_id)
  await deps.outbox.publishEvent(tx, site.customer_id, 'wordpress.mail', {
    wp: { id: site.id, name: site.name },
    mail: { what: of.what },
  })
  const link = `${deps.portalUrl}/wordpress/${site.id}?tab=mail`
  const { subject, text } = of.letter(language, link)
  const about = { kind: 'server', id: site.id } as const
  // What is suspended is resumed by the staff alone.
  if (of.what === 'suspended')
    await deps.answerable(tx, { to: email, language, subject, text, about })
  else await deps.mail(tx, email, subject, text)
}

/** Tells the owner that letters wait because of the hourly limit, at most once a day. */
export async function tellOfLimit(
  tx: Tx,
  deps: TellDeps,
  of: { site: Site; setting: { limit_told_at: Date | null }; limit: number },
): Promise<void> {
  const { site, limit } = of
  const now = deps.clock.now()
  const told = of.setting.limit_told_at
  if (told !== null && later(told, limitToldMs) > now) return
  await tx
    .updateTable('site_mail_setting')
    .set({ limit_told_at: now })
    .where('site_id', '=', site.id)
    .execute()
  await tell(tx, deps, site, {
    what: 'limit',
    letter: (language, link) =>
      language === 'vi'
        ? {
            subject: `${site.name}: email đang chờ gửi vì đã hết hạn mức giờ này`,
            text:
              `Máy chủ WordPress ${site.name} đã gửi ${limit} email trong một giờ, là mức tối đa ` +
              'của gói. Các email còn lại đang chờ và sẽ tự động được gửi tiếp. Nếu bạn không ' +
              'gửi nhiều email như vậy, trang web có thể đã bị xâm nhập: hãy xem danh sách email ' +
              `đã gửi. Nếu cần gửi nhiều hơn, hãy chọn gói lớn hơn: ${link}`,
          }
        : {
            subject: `${site.name}: e-mails wait for the hourly limit`,
            text:
              `Your WordPress server ${site.name} has sent ${limit} e-mails within an hour, ` +
              'which is what its plan allows. The others wait and are sent by themselves. If you ' +
              'did not send that many, the site may have been broken into: look at the list of ' +
              `what it sent. A larger plan sends more: ${link}`,
          },
  })
}

export async function tellOfSuspension(
  tx: Tx,
  deps: TellDeps,
  of: { site: Site; cause: SuspensionCause; note: string | null },
): Promise<void> {
  const { site } = of
  await tell(tx, deps, site, {
    what: 'suspended',
    letter(language, link) {
      const why = causes[of.cause][language] + (of.note === null ? '' : ` ${of.note}`)
      return language === 'vi'
        ? {
            subject: `${site.name}: tạm ngưng gửi email`,
            text:
              `Máy chủ WordPress ${site.name} tạm thời không được gửi email. ${why} Trang web ` +
              'vẫn hoạt động bình thường. Hãy tìm biểu mẫu hoặc plugin gửi các email đó, sửa ' +
              `lại, rồi liên hệ với chúng tôi để được gửi tiếp. Xem các email đã gửi tại: ${link}`,
          }
        : {
            subject: `${site.name}: sending e-mail is suspended`,
            text:
              `Your WordPress server ${site.name} may not send e-mail for now. ${why} The site ` +
              'itself goes on running. Find the form or plugin that sends these messages, mend ' +
              `it, then write to us to have sending resumed. What it sent: ${link}`,
          }
    },
  })
}

export async function tellOfResumption(tx: Tx, deps: TellDeps, site: Site): Promise<void> {
  await tell(tx, deps, site, {
    what: 'resumed',
    letter: (language, link) =>
      language === 'vi'
        ? {
            subject: `${site.name}: đã được gửi email trở lại`,
            text:
              `Máy chủ WordPress ${site.name} đã được gửi email trở lại. Các email đang chờ sẽ ` +
              `được gửi ngay: ${link}`,
          }
        : {
            subject: `${site.name}: e-mail is sent again`,
            text:
              `Your WordPress server ${site.name} may send e-mail again. What waited is sent ` +
              `now: ${link}`,
          },
  })
}
