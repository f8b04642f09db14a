/** Titles of notifications about domains. */
import type { Language } from '../../contract/errors.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  domain?: { name?: string; status?: string }
}

const stateLabels: Record<string, Record<Language, string>> = {
  active: { en: 'is active', vi: 'đã được kích hoạt' },
  moved: { en: 'now uses other name servers', vi: 'hiện dùng nameserver khác' },
  pending: { en: 'is no longer active', vi: 'không còn được kích hoạt' },
}

export const titles = {
  'dns.status'(payload, language) {
    const { domain } = payload as Known
    const vi = language === 'vi'
    return vi
      ? `Tên miền ${domain?.name ?? ''} ${stateLabels[domain?.status ?? '']?.vi ?? ''}`
      : `Domain ${domain?.name ?? ''} ${stateLabels[domain?.status ?? '']?.en ?? ''}`
  },
} satisfies Partial<Titles>
