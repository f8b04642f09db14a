/** Tells an owner, by notification and letter, that a name's certificate is not renewed. */
import type { Language } from '../../contract/errors.ts'
import { dayIn } from '../billing/index.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { siteById } from './store.ts'

export interface CertificateWarning {
  readonly siteId: string
  readonly name: string
  readonly until: Date
  readonly isOver: boolean
  /** What the authority or the look-up of the name answered. */
  readonly detail: string
}

export interface CertificateWarningDeps {
  readonly outbox: EventOutbox
  readonly portalUrl: string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{
    readonly email: string
    readonly language: Language
    /** The zone of days in letters. */
    readonly zone: string
  }>
}

const letters = {
  subject: {
    en: (name: string, day: string, isOver: boolean) =>
      isOver ? `${name}: the certificate has expired` : `${name}: HTTPS ends on ${day}`,
    vi: (name: string, day: string, isOver: boolean) =>
      isOver ? `${name}: chứng chỉ đã hết hạn` : `${name}: HTTPS sẽ hết hạn ngày ${day}`,
  },
  text: {
    en: (name: string, day: string, isOver: boolean, detail: string, link: string) =>
      `We could not renew the certificate of ${name}. ` +
      (isOver
        ? `It expired on ${day}, and browsers now warn your visitors. `
        : `It is valid until ${day}; after that, browsers warn your visitors. `) +
      `We keep trying. Most often the domain no longer points to your server. ` +
      `The last answer was: ${detail || 'none'}. What to do is shown here: ${link}`,
    vi: (name: string, day: string, isOver: boolean, detail: string, link: string) =>
      `Chúng tôi không gia hạn được chứng chỉ của ${name}. ` +
      (isOver
        ? `Chứng chỉ đã hết hạn ngày ${day} và trình duyệt đang cảnh báo khách của bạn. `
        : `Chứng chỉ còn hiệu lực đến ngày ${day}; sau đó trình duyệt sẽ cảnh báo khách. `) +
      `Chúng tôi vẫn đang thử lại. Nguyên nhân thường gặp là tên miền không còn trỏ về máy chủ. ` +
      `Phản hồi gần nhất: ${detail || 'không có'}. Xem cách xử lý tại: ${link}`,
  },
} as const

/** Does nothing for a server that no longer exists. */
export async function warnOfCertificate(
  tx: Tx,
  { outbox, portalUrl, mail, owner }: CertificateWarningDeps,
  { siteId, name, until, isOver, detail }: CertificateWarning,
): Promise<void> {
  const site = await siteById(tx, siteId)
  if (!site || site.deleted_at !== null) return
  const { email, language, zone } = await owner(tx, site.customer_id)
  const day = dayIn(zone, until)
  await outbox.publishEvent(tx, site.customer_id, 'wordpress.certificate', {
    wp: { id: site.id, name: site.name },
    certificate: { name, expiresAt: until.toISOString() },
  })
  const link = `${portalUrl}/wordpress/${site.id}?tab=domain`
  await mail(
    tx,
    email,
    letters.subject[language](name, day, isOver),
    letters.text[language](name, day, isOver, detail, link),
  )
}
