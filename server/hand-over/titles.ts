/** Titles of notifications about servers and domains that went to another customer. */
import type { Language } from '../../contract/errors.ts'
import type { Titles } from '../realtime/index.ts'

const kinds: Readonly<Record<string, Record<Language, string>>> = {
  server: { en: 'server', vi: 'máy chủ' },
  domain: { en: 'domain', vi: 'tên miền' },
}

const told = (payload: unknown, language: Language): string => {
  const { hand_over: of } = payload as { hand_over?: { kind?: string; name?: string } }
  return `${kinds[of?.kind ?? '']?.[language] ?? ''} ${of?.name ?? ''}`
}

export const titles = {
  'hand_over.given': (payload, language) =>
    language === 'vi'
      ? `Đã chuyển ${told(payload, language)} cho khách hàng khác`
      : `The ${told(payload, language)} now belongs to another customer`,
  'hand_over.taken': (payload, language) =>
    language === 'vi'
      ? `Bạn đã nhận ${told(payload, language)}`
      : `The ${told(payload, language)} is now yours`,
} satisfies Partial<Titles>
