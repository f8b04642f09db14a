/** Titles of notifications about servers. */
import type { StatusEvent } from '../../contract/wordpress-event.ts'
import type { Language } from '../../contract/errors.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  wp?: { name?: string; status?: StatusEvent['wp']['status'] } | null
  disk?: { which?: string; percent?: number }
  certificate?: { name?: string; expiresAt?: string }
  mail?: { what?: string }
  update?: { state?: string }
  domain?: { name?: string }
}

const statusLabels: Record<StatusEvent['wp']['status'], Record<Language, string>> = {
  pending_payment: { en: 'is waiting for payment', vi: 'đang chờ thanh toán' },
  provisioning: { en: 'is being set up', vi: 'đang được khởi tạo' },
  running: { en: 'is running', vi: 'đã sẵn sàng' },
  suspended: { en: 'is suspended', vi: 'đã bị tạm ngưng' },
  failed: { en: 'could not be set up', vi: 'không khởi tạo được' },
  deleting: { en: 'is being deleted', vi: 'đang được xoá' },
  deleted: { en: 'is deleted', vi: 'đã được xoá' },
}

const mailNews: Record<string, Record<Language, (name: string) => string>> = {
  limit: {
    en: (name) => `E-mails of ${name} wait for the hourly limit`,
    vi: (name) => `Email của ${name} đang chờ vì đã hết hạn mức giờ này`,
  },
  suspended: {
    en: (name) => `Sending e-mail from ${name} is suspended`,
    vi: (name) => `Máy chủ ${name} bị tạm ngưng gửi email`,
  },
  resumed: {
    en: (name) => `${name} may send e-mail again`,
    vi: (name) => `Máy chủ ${name} đã được gửi email trở lại`,
  },
}

export const titles = {
  'wordpress.status'(payload, language) {
    const { wp } = payload as Known
    const label = wp?.status === undefined ? '' : (statusLabels[wp.status]?.[language] ?? '')
    return `${language === 'vi' ? 'Máy chủ' : 'Server'} ${wp?.name ?? ''} ${label}`
  },
  'wordpress.disk'(payload, language) {
    const { wp, disk } = payload as Known
    const vi = language === 'vi'
    const database = disk?.which === 'database'
    const [name, percent] = [wp?.name ?? '', disk?.percent ?? 0]
    return vi
      ? `Ổ ${database ? 'MariaDB' : 'SSD'} của ${name} đã đầy ${percent} %`
      : `The ${database ? 'database' : 'SSD'} disk of ${name} is ${percent} % full`
  },
  'wordpress.certificate'(payload, language) {
    const { certificate } = payload as Known
    const [name, day] = [certificate?.name ?? '', certificate?.expiresAt?.slice(0, 10) ?? '']
    return language === 'vi'
      ? `Không gia hạn được chứng chỉ của ${name} (hết hạn ngày ${day})`
      : `The certificate of ${name} could not be renewed (it ends on ${day})`
  },
  'wordpress.mail'(payload, language) {
    const { wp, mail } = payload as Known
    return mailNews[mail?.what ?? '']?.[language](wp?.name ?? '') ?? ''
  },
  'wordpress.update'(payload, language) {
    const { wp, update } = payload as Known
    const name = wp?.name ?? ''
    if (update?.state === 'rolled_back')
      return language === 'vi'
        ? `Bản cập nhật của ${name} đã được hoàn tác`
        : `An update of ${name} was undone`
    return language === 'vi' ? `Cập nhật ${name} không thành công` : `An update of ${name} failed`
  },
  'wordpress.domain'(payload, language) {
    const { wp, domain } = payload as Known
    const [server, name] = [wp?.name ?? '', domain?.name ?? '']
    return language === 'vi'
      ? `${name} đã rời máy chủ ${server}: tài khoản khác đã chứng minh tên miền là của họ`
      : `${name} left your server ${server}: another account has proven it`
  },
} satisfies Partial<Titles>
