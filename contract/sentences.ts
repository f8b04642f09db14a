/**
 * Field messages: what is wrong with one field, in the customer's language. Server and screen use
 * the same function, so the screen gives the server's exact message before the call.
 */
import type { Language } from './errors.ts'

/**
 * Our own rules, named in `z.refine(..., { error: '<key>' })`. The first two are portal.md's own
 * sentences.
 */
const rules = {
  wordpress_password: {
    en:
      'The password must have at least 8 characters, with letters, digits and a special ' +
      'character !',
    vi: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
  },
  disk_minimum: {
    en: 'The disk must be at least 10GB!',
    vi: 'Dung lượng ổ cứng tối thiếu là 10GB!',
  },
  disk_maximum: {
    en: 'The disk can be at most 200000 MB.',
    vi: 'Dung lượng ổ đĩa tối đa là 200000 MB.',
  },
  wordpress_user: {
    en: 'Use 1 to 60 letters, digits, spaces or _ . - @',
    vi: 'Dùng 1 đến 60 chữ cái không dấu, chữ số, dấu cách hoặc _ . - @',
  },
  mail_sender_form: {
    en: 'Enter an address such as shop@example.vn.',
    vi: 'Nhập một địa chỉ, ví dụ shop@example.vn.',
  },
  server_name: {
    en: 'Use 3 to 42 lower-case letters, digits and single hyphens, beginning with a letter.',
    vi: 'Dùng 3 đến 42 chữ thường không dấu, chữ số và dấu gạch nối đơn, bắt đầu bằng chữ cái.',
  },
  email: { en: 'Enter a valid email address.', vi: 'Nhập một địa chỉ email hợp lệ.' },
  phone: {
    en: 'Enter a phone number with its country code, such as +84912345678.',
    vi: 'Nhập số điện thoại, ví dụ 0912345678 hoặc +84912345678.',
  },
  password_length: { en: 'Use 8 to 128 characters.', vi: 'Dùng 8 đến 128 ký tự.' },
  otp_form: { en: 'Enter the 6 digits of the code.', vi: 'Nhập 6 chữ số của mã.' },
  amount_positive: { en: 'Enter an amount above 0.', vi: 'Nhập số tiền lớn hơn 0.' },
  moment: {
    en: 'Use a date such as 2026-11-30, or a date and time such as 2026-11-30T08:00:00Z.',
    vi: 'Dùng ngày như 2026-11-30, hoặc ngày giờ như 2026-11-30T08:00:00Z.',
  },
} as const satisfies Record<string, Record<Language, string>>

export type RuleKey = keyof typeof rules

/** The part of a zod issue that a message is made from. */
export interface Issue {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly origin?: string
  readonly input?: unknown
  /** The sentence itself, for a rule that few screens use. */
  readonly params?: Readonly<Partial<Record<Language, string>>> | undefined
  readonly values?: readonly unknown[]
}

const isRule = (key: string | undefined): key is RuleKey => key !== undefined && key in rules

/** The sentence of one rule. */
export const ruleText = (key: RuleKey, language: Language): string => rules[key][language]

/** Whether its sentence says what is wrong without the name of the field beside it. */
export const hasOwnSentence = (issue: Issue): boolean =>
  issue.params !== undefined || isRule(issue.message)

/** One sentence for one issue; never the library's own English. */
export function fieldMessage(issue: Issue, language: Language): string {
  const said = issue.params?.[language]
  if (said) return said
  if (isRule(issue.message)) return rules[issue.message][language]
  const vi = language === 'vi'
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string') {
        if (issue.minimum === 1) return vi ? 'Vui lòng nhập trường này.' : 'Please fill this in.'
        return vi ? `Ít nhất ${issue.minimum} ký tự.` : `At least ${issue.minimum} characters.`
      }
      return vi ? `Ít nhất ${issue.minimum}.` : `At least ${issue.minimum}.`
    case 'too_big':
      if (issue.origin === 'string')
        return vi ? `Nhiều nhất ${issue.maximum} ký tự.` : `At most ${issue.maximum} characters.`
      return vi ? `Nhiều nhất ${issue.maximum}.` : `At most ${issue.maximum}.`
    case 'invalid_value':
      return vi
        ? `Chọn một trong: ${issue.values?.join(', ')}.`
        : `Choose one of: ${issue.values?.join(', ')}.`
    case 'unrecognized_keys':
      return vi ? 'Trường này không được chấp nhận.' : 'This field is not accepted.'
    case 'invalid_type':
      if (issue.input === undefined)
        return vi ? 'Vui lòng nhập trường này.' : 'Please fill this in.'
      return vi ? 'Giá trị không đúng kiểu.' : 'This has the wrong type.'
    default:
      return vi ? 'Giá trị không hợp lệ.' : 'This is not valid.'
  }
}
