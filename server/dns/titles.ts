/** What the bell says of domains. */
import type { Language } from '../../contract/errors.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  domain?: { name?: string; status?: string }
}

const domainWords: Record<string, Record<Language, string>> = {
  active: { en: 'is active', vi: 'đã được kích hoạt' },
  moved: { en: 'points at other name servers now', vi: 'hiện đang trỏ tới máy chủ tên miền khác' },
  pending: { en: 'is no longer active', vi: 'không còn được kích hoạt' },
}

export const titles: Titles = {
  'dns.status'(payload, language) {
    const { domain } = payload as Known
    const vi = language === 'vi'
    return vi
      ? `Tên miền ${domain?.name ?? ''} ${domainWords[domain?.status ?? '']?.vi ?? ''}`
      : `Domain ${domain?.name ?? ''} ${domainWords[domain?.status ?? '']?.en ?? ''}`
  },
}
