/** What the bell says of servers. */
import type { Language } from '../../contract/errors.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  wp?: { name?: string; status?: string } | null
  disk?: { which?: string; percent?: number }
}

const statusLabels: Record<string, Record<Language, string>> = {
  pending_payment: { en: 'is waiting for payment', vi: 'đang chờ thanh toán' },
  provisioning: { en: 'is being set up', vi: 'đang được khởi tạo' },
  running: { en: 'is running', vi: 'đã sẵn sàng' },
  suspended: { en: 'is suspended', vi: 'đã bị tạm ngưng' },
  failed: { en: 'could not be set up', vi: 'không khởi tạo được' },
  deleting: { en: 'is being deleted', vi: 'đang được xoá' },
  deleted: { en: 'is deleted', vi: 'đã được xoá' },
}

export const titles = {
  'wordpress.status'(payload, language) {
    const { wp } = payload as Known
    const vi = language === 'vi'
    return vi
      ? `Máy chủ ${wp?.name ?? ''} ${statusLabels[wp?.status ?? '']?.vi ?? ''}`
      : `Server ${wp?.name ?? ''} ${statusLabels[wp?.status ?? '']?.en ?? ''}`
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
} satisfies Partial<Titles>
